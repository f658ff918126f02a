import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Catalog } from '../../src/core/catalog.ts';
import { comparing } from '../../src/core/comparing.ts';
import { dayAt } from '../../src/core/days.ts';
import { lineage } from '../../src/core/domain.ts';
import type { Family, Feed, FeedKind, Snapshot } from '../../src/core/feed.ts';
import { flaggedBy } from '../../src/core/flagged.ts';
import { makingCatalog } from '../../src/core/folding.ts';
import type { NumberedChange } from '../../src/core/listing-change.ts';
import { SEED_BYTES } from '../../src/core/names.ts';
import { findOverride, type Override } from '../../src/core/override.ts';
import { sealing, takeSnapshot } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { parseTables } from '../../src/core/tables.ts';
import { catalogOf } from '../support/catalog.ts';
import { overrideOf } from '../support/records.ts';
import { FEW_TABLES } from '../support/versions.ts';

const NOW = Date.UTC(2026, 10, 16);
type Of = Parameters<typeof catalogOf>;
const RULES = { licence: 'none', origin: 'here', atLeast: 0 } as const;
const catalogWith = (snapshot: Snapshot) =>
  allAtOnce(makingCatalog([snapshot], parseTables(FEW_TABLES), snapshot.digest, new Uint8Array(SEED_BYTES)));

async function changes(before: Of, after: Of) {
  const [was, is] = [await catalogOf(...before), await catalogOf(...after)];
  return allAtOnce(comparing(was, is, NOW)).map(({ domain, change, feeds }) => [change, domain, ...feeds]);
}

test('names that the lists begin and cease to flag are told, with who names them', async () => {
  expect(await changes([['a.com', 'stays.com']], [['stays.com', 'b.com'], { telemetry: ['b.com'] }])).toEqual(
    [
      ['cleared', 'a.com', 'simulated'],
      ['flagged', 'b.com', 'simulated', 'seen'],
    ],
  );
});

test.each<[string, Of, Of]>([
  ['the same lists', [['a.com']], [['a.com']]],
  ['another list that names it too', [['a.com']], [['a.com'], { telemetry: ['a.com'] }]],
  ['a list that no longer does, where one still does', [['a.com'], { telemetry: ['a.com'] }], [['a.com']]],
  ['a name below one that is listed', [['cc.cd']], [['cc.cd', 'x.cc.cd']]],
  ['a protected name', [[]], [['sdf.org']]],
  ['a name of the panel, which is 45', [[], { popular: ['p.com'] }], [['p.com'], { popular: ['p.com'] }]],
])('%s is no change', async (_, before, after) => {
  expect(await changes(before, after)).toEqual([]);
});

test('a name below a listed one is told when that is withdrawn, and one that is withdrawn below it goes with it', async () => {
  expect(await changes([['cc.cd', 'x.cc.cd']], [['x.cc.cd']])).toEqual([
    ['cleared', 'cc.cd', 'simulated'],
    ['flagged', 'x.cc.cd', 'simulated'],
  ]);
  expect(await changes([['x.cc.cd']], [['cc.cd']])).toEqual([['flagged', 'cc.cd', 'simulated']]);
});

test('one that nobody may flag below a listed name is told with that, and a suffix only where all below it are flagged', async () => {
  const uni = listOf('academic', ['uni.cc.cd']);
  expect(told([uni], [uni, listOf('disposable', ['cc.cd'])])).toEqual([
    ['flagged', 'cc.cd'],
    ['cleared', 'uni.cc.cd'],
  ]);
  expect(await changes([[]], [[], { verified: ['notaires.fr', 'mooo.com'] }])).toEqual([
    ['flagged', 'mooo.com', 'looked-at'],
  ]);
  const host = 'observableusercontent.com';
  expect(await changes([[]], [[], { verified: [host] }])).toEqual([
    ['flagged', host, 'looked-at'],
    ['cleared', `static.${host}`, 'looked-at'],
  ]);
});

test('a relay or university that is guarded no more, since two families name one above it, is told as flagged', () => {
  for (const kind of ['relay', 'academic'] as const) {
    const [broad, seen] = [listOf('disposable', ['cc.cd']), listOf('disposable', ['cc.cd'], 'telemetry')];
    const uni = listOf(kind, ['uni.cc.cd']);
    expect(told([uni, seen], [uni, seen, broad])).toEqual([['flagged', 'uni.cc.cd']]);
    expect(told([uni, seen, broad], [uni, seen])).toEqual([['cleared', 'uni.cc.cd']]);
    // Above it is a suffix, below which one line flags nobody.
    const both = listOf(kind, ['notaires.fr', 'etude.notaires.fr']);
    const named = listOf('disposable', ['etude.notaires.fr'], 'telemetry');
    const above = [both, named, listOf('disposable', ['notaires.fr'])];
    expect(told([both, named], above)).toEqual([['flagged', 'etude.notaires.fr']]);
    expect(told(above, [both, named])).toEqual([['cleared', 'etude.notaires.fr']]);
  }
});

test('what is allowed for months is told again before it is forgotten, so that its end is known', async () => {
  const catalog = await catalogOf(['ay.com']);
  const overrides = new Map([['ay.com', overrideOf('ay.com', { action: 'allow' })]]);
  const after = (days: number, standing = overrides) => {
    const row = {
      id: 7,
      domain: 'ay.com',
      change: 'cleared',
      at: NOW - days * 86_400_000,
      feeds: [],
    } as const;
    const now = { told: new Map([['ay.com', row]]), overrides: standing };
    return allAtOnce(comparing(catalog, catalog, NOW, now)).map(({ change }) => change);
  };
  expect([after(14), after(16), after(16, new Map())]).toEqual([[], ['cleared'], ['flagged']]);
});

test('a name alone that is denied below an allowed one flags nobody below it', async () => {
  const [none, catalog] = [await catalogOf([]), await catalogOf(['b0.com', 'c0.com'])];
  const overrides = new Map(
    [
      overrideOf('b0.com', { action: 'allow', below: true }),
      overrideOf('a.b0.com', { action: 'deny', below: false }),
    ].map(one => [one.domain, one]),
  );
  const told = allAtOnce(comparing(none, catalog, NOW, { told: new Map(), overrides }));
  expect(told.filter(({ change }) => change === 'flagged').map(({ domain }) => domain)).toEqual(['c0.com']);
});

test('what was told apart below an allowed name is cleared when lists no longer have that', async () => {
  const [before, after] = [await catalogOf(['b0.com']), await catalogOf([])];
  const overrides = new Map([['b0.com', overrideOf('b0.com', { action: 'allow', below: false })]]);
  const rows = [
    { id: 1, domain: 'b0.com', change: 'cleared', at: NOW, feeds: [] },
    { id: 2, domain: 'a.b0.com', change: 'flagged', at: NOW, feeds: [] },
  ] as const;
  const standing = { told: new Map(rows.map(row => [row.domain, row])), overrides };
  const told = allAtOnce(comparing(before, after, NOW, standing));
  expect(told.map(({ domain, change }) => [change, domain])).toEqual([['cleared', 'a.b0.com']]);
});

test('what is allowed below a new suffix that gives names away is told as cleared, also where that was told and is forgotten', async () => {
  const updated = { at: NOW, since: new Map([['mooo.com', NOW]]) };
  const [none, catalog] = [await catalogOf([]), await catalogOf([], { telemetry: ['mooo.com'], updated })];
  const telling = (...standing: Parameters<typeof comparing>) =>
    allAtOnce(comparing(...standing)).map(({ domain, change }) => [change, domain]);
  expect(telling(none, catalog, NOW)).toEqual([['flagged', 'mooo.com']]);
  expect(flaggedBy(catalog, 'wiki.mooo.com', dayAt(NOW))).toEqual([]);
  const overrides = new Map([['wiki.mooo.com', overrideOf('wiki.mooo.com', { action: 'allow' })]]);
  expect(telling(catalog, catalog, NOW, { told: new Map(), overrides })).toEqual([
    ['cleared', 'wiki.mooo.com'],
  ]);
});

test('a listed name that comes to the panel is cleared, and flagged when it leaves', async () => {
  const [out, inside]: [Of, Of] = [[['p.com']], [['p.com'], { popular: ['p.com'] }]];
  expect(await changes(out, inside)).toEqual([['cleared', 'p.com', 'simulated']]);
  expect(await changes(inside, out)).toEqual([['flagged', 'p.com', 'simulated']]);
});

test('a verified list flags also what many people use', async () => {
  const popular = ['p.com'];
  expect(await changes([[], { popular }], [[], { popular, verified: popular }])).toEqual([
    ['flagged', 'p.com', 'looked-at'],
  ]);
});

test('a listed name below one that comes to the panel is cleared, and flagged when that leaves', async () => {
  const listed = ['x.p.com', 'other.com'];
  const [out, inside]: [Of, Of] = [[listed], [listed, { popular: ['p.com'] }]];
  expect(await changes(out, inside)).toEqual([['cleared', 'x.p.com', 'simulated']]);
  expect(await changes(inside, out)).toEqual([['flagged', 'x.p.com', 'simulated']]);
});

/** As updates bring a rotating list: names shown on these days, those that are gone with the last of them. */
async function rotating(shown: Readonly<Record<string, readonly [since: number, last: number]>>) {
  const feed: Feed = { ...RULES, id: 'castle', kind: 'disposable', family: 'telemetry', rotates: 10 };
  const names = Object.keys(shown);
  const days = (at: 0 | 1) => Uint16Array.from(names, name => dayAt(NOW) + shown[name]![at]);
  const raw = takeSnapshot(feed, { version: '1', names });
  const since = days(0);
  const counts = { last: days(1), days: Uint8Array.from(names, () => 5) };
  const snapshot = allAtOnce(sealing(feed, { ...raw, since, shown: counts }));
  return catalogWith(snapshot);
}

test('a name that a rotating list shows no more is cleared when it leaves, as it is 60 then', async () => {
  const was = await rotating({ 'a.com': [-5, -1], 'b.com': [-5, -1] });
  const is = await rotating({ 'a.com': [-5, -1], 'b.com': [-5, 0] });
  const told = allAtOnce(comparing(was, is, NOW)).map(({ domain, change }) => [change, domain]);
  expect(told).toEqual([['cleared', 'a.com']]);
});

test('names of a list that was added anew as another kind are cleared, though they are the same', async () => {
  const feed: Feed = { ...RULES, id: 'ours', kind: 'disposable', family: 'verified' };
  const [was, is] = [feed, { ...feed, kind: 'protected' } as const].map(of =>
    catalogWith(takeSnapshot(of, { version: '1', names: ['a.com'] })),
  );
  const told = allAtOnce(comparing(was!, is!, NOW)).map(({ domain, change }) => [change, domain]);
  expect(told).toEqual([['cleared', 'a.com']]);
});

const listOf = (kind: FeedKind, names: readonly string[], family: Family = 'broad') =>
  takeSnapshot({ ...RULES, id: `${kind} ${family}`, kind, family }, { version: '1', names });
const told = (before: readonly Snapshot[], after: readonly Snapshot[]) => {
  const tables = parseTables(FEW_TABLES);
  const [was, is] = [before, after].map(lists => allAtOnce(makingCatalog(lists, tables, `${lists.length}`)));
  return allAtOnce(comparing(was!, is!, NOW)).map(({ domain, change }) => [change, domain]);
};

test.each<[string, FeedKind, readonly string[], string]>([
  ['a listed name below a university', 'academic', ['uni.com'], 'x.uni.com'],
  ['a listed university', 'academic', ['other-uni.com'], 'other-uni.com'],
  ['a listed name below one that is protected', 'protected', ['uni.com'], 'x.uni.com'],
  ['a name that is protected below a listed one', 'protected', ['x.cc.cd'], 'x.cc.cd'],
  ['a relay below a listed name', 'relay', ['x.cc.cd'], 'x.cc.cd'],
])('%s is cleared when that comes to a list, and flagged when it leaves', (_, kind, names, domain) => {
  const listed = listOf('disposable', ['x.uni.com', 'other-uni.com', 'cc.cd', 'stays.com']);
  const other = listOf(kind, ['elsewhere.org']);
  const more = listOf(kind, ['elsewhere.org', ...names]);
  expect(told([listed, other], [listed, more])).toEqual([['cleared', domain]]);
  expect(told([listed, more], [listed, other])).toEqual([['flagged', domain]]);
});

test('a listed name below a university is flagged when a verified list names the university', () => {
  const lists = [listOf('disposable', ['x.uni.com']), listOf('academic', ['uni.com'])];
  const [other, more] = [['elsewhere.org'], ['elsewhere.org', 'uni.com']].map(names =>
    listOf('disposable', names, 'verified'),
  );
  expect(told([...lists, other!], [...lists, more!])).toEqual([
    ['flagged', 'uni.com'],
    ['flagged', 'x.uni.com'],
  ]);
});

/** Names above and below each other, suffixes that give names away and of registries among them. */
const BASES = ['b0.com', 'b3.co.uk', 'mooo.com', 'github.io', 'cc.cd'];
const UNIVERSE = BASES.flatMap(base => [
  base,
  ...['a', 'm'].flatMap(one => [`${one}.${base}`, `x.${one}.${base}`]),
]);
const some = (most: number) => fc.subarray(UNIVERSE, { maxLength: most });
const LISTS = [
  ['disposable', 'broad'],
  ['disposable', 'telemetry'],
  ['disposable', 'verified'],
  ['popular', 'broad'],
  ['protected', 'broad'],
] as const;
const step = fc.oneof(
  fc.record({ list: fc.nat(LISTS.length - 1), names: some(6), days: fc.nat(12) }),
  fc.record({
    domain: fc.constantFrom(...UNIVERSE),
    action: fc.constantFrom('allow', 'deny', 'role', undefined),
    below: fc.boolean(),
    days: fc.nat(12),
    lasts: fc.option(fc.integer({ min: 1, max: 20 })),
  }),
);

/** As docs/lists.md says that a copy is kept. */
function isFlaggedIn(rows: readonly NumberedChange[], name: string): boolean {
  return rows.findLast(({ domain }) => name === domain || name.endsWith(`.${domain}`))?.change === 'flagged';
}

test('a copy that is kept by changes flags what lookups flag by lists, whatever comes, goes, is allowed or expires', () => {
  const tables = parseTables(FEW_TABLES);
  const property = fc.property(fc.array(step, { minLength: 1, maxLength: 10 }), steps => {
    const names: string[][] = LISTS.map(() => []);
    const overrides = new Map<string, Override>();
    const rows: NumberedChange[] = [];
    const catalogNow = () => {
      const snapshots = LISTS.map(([kind, family], at) => listOf(kind, names[at]!, family));
      const text = snapshots.map(({ digest }) => digest).join();
      return allAtOnce(makingCatalog(snapshots, tables, text, new Uint8Array(SEED_BYTES)));
    };
    let [now, looked, catalog] = [NOW, NOW, catalogNow()];
    const isSafe = (name: string) =>
      ['allow', 'role'].includes(findOverride(overrides, lineage(name), now)?.action ?? '');
    const isBy = (one: Catalog, name: string) => flaggedBy(one, name, dayAt(now)).length > 0;
    /** Below a name that is allowed without those below it, which are told with it. */
    const isAlone = (name: string) =>
      overrides
        .values()
        .some(
          ({ domain, below, action, expiresAt }) =>
            !below && action !== 'deny' && name.endsWith(`.${domain}`) && (expiresAt ?? Infinity) > now,
        );
    /** Below a suffix that many use: it is not flagged itself, and nothing tells of what is below it only (docs/lists.md). */
    const isBelowUsed = (name: string) =>
      BASES.some(base => name.endsWith(`.${base}`) && !isBy(catalog, base) && isBy(catalog, `q.q.${base}`));
    for (const one of steps) {
      now += one.days * 86_400_000;
      if ('list' in one) names[one.list] = one.names;
      else if (one.action === undefined) overrides.delete(one.domain);
      else {
        const { domain, action, below, lasts } = one;
        const expiresAt = lasts === null ? null : now + lasts * 86_400_000;
        overrides.set(domain, overrideOf(domain, { action, below, expiresAt }));
      }
      const next = catalogNow();
      const kept = rows.filter(({ at }) => at > looked - 30 * 86_400_000);
      const told = new Map(kept.map(row => [row.domain, row]));
      for (const change of allAtOnce(comparing(catalog, next, now, { told, overrides })))
        rows.push({ id: rows.length + 1, ...change });
      [catalog, looked] = [next, now];
      for (const name of UNIVERSE) {
        const truth = isBy(catalog, name) && !isSafe(name);
        // Of a suffix, and of what is allowed without what is below it, all below it are told.
        const below = isBy(catalog, `q.q.${name}`) && !isSafe(`q.q.${name}`);
        const since = rows.slice(rows.length >> 1);
        if (!truth && !below) expect([name, isFlaggedIn(since, name)]).toEqual([name, false]);
        if (truth === below && !isAlone(name) && !isBelowUsed(name))
          expect([name, isFlaggedIn(rows, name)]).toEqual([name, truth]);
      }
    }
  });
  fc.assert(property, { numRuns: 15 });
}, 60_000);
