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
const CHUNK = 64 * 1024;
const NOTHING_KEPT = ' 00000000:00000000 ';
/** How an IPv4 address looks on a socket of both kinds (RFC 4291 2.5.5.2). */
const MAPPED = '0000000000000000FFFF0000';

/** The ends of a connection as Node gives them. */
export interface Ends {
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** Bytes by connection; none for those of which nothing is kept. */
export type Kept = ReadonlyMap<string, number>;

/** Undefined where the system does not tell. */
export async function keptByKernel(tables: readonly string[] = TABLES): Promise<Kept | undefined> {
  const kept = new Map<string, number>();
  try {
    for (const table of tables) await readTable(table, kept);
    return kept;
  } catch {
    return undefined;
  }
}

/** In pieces of some lines, between which others are answered. */
async function readTable(path: string, kept: Map<string, number>): Promise<void> {
  const file = await open(path);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    let rest = '';
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK, null);
      if (bytesRead === 0) return;
      const lines = (rest + chunk.toString('latin1', 0, bytesRead)).split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (!line.includes(NOTHING_KEPT)) readLine(line, kept);
    }
  } finally {
    await file.close();
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
export function keptOf(kept: Kept, { localPort = 0, remoteAddress = '', remotePort = 0 }: Ends): number {
  const address = plainAddress(remoteAddress);
  const bytes =
    isIP(address) === 4
      ? address.split('.').map(part => hex(Number(part), 2))
      : groupsOf(address).flatMap(group => group.padStart(4, '0').toUpperCase().match(/../g)!);
  const words = bytes.map((_, at) => bytes[at - (at % 4) + 3 - (at % 4)]);
  return kept.get(`${hex(localPort, 4)} ${words.join('')}:${hex(remotePort, 4)}`) ?? 0;
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
