/** A long list as one answer, put together between other answers. */

import type { Steps } from '../core/steps.ts';

/** Each row of the list has a comma before it. */
export function* joining(begin: string, rows: readonly Buffer[], end: string): Steps<Buffer> {
  const [first = Buffer.from(','), ...rest] = rows;
  const parts = [Buffer.from(begin), first.subarray(1), ...rest, Buffer.from(end)];
  const all = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    at += part.copy(all, at);
    yield;
  }
  return all;
}
