/** Lists as strangers write them, read so that none takes more memory than a list needs: 32 kB on the wire may be 32 MiB. */

import { FeedError } from '../core/feed.ts';

/** Half more than a list may hold names (core/gate.ts): the others come twice, or are none. */
const MOST_LINES = 1_500_000;
/** Of JSON: an entry may have members. 11 million empty ones took 600 MB (2026-11-17). */
const MOST_VALUES = 4_000_000;

/** One at a time: all at once, 32 MiB of empty ones would take some 300. */
export function* eachLine(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    yield text.slice(from, end === -1 ? undefined : end);
    if (end === -1) return;
    from = end + 1;
  }
}

/** What `keep` makes of each line, but for those of which it makes nothing. */
export function linesOf(text: string, keep: (line: string) => string): string[] {
  const kept: string[] = [];
  for (const line of eachLine(text)) {
    const name = keep(line.trim());
    if (name !== '') take(kept, name);
  }
  return kept;
}

export function take(names: string[], name: string): void {
  if (names.push(name) > MOST_LINES) throw new FeedError(`more than ${MOST_LINES} lines`);
}

/** Of one row, and of the letters of one cell: no table is so wide. 32 MiB of commas took 20 s and 1 GB (2026-11-17). */
export const MOST_CELLS = 1_000;
export const MOST_LETTERS = 100_000;

const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

/** Counted before it is parsed; what stands inside strings is counted too, and is little. */
export function parseJson(text: string): unknown {
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === COMMA || sign === BRACKET || sign === BRACE) values++;
  }
  if (values > MOST_VALUES) throw new FeedError(`more than ${MOST_VALUES} values`);
  return JSON.parse(text);
}
