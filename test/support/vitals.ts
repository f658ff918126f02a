/** What the system says about a server's process from outside: memory, descriptors, connections. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

export function megabytes(pid: number): number {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!found) throw new Error(`process ${pid} has ended`);
  return Number(found[1]) / 1024;
}

/** All that are open, and how many of them are sockets. */
export function descriptors(pid: number): { all: number; sockets: number } {
  const folder = `/proc/${pid}/fd`;
  const names = readdirSync(folder).map(name => {
    try {
      return readlinkSync(join(folder, name));
    } catch {
      // Closed since the listing.
      return '';
    }
  });
  return { all: names.length, sockets: names.filter(name => name.startsWith('socket:')).length };
}

/**
 * How much longer everything took the main thread of a process since it began because others had the processors: 1 where
 * it never waited for one, 10 where nine others wanted each. (Time run and time waited, in nanoseconds: Linux,
 * Documentation/scheduler/sched-stats.)
 */
export function stretch(pid: number): number {
  const { run, waited } = schedule(pid);
  return run > 0 ? (run + waited) / run : 1;
}

/** Others had the processors for at least as long as it had one: only then may its store be late. */
export function isStarved(pid: number): boolean {
  return stretch(pid) > 2;
}

/** Seconds that the main thread of a process has had a processor. */
export function runSeconds(pid: number): number {
  return schedule(pid).run / 1e9;
}

/** Seconds that it wanted one and others had it. */
export function waitedSeconds(pid: number): number {
  return schedule(pid).waited / 1e9;
}

function schedule(pid: number): { run: number; waited: number } {
  const [run, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
  return { run: run!, waited: waited! };
}

const ESTABLISHED = '01';
/** Ended by the server and not by its peer, who has not read all, or has and does not go. */
const ENDED = ['04', '05'];

/** The states of an address's connections to a port, as the kernel shows the server's side of them. */
function statesOf(address: string, port: number): string[] {
  const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0');
  // The kernel shows addresses in the order of the machine, which is the little-endian one wherever Node runs.
  const parts = address.split('.').reverse();
  const caller = `${parts.map(part => hex(Number(part), 2)).join('')}:`;
  const rows = readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1, -1);
  return rows.flatMap(row => {
    const [, local, remote, state] = row.trim().split(/\s+/) as [string, string, string, string];
    return remote.startsWith(caller) && local.endsWith(`:${hex(port, 4)}`) ? [state] : [];
  });
}

/**
 * Connections to a port that are open on the server's side, by the address that they come from; with `kept` also those
 * that were ended on its side.
 */
export function connectionsFrom(address: string, port: number, which: 'open' | 'kept' = 'open'): number {
  const isWanted = (state: string) => state === ESTABLISHED || (which === 'kept' && ENDED.includes(state));
  return statesOf(address, port).filter(isWanted).length;
}

export interface Peak {
  /** The most so far above what it was at the start, in MiB. */
  growth(): number;
  stop(): void;
}

export function watchMemory(pid: number, onLook: (growth: number) => void = () => {}): Peak {
  const before = megabytes(pid);
  let most = before;
  const look = () => {
    const now = megabytes(pid);
    most = Math.max(most, now);
    onLook(now - before);
  };
  const timer = setInterval(() => {
    try {
      look();
    } catch {
      // It has ended: whoever waits for it says so.
      clearInterval(timer);
    }
  }, 50);
  return { growth: () => most - before, stop: () => clearInterval(timer) };
}

/** Whether some socket still has this UDP port: other tests of this process have sockets too. */
export function isBound(port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  const rows = ['/proc/net/udp', '/proc/net/udp6'].flatMap(file => readFileSync(file, 'latin1').split('\n'));
  return rows.some(row => row.slice(0, row.indexOf(':', row.indexOf(':') + 1) + 6).includes(local));
}
