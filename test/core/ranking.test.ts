import { expect, test } from 'vitest';
import { type ListParts, makingList, type Ranked, type TopDomain } from '../../src/core/ranking.ts';
import { allAtOnce } from '../../src/core/steps.ts';

const row = (domain: string, times: number, score = 90): Ranked => ({
  domain,
  times,
  listed: true,
  reason: 'disposable',
  score,
  lastDay: '2026-11-15',
});
const shown = ({ domain, score, times }: Ranked): TopDomain => ({
  domain,
  riskScore: score,
  reason: 'disposable',
  flags: times,
});
const filling = (domain: string, riskScore = 90): TopDomain => ({
  domain,
  riskScore,
  reason: 'disposable',
  flags: 0,
});
const names = (rows: readonly TopDomain[]) => rows.map(({ domain }) => domain);
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

function making(facts: Partial<ListParts> = {}) {
  return makingList({
    rows: [],
    today: shown,
    fillers: () => [],
    filler: name => filling(name),
    ...facts,
  });
}
const listOf = (facts: Partial<ListParts>) => allAtOnce(making(facts));

test('the most often flagged come first, then the highest score, then the name', () => {
  const rows = [row('b.com', 1), row('a.com', 1), row('often.com', 5, 80), row('bad.com', 1, 100)];
  expect(names(listOf({ rows }).first(10))).toEqual(['often.com', 'bad.com', 'a.com', 'b.com']);
  expect(names(listOf({ rows }).first(2))).toEqual(['often.com', 'bad.com']);
});

test.each([
  [['a.com', 'b.com', 'c.com', 'd.com']],
  [['d.com', 'c.com', 'b.com', 'a.com']],
  [['c.com', 'a.com', 'd.com', 'b.com']],
])('names of the same number and score come in their order, whatever the order of %j', given => {
  const rows = given.map(name => row(name, 1));
  expect(names(listOf({ rows }).first(10))).toEqual(['a.com', 'b.com', 'c.com', 'd.com']);
});

test('of two rows of one name the last one counts', () => {
  const rows = [row('a.com', 9, 80), row('b.com', 5), row('a.com', 1, 95)];
  expect(listOf({ rows }).first(10)).toEqual([shown(row('b.com', 5)), shown(row('a.com', 1, 95))]);
});

test('what would not be flagged today is left out', () => {
  const rows = [row('cleared.com', 9), row('a.com', 1)];
  const today = (one: Ranked) => (one.domain === 'cleared.com' ? undefined : shown(one));
  expect(names(listOf({ rows, today }).first(10))).toEqual(['a.com']);
});

test('places that traffic has not filled go to what most feeds agree on, in that order', () => {
  const scores: Record<string, number> = { 'f1.com': 90, 'f2.com': 100, 'f3.com': 100 };
  const list = listOf({
    rows: [row('a.com', 1)],
    fillers: () => ['f1.com', 'a.com', 'gone.com', 'f3.com', 'f2.com'],
    filler: name => (name === 'gone.com' ? undefined : filling(name, scores[name])),
  });
  expect(names(list.first(1))).toEqual(['a.com']);
  expect(names(list.first(2))).toEqual(['a.com', 'f1.com']);
  expect(names(list.first(3))).toEqual(['a.com', 'f1.com', 'f3.com']);
  expect(names(list.first(4))).toEqual(['a.com', 'f1.com', 'f3.com', 'f2.com']);
  expect(names(list.first(1_000))).toEqual(['a.com', 'f1.com', 'f3.com', 'f2.com']);
  // What only lists name can be left out, and the two kinds do not get mixed up.
  expect(names(list.first(4, true))).toEqual(['a.com']);
  expect([list.length(4, true), list.length(3), list.length(9)]).toEqual([1, 3, 4]);
  expect(list.first(4)).toHaveLength(4);
});

test('fillers are asked for only where places are left, and for enough to leave some out', () => {
  const asked: number[] = [];
  const fillers = (count: number) => {
    asked.push(count);
    return [];
  };
  listOf({ rows: upTo(1_000).map(at => row(`d${at}.com`, 1)), fillers });
  expect(asked).toEqual([]);
  listOf({ rows: upTo(999).map(at => row(`d${at}.com`, 1)), fillers });
  listOf({ rows: [], fillers });
  expect(asked).toEqual([1_001, 2_000]);
});

test('a list has a thousand rows at most, the best of all', () => {
  const rows = upTo(2_345).map(at => row(`d${at}.com`, 1 + ((at * 8) % 2_345)));
  const best = [...rows].sort((a, b) => b.times - a.times).slice(0, 1_000);
  expect(names(listOf({ rows }).first(5_000))).toEqual(names(best.map(shown)));
  const filled = listOf({ fillers: () => upTo(3_000).map(at => `f${at}.com`) });
  expect(filled.first(5_000)).toHaveLength(1_000);
});

test('no more fillers are judged than there are places', () => {
  let judged = 0;
  listOf({
    rows: upTo(900).map(at => row(`d${at}.com`, 1)),
    fillers: () => upTo(500).map(at => `f${at}.com`),
    filler: name => {
      judged++;
      return filling(name);
    },
  });
  expect(judged).toBe(100);
});

test('others are answered while a list is made: after each hundred rows read, each five judged, and before and after names of lists are taken', () => {
  const steps = (count: number) => {
    const list = making({ rows: upTo(count).map(at => row(`d${at}.com`, 1)) });
    let yields = 0;
    while (!list.next().done) yields++;
    return yields;
  };
  expect([0, 99, 100, 199, 200, 1_000].map(steps)).toEqual([2, 21, 23, 42, 44, 212]);
});
