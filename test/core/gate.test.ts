import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayFrom } from '../../src/core/days.ts';
import { doubtOf } from '../../src/core/doubt.ts';
import type { Content, Family, Feed, FeedKind, Snapshot } from '../../src/core/feed.ts';
import { isSame, keepingNames, problemsOf } from '../../src/core/gate.ts';
import type { Held } from '../../src/core/known.ts';
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
/** The first of November 2026. */
const NOV = 20_758;
const KNOWN: Held = {
  canaries: new Set(['gmail.com', 'gmx.com']),
  isClearable: name => name.startsWith('burner'),
  isNoWebmail: name => name.startsWith('used'),
  innocentOf: name => /(?:^|\.)(company[^.]*\.com)$/.exec(name)?.[1],
  innocentBelow: name => (name === 'github.io' ? 'project.github.io' : undefined),
  today: NOV,
};

const many = (count: number, prefix = 'n') => Array.from({ length: count }, (_, at) => `${prefix}${at}.com`);
const clean = (names: readonly string[], feed = FEED): Snapshot =>
  allAtOnce(cleaning(feed, { version: '1', names }));
/** Many names that need no cleaning, which would take seconds. */
const asRead = (names: readonly string[], feed: Feed): Snapshot => ({
  ...clean(['a.com'], feed),
  names,
  since: new Uint16Array(names.length),
});
const problems = (names: readonly string[], inUse: number | undefined, feed = FEED) =>
  problemsOf(clean(names, feed), inUse === undefined ? undefined : clean(many(inUse), feed), KNOWN);

describe('a new version of a feed', () => {
  it.each<[string, readonly string[], number | undefined, RegExp]>([
    ['empty', [], 100, /no usable name/],
    ['all comments and rubbish', ['no name', '', '*.'], 100, /no usable name/],
    ['shorter than such a list can be', many(9), undefined, /9 names, at least 10/],
    ['more than 20 % smaller', many(799), 1_000, /799 names, more than 20 % fewer than 1000/],
    ['more than 50 % larger', many(1_501), 1_000, /1501 names, more than 50 % more than 1000/],
    ['naming a canary', [...many(999), 'gmail.com'], 1_000, /names gmail.com/],
    [
      'naming a suffix with innocents below it',
      [...many(999), 'github.io'],
      1_000,
      /names github.io, below which anybody registers, project.github.io for one/,
    ],
    ['naming a canary in another spelling', [...many(999), 'GMX.com.'], 1_000, /names gmx.com/],
    [
      'of more than 1 % unusable lines',
      [...many(980), ...Array(10).fill('a b')],
      1_000,
      /10 of 990 lines.*: "a b" for one/,
    ],
    ['of more than 1 % suffixes', [...many(980), ...Array(10).fill('co.uk')], 1_000, /10 of 990 lines/],
    ['of more than 1 % special names', [...many(980), ...Array(10).fill('a.test')], 1_000, /10 of 990/],
  ])('%s is refused', (_, names, inUse, why) => {
    expect(problems(names, inUse)).toEqual([expect.stringMatching(why)]);
  });

  it('of more names than any list has is refused, though it is the first one', () => {
    const of = (count: number) => asRead(Array(count).fill('a.com'), { ...FEED, kind: 'free' });
    expect(problemsOf(of(1_000_000), undefined, KNOWN)).toEqual([]);
    expect(problemsOf(of(1_000_001), undefined, KNOWN)).toEqual(['1000001 names, more than 1000000']);
    const protectedOnes = (count: number) => ({
      ...of(count),
      feed: { ...of(0).feed, kind: 'protected', isOwn: true } as const,
    });
    expect(problemsOf(protectedOnes(100_000), undefined, KNOWN)).toEqual([]);
    expect(problemsOf(protectedOnes(100_001), undefined, KNOWN)).toEqual(['100001 names, more than 100000']);
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

  it('may name a suffix with innocents below it where the list is one of free providers', () => {
    expect(problems([...many(99), 'github.io'], 100, { ...FEED, kind: 'free' })).toEqual([]);
  });

  it('of a popularity list must name some of the largest mailbox providers', () => {
    const popular: Feed = { ...FEED, kind: 'popular' };
    const large = many(10, 'large');
    const check = (names: readonly string[], inUse?: readonly string[]) =>
      problemsOf(clean(names, popular), inUse && clean(inUse, popular), {
        ...{ ...KNOWN, canaries: new Set(large) },
      });
    expect(check([...many(99), ...large.slice(0, 2)])).toEqual([]);
    expect(check([...many(99), large[0]!])).toEqual([
      'it names 1 of the 10 largest mailbox providers: not what most people use',
    ]);
    // Of one that was forced in without them the next is followed, and of no other.
    expect(check([...many(99), large[0]!], many(99))).toEqual([]);
    expect(check(many(99), [...many(99), ...large.slice(0, 2)])).toEqual([
      'it names 0 of the 10 largest mailbox providers: not what most people use',
    ]);
  });

  it.each<[FeedKind, number, number]>([
    ['popular', 1_000, 3],
    ['popular', 100_000, 300],
    ['relay', 18, 5],
    ['relay', 1_000, 5],
    ['protected', 18, 5],
    ['protected', 10_000, 5],
    ['academic', 500, 5],
    ['academic', 8_000, 10],
    ['free', 1_000, 50],
    ['free', 30_000, 1_000],
  ])('of kind %s and %i names may clear %i that a disposable feed names', (kind, size, most) => {
    const feed: Feed = { ...FEED, kind };
    const known = { ...KNOWN, canaries: new Set(['n0.com']) };
    const tenth = Math.ceil(size / 10);
    const before = asRead([...many(size - tenth), ...many(tenth, 'burner-before')], feed);
    const check = (count: number, inUse: Snapshot | undefined) =>
      problemsOf(asRead([...many(size - count), ...many(count, 'burner')], feed), inUse, known);
    for (const inUse of [undefined, before]) {
      expect(check(most, inUse)).toEqual([]);
      expect(check(most + 1, inUse)).toEqual([
        expect.stringMatching(
          `${most + 1} of its ${size} names came within 30 days.* .burner0.com, burner1.com, burner2.com.: look`,
        ),
      ]);
    }
    // What the version in use had already is no news.
    expect(problemsOf(before, before, known)).toEqual([]);
    expect(problemsOf(clean(many(100, 'burner')), undefined, KNOWN)).toEqual([]);
  });

  it('of free providers may bring 20 names a month that we know as something else, however long it is', () => {
    const feed: Feed = { ...FEED, kind: 'free' };
    const before = asRead(many(10_000), feed);
    const check = (count: number) =>
      problemsOf(asRead([...many(10_000), ...many(count, 'used')], feed), before, KNOWN);
    expect(check(20)).toEqual([]);
    expect(check(21)).toEqual([
      expect.stringMatching(/^21 of its 10021 names .* something else than webmail \(used0\.com, used1\.com/),
    ]);
    const inUse = { ...before, doubtful: new Map(many(15, 'used-before').map(name => [name, NOV - 29])) };
    const next = asRead([...many(10_000), ...many(6, 'used')], feed);
    expect(problemsOf(next, inUse, KNOWN)).toHaveLength(1);
    expect(problemsOf(next, inUse, { ...KNOWN, today: NOV + 1 })).toEqual([]);
  });

  it.each<[Family, number, number]>([
    ['verified', 1_000, 10],
    ['verified', 8_000, 16],
    ['telemetry', 1_000, 10],
    ['broad', 8_000, 24],
    // Whoever writes a list can make it longer.
    ['verified', 10_000, 20],
    ['verified', 40_000, 20],
    ['telemetry', 40_000, 20],
    ['broad', 200_000, 500],
  ])('of the %s family and %i names may bring %i that we know as innocent', (family, size, most) => {
    const feed: Feed = { ...FEED, family };
    const before = asRead([...many(size - 50), ...many(50, 'company-before')], feed);
    const check = (count: number) =>
      problemsOf(asRead([...many(size - count), ...many(count, 'company')], feed), before, KNOWN);
    expect(check(most)).toEqual([]);
    expect(check(most + 1)).toEqual([
      expect.stringMatching(
        `${most + 1} of its ${size} names came within 30 days and are known as innocent .company0.com, company1.com, company2.com.: look`,
      ),
    ]);
    expect(problemsOf(before, before, KNOWN)).toEqual([]);
    expect(problemsOf(clean(many(99, 'company'), { ...FEED, kind: 'free' }), undefined, KNOWN)).toEqual([]);
  });

  it('counts what is below one innocent name as that name, in one update and in many', () => {
    const feed: Feed = { ...FEED, family: 'telemetry' };
    const installed = asRead(many(1_000), feed);
    const below = (company: string) => many(30, 's').map(one => `${one}.${company}`);
    const update = following(installed);
    for (let day = 0; day < 10; day++)
      expect(update(asRead([...installed.names, ...below(`company${day}.com`)], feed), day)).toEqual([]);
    expect(update(asRead([...installed.names, 'x.company9.com'], feed), 10)).toEqual([]);
    expect(update(asRead([...installed.names, 'x.company10.com'], feed), 11)).toEqual([
      expect.stringMatching(/^11 of its 1001 names .* innocent .company10\.com, company9\.com, /),
    ]);
  });

  /** Updates one after the other, each on its day, as far as the gate takes them. */
  function following(installed: Snapshot) {
    let inUse = installed;
    return (fresh: Snapshot, day: number, isForced = false) => {
      const held = { ...KNOWN, installed, today: NOV + day };
      const found = problemsOf(fresh, inUse, held);
      const { doubtful } = doubtOf(fresh, inUse, held);
      if (found.length === 0 || isForced) inUse = keepingNames(fresh, inUse, NOV + day, doubtful);
      return found;
    };
  }
  const SUCH: readonly [string, Feed, string][] = [
    ['clear', { ...FEED, kind: 'academic' }, 'burner'],
    ['blame', FEED, 'company'],
    ['blame', { ...FEED, rotates: 1_050 }, 'company'],
  ];
  const installedFor = (feed: Feed, prefix: string) =>
    allAtOnce(
      cleaning(feed, {
        ...{ version: '1', dated: '2026-11-01' },
        names: [...many(1_000), ...many(50, `${prefix}-looked-at-`)],
      }),
    );

  it.each(SUCH)(
    'may not %s in many small steps what it may not in one, within a month',
    (_, feed, prefix) => {
      const installed = installedFor(feed, prefix);
      const update = following(installed);
      const step = (count: number, day: number, isForced = false) =>
        update(clean([...installed.names, ...many(count, prefix)], feed), day, isForced);
      expect(step(4, 0)).toEqual([]);
      expect(step(10, 29)).toEqual([]);
      expect(step(11, 29)).toHaveLength(1);
      // Nothing new is no step; the first four are a month old.
      expect(step(10, 29)).toEqual([]);
      expect(step(14, 30)).toEqual([]);
      expect(step(15, 30)).toHaveLength(1);
      // An operator looked at what was forced in, and does not have to again for every name that follows; what comes
      // behind it is counted as before.
      expect(step(100, 30, true)).toHaveLength(1);
      expect(step(100, 31)).toEqual([]);
      expect(step(110, 31)).toEqual([]);
      expect(step(111, 32)).toHaveLength(1);
      expect(step(110, 60)).toEqual([]);
      expect(step(120, 61)).toEqual([]);
    },
  );

  it.each(SUCH)('may not %s others every day: what it has withdrawn counts on', (_, feed, prefix) => {
    const installed = installedFor(feed, prefix);
    const update = following(installed);
    const others = (day: number, count: number) =>
      update(clean([...installed.names, ...many(count, `${prefix}-${day}-`)], feed), day);
    expect(others(0, 6)).toEqual([]);
    expect(others(1, 4)).toEqual([]);
    expect(others(2, 1)).toEqual([expect.stringContaining(`11 of its 1051 names`)]);
    // Those of the first day are a month old on the thirtieth.
    expect(others(29, 1)).toHaveLength(1);
    expect(others(30, 6)).toEqual([]);
    expect(others(31, 5)).toHaveLength(1);
    expect(others(31, 4)).toEqual([]);
  });

  it.each(SUCH)('may not %s more because it says that it has named them for years', (_, feed, prefix) => {
    const installed = installedFor(feed, prefix);
    const update = following(installed);
    const step = (count: number, day: number) => {
      const names = [...installed.names, ...many(count, prefix)];
      const since = new Map(names.map(name => [name, '2020-01-01']));
      return update(allAtOnce(cleaning(feed, { version: '1', names, since })), day);
    };
    expect(step(10, 0)).toEqual([]);
    expect(step(11, 1)).toHaveLength(1);
    expect(step(11, 29)).toHaveLength(1);
    expect(step(20, 30)).toEqual([]);
  });

  it('that came by a clock that was ahead counts for a month from the day on which it is right again', () => {
    const installed = installedFor(FEED, 'company');
    const update = following(installed);
    const step = (count: number, day: number) =>
      update(clean([...installed.names, ...many(count, 'company')]), day);
    expect(step(10, 60)).toEqual([]);
    expect(step(11, 1)).toHaveLength(1);
    expect(step(10, 1)).toEqual([]);
    expect(step(20, 31)).toEqual([]);
  });

  it('that an operator forced in for another reason leaves the count as it is', () => {
    const installed = installedFor(FEED, 'company');
    const update = following(installed);
    expect(update(clean([...installed.names, ...many(6, 'company')]), 0)).toEqual([]);
    const short = [...many(500), ...many(6, 'company')];
    expect(update(clean(short), 1, true)).toEqual([expect.stringMatching(/20 % fewer/)]);
    expect(update(clean([...short, ...many(4, 'company-more')]), 2)).toEqual([]);
    expect(update(clean([...short, ...many(5, 'company-more')]), 3)).toHaveLength(1);
  });

  it('that brings none is no step, though it is shorter and may bring fewer', () => {
    const installed = clean(many(8_000));
    const update = following(installed);
    expect(update(clean([...installed.names, ...many(24, 'company')]), 0)).toEqual([]);
    const shorter = [...many(6_500), ...many(24, 'company')];
    expect(update(clean(shorter), 1)).toEqual([]);
    expect(update(clean([...shorter, 'company-new.com']), 2)).toEqual([
      expect.stringMatching(/^25 of its 6525 names .*company-new\.com, company0\.com/),
    ]);
  });

  it('counts a name no longer that turned out to be what the list says', () => {
    const known = { ...KNOWN, installed: clean(many(1_000)) };
    const first = clean([...many(1_000), ...many(10, 'company')]);
    const kept = keepingNames(first, known.installed, NOV, doubtOf(first, known.installed, known).doubtful);
    const next = clean([...first.names, 'company-new.com']);
    expect(problemsOf(next, kept, known)).toHaveLength(1);
    const innocentOf = (name: string) => (name === 'company0.com' ? undefined : KNOWN.innocentOf(name));
    expect(problemsOf(next, kept, { ...known, innocentOf })).toEqual([]);
  });

  it.each<[string, FeedKind, number, number, number, boolean]>([
    ['not 20 % below what is installed', 'disposable', 1_000, 850, 800, true],
    ['20 % below what is installed, in two steps', 'disposable', 1_000, 850, 799, false],
    ['far below it since that was forced', 'disposable', 1_000, 700, 600, true],
    ['50 % above it, in two steps', 'relay', 20, 28, 31, false],
    ['not 50 % above it', 'relay', 20, 28, 30, true],
    ['far above it since that was forced', 'relay', 20, 40, 50, true],
    ['50 % above it and disposable, as there are more and more', 'disposable', 1_000, 1_400, 1_600, true],
  ])('%s (%s, %i → %i → %i) is taken: %s', (_, kind, first, last, now, isTaken) => {
    const feed: Feed = { ...FEED, kind };
    const installed = clean(many(first), feed);
    const found = problemsOf(clean(many(now), feed), clean(many(last), feed), { ...KNOWN, installed });
    expect(found.length === 0).toBe(isTaken);
  });

  it('of popular names is looked at as far as they make the panel', () => {
    const names = Array.from({ length: 100_301 }, (_, at) =>
      at < 100_000 ? `n${at}.com` : `burner${at}.com`,
    );
    const of = (some: readonly string[]) => asRead(some, { ...FEED, kind: 'popular' });
    const known = { ...KNOWN, canaries: new Set(['n0.com']) };
    expect(problemsOf(of(names), undefined, known)).toEqual([]);
    expect(problemsOf(of(names.toReversed()), undefined, { ...known, canaries: new Set() })).toHaveLength(1);
  });

  it('of another kind is looked at to its end', () => {
    const free: Feed = { ...FEED, kind: 'free' };
    const of = (count: number) => asRead([...many(100_000), ...many(count, 'burner')], free);
    expect(problemsOf(of(1_000), undefined, KNOWN)).toEqual([]);
    expect(problemsOf(of(1_001), undefined, KNOWN)).toHaveLength(1);
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

const sinceOf = ({ names, since }: Content, name: string) => since[names.indexOf(name)];

describe('since when a feed names a name', () => {
  it('is the day of the update that brought it, and stays that day', () => {
    const first = keepingNames(clean(many(100)), undefined, NOV);
    const second = keepingNames(clean(many(110)), first, NOV + 7);
    const third = keepingNames(clean(many(110).reverse()), second, NOV + 8);
    for (const snapshot of [second, third]) {
      expect(sinceOf(snapshot, 'n0.com')).toBe(NOV);
      expect(sinceOf(snapshot, 'n109.com')).toBe(NOV + 7);
    }
    expect(isSame(second, third)).toBe(true);
  });

  it('is the day of the bundled list for what that names', () => {
    const bundled = allAtOnce(
      cleaning(FEED, { version: '1', names: ['a.com', 'b.com'], dated: '2026-08-01' }),
    );
    const next = keepingNames(clean(['b.com', 'c.com']), bundled, NOV);
    expect(sinceOf(next, 'b.com')).toBe(dayFrom('2026-08-01'));
    expect(sinceOf(next, 'c.com')).toBe(NOV);
  });

  it('is what the feed tells where it does', () => {
    const raw = { version: '1', names: ['a.com', 'b.com'], since: new Map([['a.com', '2026-05-05']]) };
    const told = keepingNames(allAtOnce(cleaning(FEED, raw)), clean(['a.com', 'b.com']), NOV);
    expect(sinceOf(told, 'a.com')).toBe(dayFrom('2026-05-05'));
    expect(sinceOf(told, 'b.com')).toBe(0);
  });

  it('is no day that is still to come, whatever a feed or a clock has told', () => {
    const raw = { version: '1', names: ['a.com', 'b.com'], since: new Map([['a.com', '2040-01-01']]) };
    const ahead = keepingNames(allAtOnce(cleaning(FEED, raw)), undefined, NOV + 60);
    expect([...ahead.since]).toEqual([NOV + 60, NOV + 60]);
    const right = keepingNames(allAtOnce(cleaning(FEED, raw)), ahead, NOV + 1);
    const later = keepingNames(allAtOnce(cleaning(FEED, raw)), right, NOV + 9);
    expect([...later.since]).toEqual([NOV + 1, NOV + 1]);
  });

  it('begins anew when the name was gone in between; what is withdrawn is gone with the update', () => {
    const first = keepingNames(clean(['a.com', 'b.com']), undefined, NOV);
    const without = keepingNames(clean(['b.com']), first, NOV + 1);
    expect(without.names).toEqual(['b.com']);
    const again = keepingNames(clean(['a.com', 'b.com']), without, NOV + 2);
    expect([...again.since]).toEqual([NOV + 2, NOV]);
  });
});

describe('a list that rotates', () => {
  /** Each list on a day of its own, from the first of November on. */
  const follow = (...lists: string[][]) =>
    lists.reduce<Snapshot | undefined>(
      (kept, names, at) => keepingNames(clean(names, ROTATING), kept, NOV + at),
      undefined,
    )!;

  it('goes on with the days of a version that an operator went back from, of names that it shows', () => {
    const aside = follow(['a.com'], ['a.com', 'b.com'], ['b.com', 'c.com']);
    const go = (inUse: Snapshot | undefined) =>
      keepingNames(
        clean(['a.com', 'b.com', 'd.com'], ROTATING),
        ...([inUse, NOV + 9, undefined, undefined, undefined, undefined, [aside]] as const),
      );
    for (const inUse of [undefined, follow(['a.com'])]) {
      const { names, since, shown } = go(inUse);
      const rows = names.map((name, at) => [name, since[at]! - NOV, shown!.days[at]]);
      const isKept = inUse !== undefined;
      expect(rows).toEqual([
        ['a.com', isKept ? 0 : 9, isKept ? 2 : 1],
        ['b.com', 1, 3],
        ['d.com', 9, 1],
      ]);
    }
  });

  it.each([
    [1, ['x.com']],
    [2, ['x.com']],
    [3, ['x.com', 'a.com']],
    [4, ['x.com', 'a.com']],
  ])('keeps a name that it showed on %i days: %j', (days, names) => {
    const shown = Array.from({ length: days }, () => ['a.com']);
    expect(follow(...shown, ['x.com']).names).toEqual(names);
  });

  it('begins with the day of the update where the version in use was kept before it rotated', () => {
    const next = keepingNames(clean(['a.com'], ROTATING), clean(['a.com', 'b.com'], ROTATING), NOV);
    expect([next.names, [...next.since]]).toEqual([['a.com'], [NOV]]);
    expect(next.shown).toEqual({ last: Uint16Array.of(NOV), days: Uint8Array.of(1) });
  });

  it('counts days, not updates', () => {
    let kept = follow(['a.com']);
    for (let times = 0; times < 5; times++) kept = keepingNames(clean(['a.com'], ROTATING), kept, NOV);
    expect(kept.shown).toEqual({ last: Uint16Array.of(NOV), days: Uint8Array.of(1) });
    expect(keepingNames(clean(['x.com'], ROTATING), kept, NOV + 1).names).toEqual(['x.com']);
  });

  it.each([
    [90, true],
    [91, false],
  ])('keeps it for 90 days after it left: on day %i it is there, %s', (days, isThere) => {
    const kept = follow(['a.com'], ['a.com'], ['a.com'], ['x.com']);
    const later = keepingNames(clean(['y.com'], ROTATING), kept, NOV + 2 + days);
    expect(later.names.includes('a.com')).toBe(isThere);
  });

  it('is as it was when the clock is right again after a day on which it was ahead', () => {
    const update = (names: readonly string[], kept: Snapshot, day: number) =>
      keepingNames(clean(names, ROTATING), kept, NOV + day);
    const ahead = update(['a.com', 'b.com', 'new.com'], follow(['a.com', 'b.com'], ['a.com', 'b.com']), 62);
    expect([...ahead.shown!.last]).toEqual([NOV + 62, NOV + 62, NOV + 62]);
    const right = update(['a.com', 'new.com'], ahead, 3);
    const later = update(['a.com', 'new.com'], right, 4);
    expect(later.names).toEqual(['a.com', 'new.com', 'b.com']);
    // The newest day is that of what is shown now, and no other name has it.
    expect([...later.shown!.last]).toEqual([NOV + 4, NOV + 4, NOV + 3]);
    expect([...later.since]).toEqual([NOV, NOV + 3, NOV]);
  });

  it('remembers of a kept name since when and until when it was shown', () => {
    const kept = follow(['a.com'], ['a.com'], ['a.com'], ['x.com'], ['x.com']);
    expect(kept.names).toEqual(['x.com', 'a.com']);
    expect([...kept.since]).toEqual([NOV + 3, NOV]);
    expect(kept.shown).toEqual({ last: Uint16Array.of(NOV + 4, NOV + 2), days: Uint8Array.of(2, 3) });
    const again = keepingNames(clean(['a.com'], ROTATING), kept, NOV + 5);
    expect(again).toMatchObject({ names: ['a.com'] });
    expect(again.shown?.days).toEqual(Uint8Array.of(4));
  });

  it('counts no day on which a name was merely kept towards its age', () => {
    const on = (kept: Snapshot, names: readonly string[], day: number) =>
      keepingNames(clean(names, ROTATING), kept, NOV + day);
    const kept = follow(['a.com'], ['a.com'], ['a.com'], ['x.com']);
    // As old on the day of its return as on the day it left, which was two days.
    const again = on(kept, ['a.com'], 35);
    expect(sinceOf(again, 'a.com')).toBe(NOV + 33);
    expect(sinceOf(on(again, ['a.com'], 36), 'a.com')).toBe(NOV + 33);
    const gone = on(on(on(kept, ['a.com'], 35), ['x.com'], 36), ['a.com'], 60);
    expect(sinceOf(gone, 'a.com')).toBe(NOV + 58);
    // Days without an update are no days of being kept: nobody looked whether the list showed it.
    const steady = on(follow(['a.com']), ['a.com'], 20);
    expect(sinceOf(steady, 'a.com')).toBe(NOV);
  });

  it('is another version on another day, since it was shown on one day more', () => {
    const first = follow(['a.com']);
    expect(isSame(first, keepingNames(clean(['a.com'], ROTATING), first, NOV))).toBe(true);
    expect(isSame(first, keepingNames(clean(['a.com'], ROTATING), first, NOV + 1))).toBe(false);
  });

  it('counts no further than a byte goes', () => {
    const first = follow(['a.com']);
    const long = { ...first, shown: { last: Uint16Array.of(NOV), days: Uint8Array.of(255) } };
    expect(keepingNames(clean(['a.com'], ROTATING), long, NOV + 1).shown?.days[0]).toBe(255);
  });

  const holding = (names: readonly string[], last: (at: number) => number): Snapshot => ({
    ...clean(names, ROTATING),
    since: new Uint16Array(names.length).fill(NOV - 90),
    shown: { last: Uint16Array.from(names, (_, at) => last(at)), days: new Uint8Array(names.length).fill(3) },
  });

  it('is held against its own length, however much is kept', () => {
    const kept = holding(many(8_000, 'd'), () => NOV);
    const next = (count: number) => problemsOf(clean(many(count, 'e'), ROTATING), kept, KNOWN);
    expect(next(1_000)).toEqual([]);
    expect(next(799)).toHaveLength(1);
    expect(next(1_501)).toHaveLength(1);
  });

  it('forgets what left first beyond its bound, and never what it names now', () => {
    const names = many(40_000, 'o');
    const full = holding(names, at => (at < 20_000 ? NOV - 9 : NOV - 1));
    const next = keepingNames(clean([...many(999, 'n'), 'o0.com'], ROTATING), full, NOV);
    expect(next.names).toHaveLength(30_000);
    // Named for 81 days when it left, nine days ago.
    expect(sinceOf(next, 'o0.com')).toBe(NOV - 81);
    expect(next.shown!.last.filter(day => day === NOV - 1)).toHaveLength(20_000);
  });

  it('forgets of names that left on one day the last by name', () => {
    const same = many(29_990, 'o').sort();
    const full = holding([...same.slice(100), ...same.slice(0, 100)], () => NOV - 1);
    const next = keepingNames(clean(many(20, 'n'), ROTATING), full, NOV);
    // Not as arrays: showing how two of this length differ takes a minute.
    expect(next.names.slice(20).findIndex((name, at) => name !== same[at])).toBe(-1);
    expect(next.names).toHaveLength(30_000);
  });
});

describe('two versions of a feed', () => {
  const one: Content = {
    version: '1',
    names: ['a.com', 'b.com'],
    doubtful: new Map(),
    moved: new Map(),
    flagged: new Map(),
    since: Uint16Array.of(1, 2),
    shown: { last: Uint16Array.of(3, 4), days: Uint8Array.of(5, 6) },
    labels: new Map([['b.com', 'B']]),
    dropped: { malformed: 0, suffix: 0, specialUse: 0, duplicate: 0 },
  };
  const turned = {
    names: ['b.com', 'a.com'],
    since: Uint16Array.of(2, 1),
    shown: { last: Uint16Array.of(4, 3), days: Uint8Array.of(6, 5) },
  };

  it.each<[string, Partial<Content>, boolean]>([
    ['of another number', { version: '2' }, true],
    ['of another order', turned, true],
    ['of other counts of what was left out', { dropped: { ...one.dropped, malformed: 9 } }, true],
    ['with a name more', { names: ['a.com', 'b.com', 'c.com'] }, false],
    ['with a name less', { names: ['a.com'] }, false],
    ['with another name', { names: ['a.com', 'c.com'] }, false],
    ['with another day', { since: Uint16Array.of(1, 3) }, false],
    ['with the days of each other', { since: Uint16Array.of(2, 1) }, false],
    ['shown on another day', { shown: { ...one.shown!, last: Uint16Array.of(3, 5) } }, false],
    ['shown on more days', { shown: { ...one.shown!, days: Uint8Array.of(5, 7) } }, false],
    ['with other labels', { labels: new Map([['b.com', 'C']]) }, false],
    ['with a label less', { labels: new Map() }, false],
  ])('%s say the same: %s', (_, facts, same) => {
    expect(isSame(one, { ...one, ...facts })).toBe(same);
    expect(isSame({ ...one, ...facts }, one)).toBe(same);
  });
});
