/**
 * What the kernel keeps of answers that were sent: of the peer's end too, where that is on the same machine. Nothing else
 * tells whether a peer reads: it takes megabytes for one that does not, and a request behind an answer proves nothing.
 */

import { open } from 'node:fs/promises';
import { isIP } from 'node:net';
import { groupsOf } from '../core/address.ts';
import { plainAddress } from '../core/origin.ts';

/** proc(5): one line for each socket of this network namespace. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** Whole lines come at a time, a page of memory of them (4 KiB, on some machines 64) however much is asked for. */
const CHUNK = 64 * 1024;
/**
 * So many pieces are asked for at once, in whatever order they come. One in each turn of the event loop took 310 turns with
 * 4,000 connections, which are seconds where turns are long (2026-11-18).
 */
const AT_ONCE = 32;
const NOTHING_KEPT = ' 00000000:00000000 ';
/** How an IPv4 address looks on a socket of both kinds (RFC 4291 2.5.5.2). */
const MAPPED = '0000000000000000FFFF0000';

/** The ends of a connection as Node gives them. */
export interface Ends {
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  /** Bytes that wait to be taken by the kernel. */
  readonly writableLength?: number;
}

/** Bytes by the name of a connection (nameOf); none for those of which nothing is kept. */
export type Kept = ReadonlyMap<string, number>;

/** Undefined where the system does not tell. */
export async function keptByKernel(tables: readonly string[] = TABLES): Promise<Kept | undefined> {
  const kept = new Map<string, number>();
  try {
    // Each wait is a turn of the event loop, in which megabytes may be sent.
    await Promise.all(tables.map(table => readTable(table, kept)));
    return kept;
  } catch {
    return undefined;
  }
}

/** In pieces of some lines, between which others are answered. */
async function readTable(path: string, kept: Map<string, number>): Promise<void> {
  const file = await open(path);
  try {
    const chunks = Array.from({ length: AT_ONCE }, () => Buffer.allocUnsafeSlow(CHUNK));
    for (let isOver = false; !isOver; ) {
      // All of them: what is still under way when the file is closed would read from whatever has its number next.
      const pieces = await Promise.allSettled(chunks.map(chunk => file.read(chunk, 0, CHUNK, null)));
      for (const piece of pieces) {
        if (piece.status === 'rejected') throw piece.reason;
        const { buffer, bytesRead } = piece.value;
        isOver ||= bytesRead === 0;
        for (const line of buffer.toString('latin1', 0, bytesRead).split('\n'))
          if (!line.includes(NOTHING_KEPT)) readLine(line, kept);
      }
    }
  } finally {
    // Nobody waits for that, nor can do anything where it fails.
    void file.close().catch(() => {});
  }
}

/** What this end has sent and the other has not, and what this end has received and nobody has read. */
function readLine(line: string, kept: Map<string, number>): void {
  const [, local = '', remote = '', , queues = ''] = line.trim().split(/ +/);
  const [sent, received] = queues.split(':').map(text => Number.parseInt(text, 16));
  const add = (from: string, to: string, bytes = 0) => {
    const name = `${from.slice(from.indexOf(':') + 1)} ${to.replace(MAPPED, '')}`;
    if (bytes > 0) kept.set(name, (kept.get(name) ?? 0) + bytes);
  };
  add(local, remote, sent);
  add(remote, local, received);
}

/** As in that table: four bytes at a time, the last one first, on all machines that count so (elsewhere nothing is found). */
export function nameOf({ localPort = 0, remoteAddress = '', remotePort = 0 }: Ends): string {
  const address = plainAddress(remoteAddress);
  const bytes =
    isIP(address) === 4
      ? address.split('.').map(part => hex(Number(part), 2))
      : groupsOf(address).flatMap(group => group.padStart(4, '0').toUpperCase().match(/../g)!);
  const words = bytes.map((_, at) => bytes[at - (at % 4) + 3 - (at % 4)]);
  return `${hex(localPort, 4)} ${words.join('')}:${hex(remotePort, 4)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
