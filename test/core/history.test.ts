import { expect, test } from 'vitest';
import type { SnapshotHead } from '../../src/core/feed.ts';
import { historyOf, isHeld, redated, versionAfter, versionBefore } from '../../src/core/history.ts';

const head = (acceptedAt: number, feed = 'a'): SnapshotHead => ({
  ...{ feed, version: `${acceptedAt}`, digest: `${acceptedAt}`, names: 1, acceptedAt },
});

test.each<[string, number | undefined, number[], number | null | undefined, number | undefined]>([
  ['nothing is stored: no way at all', undefined, [], undefined, undefined],
  ['one version: back to what is installed', 5, [], null, undefined],
  ['the newest of three: back by one', 5, [3, 4], 4, undefined],
  ['the one in the middle: both ways, by one', 4, [5, 3], 3, 5],
  ['the oldest: back to what is installed', 3, [5, 4], null, 4],
  ['as installed: forth to the oldest', undefined, [5, 3, 4], undefined, 3],
])('%s', (_, inUse, past, before, after) => {
  const all = inUse === undefined ? [head(9, 'b')] : [head(9, 'b'), head(inUse)];
  const history = historyOf('a', all, [head(1, 'b'), ...past.map(at => head(at)), head(99, 'b')]);
  const back = versionBefore(history);
  expect(back ? back.acceptedAt : back).toBe(before);
  expect(versionAfter(history)?.acceptedAt).toBe(after);
  expect(isHeld(history)).toBe(after !== undefined);
});

test.each<[string, number[], number, [number, number][]]>([
  ['none where all are older', [3, 4], 5, []],
  [
    'those that are not, in their order',
    [3, 9, 10],
    7,
    [
      [9, 5],
      [10, 6],
    ],
  ],
  [
    'those that would be of one moment with them',
    [5, 6, 10],
    7,
    [
      [5, 4],
      [6, 5],
      [10, 6],
    ],
  ],
  ['one of the same moment', [7], 7, [[7, 6]]],
])('past versions get another moment: %s', (_, past, now, moved) => {
  const all = redated(
    past.map(at => head(at)),
    now,
  );
  expect(all.map(({ from, to }) => [from, to])).toEqual(moved);
});
