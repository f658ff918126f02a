/** Lists as strangers write them, read so that none takes more memory than a list needs: 32 kB on the wire may be 32 MiB. */

import { getHeapStatistics } from 'node:v8';
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
const COLON = 0x3a;
const BRACKET = 0x5b;
const BRACE = 0x7b;

/** Of one name as a string, with its place in the list. */
const VALUE_BYTES = 40;
const PLACE_BYTES = 8;
/** Of one member of an object, where these are so many that V8 keeps them in a table, which it doubles. */
const MEMBER_BYTES = 72;
/** Half of what Node still gives a thread that it ends for lack of memory. */
const BEYOND_BYTES = 8 * 2 ** 20;

/**
 * All places of a list, and all members of an object, are one piece of memory. Where that is beyond what its thread has,
 * V8 ends the program and not the thread: 7,784 bytes on the wire did (2026-11-17). What cannot fit is not begun.
 */
function checkRoom(values: number, members: number): void {
  const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
  const piece = Math.max(values * PLACE_BYTES, members * MEMBER_BYTES);
  if (values * VALUE_BYTES + members * MEMBER_BYTES > limit || piece > limit - used + BEYOND_BYTES)
    throw new FeedError(`reading ${values} values takes more memory than there is`);
}

/** Counted before it is parsed; what stands inside strings is counted too, and is little. */
export function parseJson(text: string): unknown {
  let values = 0;
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === COMMA || sign === BRACKET || sign === BRACE) values++;
    else if (sign === COLON) members++;
  }
  if (values > MOST_VALUES) throw new FeedError(`more than ${MOST_VALUES} values`);
  checkRoom(values, members);
  return JSON.parse(text);
}
