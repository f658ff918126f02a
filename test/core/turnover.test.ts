import { describe, expect, it } from 'vitest';
import type { Feed, Snapshot } from '../../src/core/feed.ts';
import { PANEL_SIZE } from '../../src/core/folding.ts';
import { keepingNames, problemsOf } from '../../src/core/gate.ts';
import type { Held } from '../../src/core/known.ts';
import { cleaning } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { turnoverOf } from '../../src/core/turnover.ts';

const FEED: Feed = {
  id: 'list',
  kind: 'popular',
  family: 'broad',
  licence: 'MIT',
  origin: 'a list',
  atLeast: 10,
};
const LARGE = ['gmail.com', 'gmx.com'];
/** The first of November 2026. */
const NOV = 20_758;
const HELD: Omit<Held, 'today'> = {
  canaries: new Set(LARGE),
  isClearable: () => false,
  isNoWebmail: () => false,
  innocentOf: () => undefined,
  innocentBelow: () => undefined,
};
const many = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}.com`);
const USED = [...LARGE, ...many(998, 'used')];

/** Updates one after the other, each on its day, as far as the gate takes them. */
function following(feed = FEED) {
  let inUse: Snapshot | undefined;
  return (names: readonly string[], day: number, isForced = false) => {
    const today = NOV + day;
    const fresh = allAtOnce(cleaning(feed, { version: `${day}`, names }));
    const problems = problemsOf(fresh, inUse, { ...HELD, today });
    const { moved } = turnoverOf(fresh, inUse, today);
    if (problems.length === 0 || isForced) inUse = keepingNames(fresh, inUse, today, new Map(), moved);
    return problems;
  };
}
const exchanged = (count: number, prefix = 'stranger') => [
  ...USED.slice(0, USED.length - count),
  ...many(count, prefix),
];

describe('a new version of a popularity list', () => {
  it('may exchange a fifth of its names and no more; the first has nothing to be held against', () => {
    for (const [count, refused] of [
      [200, 0],
      [201, 1],
      [998, 1],
    ] as const) {
      const update = following();
      expect(update(USED, 0)).toEqual([]);
      expect(update(exchanged(count), 1)).toHaveLength(refused);
    }
    const update = following();
    update(USED, 0);
    expect(update(exchanged(201), 1)).toEqual([
      '201 of the 1000 names most used left within 30 days and 201 came, more than 20 %: look at it before you force it',
    ]);
  });

  it("of an operator's own may change by twenty names at once, however short it is", () => {
    const update = following({ ...FEED, isOwn: true });
    const names = [...LARGE, ...many(38, 'used')];
    expect(update(names, 0)).toEqual([]);
    expect(update([...names, ...many(20, 'new')], 1)).toEqual([]);
    expect(update([...names, ...many(40, 'new')], 2)).toEqual([]);
    expect(update([...names, ...many(61, 'new')], 3)).toHaveLength(1);
  });

  it('may neither grow nor shrink by more', () => {
    const update = following();
    expect(update(USED, 0)).toEqual([]);
    expect(update([...USED, ...many(201, 'stranger')], 1)).toHaveLength(1);
    expect(update(USED.slice(0, 900), 1)).toEqual([]);
    expect(update(USED.slice(0, 790), 2)).toHaveLength(1);
  });

  it('may not exchange in small steps within a month what it may not in one', () => {
    const update = following();
    expect(update(USED, 0)).toEqual([]);
    expect(update(exchanged(100), 1)).toEqual([]);
    expect(update(exchanged(200), 20)).toEqual([]);
    expect(update(exchanged(201), 30)).toHaveLength(1);
    // Nothing new is no step; the first hundred are a month old.
    expect(update(exchanged(200), 30)).toEqual([]);
    expect(update(exchanged(300), 31)).toEqual([]);
    expect(update(exchanged(301), 32)).toHaveLength(1);
  });

  it('counts no name that is where it was before', () => {
    const update = following();
    for (let day = 0; day < 30; day++) expect(update(day % 2 ? exchanged(150) : USED, day)).toEqual([]);
    expect(update(exchanged(200, 'other'), 30)).toEqual([]);
  });

  it('is taken when it is forced, and what comes behind it is counted anew', () => {
    const update = following();
    update(USED, 0);
    expect(update(exchanged(500), 1, true)).toHaveLength(1);
    expect(update(exchanged(700), 2)).toEqual([]);
    expect(update(exchanged(701), 3)).toHaveLength(1);
  });

  it('is held against a version of a day that was ahead of its time', () => {
    const update = following();
    update(USED, 0);
    expect(update(exchanged(200), 60)).toEqual([]);
    expect(update(exchanged(201), 2)).toHaveLength(1);
    expect(update(exchanged(200), 2)).toEqual([]);
    expect(update(exchanged(199), 3)).toEqual([]);
    expect(update(exchanged(399), 33)).toEqual([]);
  });

  it('may exchange what stands behind the panel, and other lists everything', () => {
    const whole = (names: readonly string[], feed = FEED): Snapshot => ({
      ...allAtOnce(cleaning(feed, { version: '1', names: ['a.com'] })),
      names,
    });
    const panel = many(PANEL_SIZE, 'used');
    const inUse = whole([...panel, ...many(30_000, 'before')]);
    const { problems, moved } = turnoverOf(whole([...panel, ...many(30_000, 'after')]), inUse, NOV);
    expect([problems, moved.size]).toEqual([[], 0]);
    const free: Feed = { ...FEED, kind: 'free' };
    expect(turnoverOf(whole(['b.com'], free), whole(['a.com'], free), NOV).problems).toEqual([]);
  });
});
