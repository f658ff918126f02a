/** What the system says about a server's process from outside: memory, descriptors, connections. */

import { readdirSync, readFileSync } from 'node:fs';

export function megabytes(pid: number): number {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!found) throw new Error(`process ${pid} has ended`);
  return Number(found[1]) / 1024;
}

export function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

const ESTABLISHED = '01';

/** Connections to a port that are open on the server's side, by the address that they come from. */
export function connectionsFrom(address: string, port: number): number {
  const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0');
  // The kernel shows addresses in the order of the machine, which is the little-endian one wherever Node runs.
  const remote = address
    .split('.')
    .reverse()
    .map(part => hex(Number(part), 2))
    .join('');
  const rows = readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1);
  return rows.filter(row => {
    const [, local, from, state] = row.trim().split(/\s+/);
    return local?.endsWith(`:${hex(port, 4)}`) && from?.startsWith(`${remote}:`) && state === ESTABLISHED;
  }).length;
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
