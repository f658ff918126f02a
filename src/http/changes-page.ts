/** A page of changes as bytes: those of each portion are made once, and every page is made of parts of them. */

import { setImmediate as turn } from 'node:timers/promises';
import type { ChangesPage, Portion } from '../changes.ts';
import type { ChangesCursor, Since } from '../core/listing-change.ts';
import { toSecond } from '../core/quota.ts';
import { contentTag } from './etag.ts';
import { changeJson } from './wire.ts';

const textOf = ({ id, at }: ChangesCursor) => `c${id}.${at}`;

/** What callers send again. */
export function readCursor(text: string): Since | undefined {
  const [, id, at] = /^c(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text) ?? [];
  return id === undefined ? undefined : { id: Number(id), at: at === undefined ? undefined : Number(at) };
}

const BEGIN = Buffer.from('{"changes":[');

class PortionBytes {
  readonly #bytes: Buffer;
  /** Where the rows before this one end. Each begins with a comma. */
  readonly #ends = [0];
  readonly tag: string;

  constructor({ rows }: Portion) {
    let [all, end] = ['', 0];
    // What one update changed has one moment. Written for each row, and each row as bytes, it took 2.6 ms (2026-11-17).
    const moments = new Map<number, string>();
    for (const row of rows) {
      const at = moments.get(row.at) ?? toSecond(row.at);
      moments.set(row.at, at);
      const text = `,${changeJson(row, at)}`;
      all += text;
      end += Buffer.byteLength(text);
      this.#ends.push(end);
    }
    this.#bytes = Buffer.from(all);
    this.tag = contentTag(this.#bytes);
  }

  part(from: number, to: number): Buffer {
    return this.#bytes.subarray(this.#ends[from], this.#ends[to]);
  }
}

/** For as long as the portions are kept. */
const made = new WeakMap<Portion, PortionBytes>();

function bytesOf(portion: Portion): PortionBytes {
  const bytes = made.get(portion) ?? new PortionBytes(portion);
  made.set(portion, bytes);
  return bytes;
}

/** Of one portion in a turn: of four it would take 3 ms (2026-11-17). */
export async function prepare({ pieces }: ChangesPage): Promise<void> {
  for (const { portion } of pieces) {
    if (made.has(portion)) continue;
    bytesOf(portion);
    await turn();
  }
}

export function changesEtag({ pieces, cursor, more }: ChangesPage): string {
  const parts = pieces.map(({ portion, from, to }) => `${bytesOf(portion).tag}.${from}.${to}`);
  return `"${contentTag(`${parts.join()} ${textOf(cursor)} ${more}`)}"`;
}

export function changesBytes({ pieces, cursor, more }: ChangesPage): Buffer {
  const parts = pieces.map(({ portion, from, to }) => bytesOf(portion).part(from, to));
  const first = parts.findIndex(part => part.length > 0);
  if (first >= 0) parts[first] = parts[first]!.subarray(1);
  return Buffer.concat([BEGIN, ...parts, Buffer.from(`],"cursor":"${textOf(cursor)}","more":${more}}`)]);
}
