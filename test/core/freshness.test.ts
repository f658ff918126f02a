import { describe, expect, test } from 'vitest';
import { checkAfter, type FeedCheck, freshnessOf, ofFollowed, STALE_MS } from '../../src/core/freshness.ts';

const NOW = Date.UTC(2026, 10, 16);
const UNDECIDED = { trouble: null, waiting: null, approved: null, rejected: null, tag: null, fallback: null };
const WAS: FeedCheck = {
  ...{ feed: 'a', triedAt: 5, checkedAt: 5, added: 3, removed: 2, problem: null },
  ...UNDECIDED,
};

const TRIED = {
  ...{ feed: 'a', problem: null, trouble: null, turnover: null, waiting: null, fallback: null },
};

describe('after an update', () => {
  test.each<[string, FeedCheck | undefined, string | null, FeedCheck['added'] | null, Partial<FeedCheck>]>([
    ['that changed something, this is told', WAS, null, 7, { checkedAt: NOW, added: 7, removed: 0 }],
    ['with nothing new the feed is fresh, and the last change stands', WAS, null, null, { checkedAt: NOW }],
    ['that failed it is as old as before', WAS, 'no network', null, { problem: 'no network' }],
    ['that failed at once it was never checked', undefined, 'no', null, { checkedAt: null, problem: 'no' }],
  ])('%s', (_, was, problem, added, expected) => {
    const turnover = added === null ? null : { added, removed: 0 };
    const before = was ?? { feed: 'a', checkedAt: null, added: 0, removed: 0, problem: null, ...UNDECIDED };
    expect(checkAfter(was, { ...TRIED, problem, turnover }, NOW)).toEqual({
      ...before,
      triedAt: NOW,
      ...expected,
    });
  });

  test('that went well again no trouble is told any more', () => {
    const went = TRIED;
    const before = { ...WAS, problem: 'no', waiting: ['x.com'] };
    expect(checkAfter(before, went, NOW)).toEqual({ ...WAS, triedAt: NOW, checkedAt: NOW });
  });

  test.each<[string, readonly string[], readonly (readonly string[] | null)[]]>([
    [
      'brought nothing',
      [],
      [
        ['a.com', 'b.com'],
        ['c.com', 'd.com'],
      ],
    ],
    [
      'brought something else',
      ['x.com'],
      [
        ['a.com', 'b.com'],
        ['c.com', 'd.com'],
      ],
    ],
    ['brought what was approved: that is used', ['a.com'], [null, ['c.com', 'd.com']]],
    ['forced in what was rejected: that no longer is', ['c.com', 'd.com'], [['a.com', 'b.com'], null]],
  ])('that went well, what an operator decided stays, where it %s', (_, flagged, decided) => {
    const went = { ...TRIED, flagged };
    const before = { ...WAS, approved: ['a.com', 'b.com'], rejected: ['c.com', 'd.com'] };
    const { approved, rejected } = checkAfter(before, went, NOW);
    expect([approved, rejected]).toEqual(decided);
  });

  test('that failed, what waits for an operator and what one decided stays', () => {
    const failed = { ...TRIED, problem: 'no', trouble: 'failed' } as const;
    const before = { ...WAS, waiting: ['x.com'], approved: ['y.com'], rejected: ['w.com'] };
    expect(checkAfter(before, failed, NOW)).toEqual({
      ...before,
      triedAt: NOW,
      problem: 'no',
      trouble: 'failed',
    });
    expect(checkAfter(before, { ...failed, waiting: ['z.com'] }, NOW).waiting).toEqual(['z.com']);
  });
});

test('all lists are as fresh as the one that was checked last', () => {
  const at = (checkedAt: number | null, feed = 'a', problem: string | null = null): FeedCheck => ({
    ...WAS,
    ...{ feed, checkedAt, problem },
  });
  expect(freshnessOf([], NOW)).toEqual({ status: 'never', checkedAt: null, failing: [] });
  expect(freshnessOf([at(null, 'a', 'no')], NOW)).toEqual({
    ...{ status: 'never', checkedAt: null, failing: ['a'] },
  });
  const edge = NOW - STALE_MS;
  expect(freshnessOf([at(5), at(edge, 'b', 'no'), at(null, 'c')], NOW)).toEqual({
    ...{ status: 'fresh', checkedAt: edge, failing: ['b'] },
  });
  expect(freshnessOf([at(edge - 1)], NOW).status).toBe('stale');
});

test('what is told of lists is told of those that are followed, those of operators included', () => {
  const rows = ['castle', 'off', 'ours', 'of-an-earlier-version'].map(feed => ({ feed }));
  expect(ofFollowed(rows, ['castle'], [{ name: 'ours' }])).toEqual([{ feed: 'castle' }, { feed: 'ours' }]);
});
