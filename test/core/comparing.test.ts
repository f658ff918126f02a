import { expect, test } from 'vitest';
import { comparing } from '../../src/core/comparing.ts';
import { dayAt } from '../../src/core/days.ts';
import type { Family, Feed, FeedKind, Snapshot } from '../../src/core/feed.ts';
import { makingCatalog } from '../../src/core/folding.ts';
import { SEED_BYTES } from '../../src/core/names.ts';
import { sealing, takeSnapshot } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { parseTables } from '../../src/core/tables.ts';
import { catalogOf } from '../support/catalog.ts';
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

test('a name below a listed one is told when that is withdrawn, and one that was withdrawn before it is cleared then', async () => {
  expect(await changes([['cc.cd', 'x.cc.cd']], [['x.cc.cd']])).toEqual([
    ['cleared', 'cc.cd', 'simulated'],
    ['flagged', 'x.cc.cd', 'simulated'],
  ]);
  // In its place, so that whoever follows has it until then.
  expect(await changes([['x.cc.cd']], [['cc.cd']])).toEqual([
    ['flagged', 'x.cc.cd', 'simulated'],
    ['flagged', 'cc.cd', 'simulated'],
  ]);
  const [was, is] = [await catalogOf(['cc.cd']), await catalogOf(['other.com'])];
  const last = { id: 7, domain: 'x.cc.cd', change: 'flagged', at: NOW, feeds: ['simulated'] } as const;
  const told = allAtOnce(comparing(was, is, NOW, new Map([[last.domain, last]])));
  expect(told.map(({ domain, change }) => [change, domain])).toEqual([
    ['cleared', 'cc.cd'],
    ['flagged', 'other.com'],
    ['cleared', 'x.cc.cd'],
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
