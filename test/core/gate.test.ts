import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Content, Feed, Snapshot } from '../../src/core/feed.ts';
import { isSame, keepingNames, problemsOf } from '../../src/core/gate.ts';
import { cleaning } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { anyCharacter } from '../support/characters.ts';

const FEED: Feed = {
  id: 'list',
  kind: 'disposable',
  family: 'broad',
  licence: 'MIT',
  origin: 'a list',
  atLeast: 10,
};
const ROTATING: Feed = { ...FEED, rotates: 1_000 };
const CANARIES = new Set(['gmail.com', 'gmx.com']);

const many = (count: number, prefix = 'n') => Array.from({ length: count }, (_, at) => `${prefix}${at}.com`);
const clean = (names: readonly string[], feed = FEED): Snapshot =>
  allAtOnce(cleaning(feed, { version: '1', names }));
const problems = (names: readonly string[], inUse: number | undefined, feed = FEED) =>
  problemsOf(clean(names, feed), inUse === undefined ? undefined : clean(many(inUse), feed), CANARIES);

describe('a new version of a feed', () => {
  it.each<[string, readonly string[], number | undefined, RegExp]>([
    ['empty', [], 100, /no usable name/],
    ['all comments and rubbish', ['no name', '', '*.'], 100, /no usable name/],
    ['shorter than such a list can be', many(9), undefined, /9 names, at least 10/],
    ['more than 20 % smaller', many(799), 1_000, /799 names, more than 20 % fewer than 1000/],
    ['more than 50 % larger', many(1_501), 1_000, /1501 names, more than 50 % more than 1000/],
    ['naming a canary', [...many(999), 'gmail.com'], 1_000, /names gmail.com/],
    ['naming a canary in another spelling', [...many(999), 'GMX.com.'], 1_000, /names gmx.com/],
    ['of more than 1 % unusable lines', [...many(980), ...Array(10).fill('a b')], 1_000, /10 of 990 lines/],
    ['of more than 1 % suffixes', [...many(980), ...Array(10).fill('co.uk')], 1_000, /10 of 990 lines/],
    ['of more than 1 % special names', [...many(980), ...Array(10).fill('a.test')], 1_000, /10 of 990/],
  ])('%s is refused', (_, names, inUse, why) => {
    expect(problems(names, inUse)).toEqual([expect.stringMatching(why)]);
  });

  it('of more names than any list has is refused, though it is the first one', () => {
    // Not cleaned: that would take seconds.
    const of = (count: number): Snapshot => ({
      ...clean(many(10), { ...FEED, kind: 'free' }),
      names: Array(count).fill('a.com'),
    });
    expect(problemsOf(of(1_000_000), undefined, CANARIES)).toEqual([]);
    expect(problemsOf(of(1_000_001), undefined, CANARIES)).toEqual(['1000001 names, more than any list has']);
  });

  it('is told everything that is wrong with it', () => {
    expect(problems([...many(700), 'gmail.com', ...Array(20).fill('__proto__')], 1_000)).toHaveLength(3);
  });

  it.each<[string, readonly string[], number | undefined]>([
    ['the first one', many(10), undefined],
    ['20 % smaller', many(800), 1_000],
    ['50 % larger', many(1_500), 1_000],
    ['of 1 % unusable lines', [...many(990), ...Array(10).fill('com')], 1_000],
    [
      'of 1 % unusable lines, duplicates counted',
      [...many(900), ...many(900), ...Array(18).fill('com')],
      1_000,
    ],
    ['full of duplicates', [...many(900), ...many(900)], 1_000],
  ])('%s is taken', (_, names, inUse) => {
    expect(problems(names, inUse)).toEqual([]);
  });

  it('may name a canary where the list is one of free providers', () => {
    expect(problems([...many(99), 'gmail.com'], 100, { ...FEED, kind: 'free' })).toEqual([]);
  });

  it('is taken exactly when its size is in the band, whatever the sizes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 400 }), fc.integer({ min: 10, max: 700 }), (was, now) => {
        const isInBand = now >= was * 0.8 && now <= was * 1.5;
        expect(problems(many(now), was).length === 0).toBe(isInBand);
      }),
      { numRuns: 60 },
    );
  });

  it('never brings a line that is no usable name, and counts every line', () => {
    const line = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 40 }),
      fc.domain(),
      fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty', 'com', 'co.uk', '*.a.com', '/', 'A.com'),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 50 }), lines => {
        const { names, dropped } = clean(lines);
        const left = dropped.malformed + dropped.suffix + dropped.specialUse + dropped.duplicate;
        expect(names.length + left).toBe(lines.length);
        for (const name of names) expect(name).toMatch(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/);
      }),
      { numRuns: 100 },
    );
  });
});

it('what was forced in against the rules is no measure for what comes after it', () => {
  expect(problems(many(1_000), 0)).toEqual([]);
  expect(problems(many(1_000), 9)).toEqual([]);
  expect(problems(many(1_000), 10)).toEqual([expect.stringMatching(/50 % more/)]);
});

describe('a list that rotates', () => {
  const day1 = keepingNames(clean(many(1_000, 'a'), ROTATING), undefined, '2026-11-01');

  it('keeps what it named before, each name since the day on which it was first seen', () => {
    const fresh = clean([...many(500, 'a'), ...many(500, 'b')], ROTATING);
    const day2 = keepingNames(fresh, day1, '2026-11-02');
    expect(day2.names).toHaveLength(1_500);
    expect(day2.since.get('a0.com')).toBe('2026-11-01');
    expect(day2.since.get('a999.com')).toBe('2026-11-01');
    expect(day2.since.get('b0.com')).toBe('2026-11-02');
    expect(day2.digest).not.toBe(day1.digest);
    expect(isSame(day2, keepingNames(fresh, day2, '2026-11-03'))).toBe(true);
  });

  it('is held against its own length, however much is kept', () => {
    let kept = day1;
    for (let day = 2; day < 9; day++)
      kept = keepingNames(clean(many(1_000, `d${day}x`), ROTATING), kept, `2026-11-0${day}`);
    expect(kept.names).toHaveLength(8_000);
    const next = (count: number) => problemsOf(clean(many(count, 'e'), ROTATING), kept, CANARIES);
    expect(next(1_000)).toEqual([]);
    expect(next(799)).toHaveLength(1);
    expect(next(1_501)).toHaveLength(1);
  });

  it('forgets the oldest beyond its bound, and never what it names now', () => {
    const since = new Map(
      many(40_000, 'o').map((name, at) => [name, at < 20_000 ? '2026-01-01' : '2026-06-01']),
    );
    const full: Snapshot = { ...day1, names: [...since.keys()], since };
    const next = keepingNames(clean([...many(999, 'n'), 'o0.com'], ROTATING), full, '2026-11-02');
    expect(next.names).toHaveLength(30_000);
    expect(next.since.get('o0.com')).toBe('2026-01-01');
    expect(next.names.filter(name => next.since.get(name) === '2026-06-01')).toHaveLength(20_000);
  });

  it('begins with what it names, since the day on which it was first seen', () => {
    const first = keepingNames(clean(['b.com', 'a.com'], ROTATING), undefined, '2026-11-01');
    expect([...first.since]).toEqual([
      ['b.com', '2026-11-01'],
      ['a.com', '2026-11-01'],
    ]);
    const raw = { version: '1', names: ['a.com'], since: new Map([['a.com', '2026-05-05']]) };
    const dated = allAtOnce(cleaning(ROTATING, raw));
    expect([...keepingNames(dated, undefined, '2026-11-01').since]).toEqual([['a.com', '2026-05-05']]);
    expect(keepingNames(dated, first, '2026-11-02').since.get('a.com')).toBe('2026-11-01');
  });

  it('forgets of names of one day the last by name', () => {
    const same = many(29_990, 'o').sort();
    const since = new Map([...same.slice(100), ...same.slice(0, 100)].map(name => [name, '2026-06-01']));
    since.set('zzz.com', '2026-06-02');
    const full: Snapshot = { ...day1, names: [...since.keys()], since };
    const next = keepingNames(clean(many(20, 'n'), ROTATING), full, '2026-11-02');
    const kept = ['zzz.com', ...same.slice(0, 29_979)];
    // Not as arrays: showing how two of this length differ takes a minute.
    expect(next.names.slice(20).findIndex((name, at) => name !== kept[at])).toBe(-1);
    expect(next.names).toHaveLength(30_000);
  });

  it('is no rule for other lists: what they no longer name is gone', () => {
    const fresh = clean(many(100));
    expect(keepingNames(fresh, clean(many(120)), '2026-11-02')).toBe(fresh);
  });
});

describe('two versions of a feed', () => {
  const a = {
    version: '1',
    names: ['a.com', 'b.com'],
    since: new Map([['a.com', '1']]),
    labels: new Map([['b.com', 'B']]),
  };
  const dropped = { malformed: 0, suffix: 0, specialUse: 0, duplicate: 0 };

  it.each<[string, Partial<Content>, boolean]>([
    ['of another number', { version: '2' }, true],
    ['of another order', { names: ['b.com', 'a.com'] }, true],
    ['of other counts of what was left out', { dropped: { ...dropped, malformed: 9 } }, true],
    ['with a name more', { names: ['a.com', 'b.com', 'c.com'] }, false],
    ['with a name less', { names: ['a.com'] }, false],
    ['with another name', { names: ['a.com', 'c.com'] }, false],
    ['with other days', { since: new Map([['a.com', '2']]) }, false],
    [
      'with a day more',
      {
        since: new Map([
          ['a.com', '1'],
          ['b.com', '1'],
        ]),
      },
      false,
    ],
    ['with a day less', { since: new Map() }, false],
    ['with the day at another name', { since: new Map([['b.com', '1']]) }, false],
    ['with other labels', { labels: new Map([['b.com', 'C']]) }, false],
    ['with a label less', { labels: new Map() }, false],
  ])('%s say the same: %s', (_, facts, same) => {
    const one = { ...a, dropped };
    expect(isSame(one, { ...one, ...facts })).toBe(same);
    expect(isSame({ ...one, ...facts }, one)).toBe(same);
  });
});
