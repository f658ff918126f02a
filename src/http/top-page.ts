/**
 * The list of top domains as bytes, made once for each list: whoever asks for its first rows gets the first of the bytes.
 * Made for each limit that somebody asked for, it took 1 ms of the event loop a call (2026-11-17).
 */

import { createHash } from 'node:crypto';
import type { TopDomain } from '../rank.ts';
import { shortTag } from './etag.ts';
import { topDomainJson } from './wire.ts';

const BEGIN = '{"domains":[';
/** A tag tells of so many rows more at the most than are shown: a digest of each row would cost more than the rows. */
const ROWS_PER_TAG = 100;

export class TopPage {
  readonly #bytes: Buffer;
  /** Where so many rows end. */
  readonly #ends = [BEGIN.length];
  /** Of so many hundreds of rows: of what they say, so that all servers and workers give the same. */
  readonly #tags: string[] = [];

  constructor(rows: readonly TopDomain[], explain: boolean) {
    let text = BEGIN;
    for (const [at, row] of rows.entries()) {
      text += at === 0 ? topDomainJson(row, explain) : `,${topDomainJson(row, explain)}`;
      this.#ends.push(text.length);
    }
    this.#bytes = Buffer.from(text, 'latin1');
    const digest = createHash('sha256');
    for (let at = 0, from = 0; ; at += ROWS_PER_TAG) {
      const end = this.#ends[Math.min(at, rows.length)]!;
      digest.update(this.#bytes.subarray(from, end));
      this.#tags.push(shortTag(digest.copy().digest('base64url')));
      from = end;
      if (at >= rows.length) break;
    }
  }

  etag(length: number): string {
    return `"${this.#tags[Math.ceil(length / ROWS_PER_TAG)]}-${length}"`;
  }

  /** The answer without its last letters: shared by all who get as many rows or more. */
  begin(length: number): Buffer {
    return this.#bytes.subarray(0, this.#ends[length]);
  }

  end(length: number): string {
    return `],"count":${length}}`;
  }
}
