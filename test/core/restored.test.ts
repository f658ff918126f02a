import { expect, test } from 'vitest';
import type { FeedCheck } from '../../src/core/freshness.ts';
import { checksAgain, listsAgain } from '../../src/core/restored.ts';

const version = (acceptedAt: number) => ({ feed: 'a', version: '', digest: '', names: 1, acceptedAt });

test.each([
  ['comes where there is none', [], 1],
  ['comes where all versions here are older', [1, 2], 1],
  ['stays away where it is in use', [3], 0],
  ['stays away where an operator went back from it', [2, 3], 0],
])('a list of a backup %s', (_, present, count) => {
  expect(listsAgain(present.map(version), [version(3)])).toHaveLength(count);
});

const check = (facts: Partial<FeedCheck>): FeedCheck => ({
  ...{ feed: 'a', triedAt: 1, checkedAt: null, added: 0, removed: 0, problem: 'refused', waiting: null },
  ...{ decided: null, isApproved: null, tag: null, fallback: null, ...facts },
});
const REJECTED = check({ decided: ['gmail.com'], isApproved: false });

test.each([
  ['comes where the list was never looked at', [], [REJECTED]],
  [
    'comes where the same waits here',
    [check({ triedAt: 2, waiting: ['gmail.com'] })],
    [{ ...REJECTED, triedAt: 2 }],
  ],
  ['is settled where a check went well since', [check({ problem: null })], []],
  ['stays as it is where it was made here', [check({ decided: ['gmail.com'], isApproved: true })], []],
])('what was decided about a version that was held back %s', (_, present, records) => {
  const written = checksAgain(present, [REJECTED]);
  expect(written.map(({ record }) => record)).toEqual(records);
  for (const { change } of written)
    expect(change).toEqual({ action: 'feed.reject', subject: 'a', detail: 'gmail.com' });
});
