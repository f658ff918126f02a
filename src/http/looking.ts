/** The thread that reads the kernel's tables of connections (kernel.ts). */

import { closeSync, openSync, readSync } from 'node:fs';
import { type MessagePort, parentPort } from 'node:worker_threads';

export interface Look {
  readonly tables: readonly string[];
  /** What is less is not told. */
  readonly least: number;
  /**
   * Told a part whenever it asks: bytes by the name of a connection, at last of none; undefined where a table cannot be read.
   */
  readonly answer: MessagePort;
}

/** More than comes at a time, on machines whose pages of memory are large, too. */
const CHUNK = Buffer.allocUnsafeSlow(64 * 1024);
const NOTHING_KEPT = ' 00000000:00000000 ';
/** How an IPv4 address looks on a socket of both kinds (RFC 4291 2.5.5.2). */
const MAPPED = '0000000000000000FFFF0000';

function readTables(tables: readonly string[]): Map<string, number> | undefined {
  const kept = new Map<string, number>();
  try {
    for (const table of tables) readTable(table, kept);
    return kept;
  } catch {
    return undefined;
  }
}

function readTable(path: string, kept: Map<string, number>): void {
  const file = openSync(path, 'r');
  try {
    let rest = '';
    for (let bytes = 1; bytes > 0; ) {
      bytes = readSync(file, CHUNK, 0, CHUNK.length, null);
      const lines = (rest + CHUNK.toString('latin1', 0, bytes)).split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (!line.includes(NOTHING_KEPT)) readLine(line, kept);
    }
  } finally {
    closeSync(file);
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

/** So many are told at a time. */
const PART = 1_024;

function* partsOf(kept: ReadonlyMap<string, number>, least: number): Generator<ReadonlyMap<string, number>> {
  let part = new Map<string, number>();
  for (const [name, bytes] of kept) {
    if (bytes < least) continue;
    part.set(name, bytes);
    if (part.size < PART) continue;
    yield part;
    part = new Map();
  }
  if (part.size > 0) yield part;
}

parentPort!.on('message', ({ tables, least, answer }: Look) => {
  const kept = readTables(tables);
  const parts = kept && partsOf(kept, least);
  answer.on('message', () => answer.postMessage(parts && (parts.next().value ?? new Map())));
});
