import { expect, it } from 'vitest';
import type { Family, FeedKind, Snapshot } from '../../src/core/feed.ts';
import { makingCatalog } from '../../src/core/folding.ts';
import { LEARNING } from '../../src/core/guest.ts';
import { siblingsIn } from '../../src/core/siblings.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import type { Tables } from '../../src/core/tables.ts';
import { NO_TABLES } from '../support/catalog.ts';

const TABLES: Tables = {
  ...NO_TABLES,
  providers: [{ suffix: 'hoster.com', label: 'Hoster', class: 'hosting' }],
  protected: new Set(['kept.com', 'eu.org']),
  suffixes: new Set(['eu.org']),
  free: { ...NO_TABLES.free, add: new Set(['webmail.com']) },
};

const list = (
  id: string,
  names: readonly string[],
  kind: FeedKind = 'disposable',
  family: Family = 'broad',
) => takeSnapshot({ id, kind, family, licence: 'MIT', origin: id, atLeast: 0 }, { version: '1', names });

/** What two families of feeds name. */
const listed = (names: readonly string[]) => [
  list('broad', names),
  list('seen', names, 'disposable', 'telemetry'),
];

// Made in each test: the siblings of a catalog are looked for once.
const catalogOf = (snapshots: readonly Snapshot[]) => allAtOnce(makingCatalog(snapshots, TABLES, 'g'));
const siblingsOf = (snapshots: readonly Snapshot[]) =>
  Object.fromEntries(allAtOnce(siblingsIn(catalogOf(snapshots))));

it('listed names speak against the registered domain that they are below', () => {
  expect(siblingsOf(listed(['a.farm.net', 'x.b.farm.net', 'c.farm.co.uk', 'me.github.io']))).toEqual({
    'farm.net': ['a.farm.net', 'x.b.farm.net'],
    'farm.co.uk': ['c.farm.co.uk'],
  });
});

it.each<[string, string[]]>([
  ['a registered domain, against itself,', ['farm.net', 'farm.co.uk']],
  ['a shared suffix, against its customers,', ['s3.amazonaws.com', 'blogspot.com']],
  ['a customer of a shared suffix, against the others,', ['a.blogspot.com', 'b.blogspot.com']],
])('%s says nothing', (_, names) => {
  expect(siblingsOf(listed(names))).toEqual({});
});

it('that a registry is protected spares none of its customers', () => {
  expect(siblingsOf(listed(['a.club.eu.org', 'b.club.eu.org']))).toEqual({
    'club.eu.org': ['a.club.eu.org', 'b.club.eu.org'],
  });
});

it('names of one family speak against nobody, nor do those of a verified list alone: two lines of it are soon written', () => {
  expect(siblingsOf([list('broad', ['a.farm.net']), list('other', ['a.farm.net'])])).toEqual({});
  expect(siblingsOf([list('best', ['a.isp.net', 'b.isp.net'], 'disposable', 'verified')])).toEqual({});
});

it('what another family says of the suffix above it does not make two of one', () => {
  const suffix = list('seen', ['github.io'], 'disposable', 'telemetry');
  expect(siblingsOf([list('broad', ['a.me.github.io', 'b.me.github.io']), suffix])).toEqual({});
});

it.each<[string, string[]]>([
  ['consumer webmail', ['a.webmail.com']],
  ['what many people use', ['a.popular.com']],
  ['what people protect', ['a.kept.com']],
  ['a protected registry', ['club.eu.org']],
  ['a university in a register, by its suffix too', ['a.uni-of-x.edu.cn']],
  ['a school, by its registry', ['a.school.edu']],
  ['whoever runs mail servers', ['a.hoster.com']],
])('nobody speaks against %s', (_, names) => {
  const others = [
    list('popular', ['popular.com'], 'popular'),
    list('register', ['uni-of-x.edu.cn', 'box.edu.pl'], 'academic'),
  ];
  expect(siblingsOf([...listed([...names, 'a.farm.net']), ...others])).toEqual({
    'farm.net': ['a.farm.net'],
  });
});

it('one line in a register of universities spares nobody below a suffix that is sold to anybody', () => {
  const register = list('register', ['box.edu.pl'], 'academic');
  expect(siblingsOf([...listed(['a.box.edu.pl', 'b.box.edu.pl']), register])).toEqual({
    'box.edu.pl': ['a.box.edu.pl', 'b.box.edu.pl'],
  });
});

it('of one domain as many are kept as an answer may show, the first of the list', () => {
  const names = Array.from({ length: LEARNING.neighbours + 2 }, (_, at) => `n${at}.farm.net`);
  expect(siblingsOf(listed(names))).toEqual({ 'farm.net': names.slice(0, LEARNING.neighbours) });
});

it('are looked for in steps of 20 names, and once for each catalog', () => {
  const looking = (count: number) => {
    const catalog = catalogOf(listed(Array.from({ length: count }, (_, at) => `d${at}.com`)));
    let steps = 0;
    for (const _ of siblingsIn(catalog)) steps++;
    return steps;
  };
  expect([1, 19, 20, 40].map(looking)).toEqual([0, 0, 1, 2]);
  const catalog = catalogOf(listed(['a.farm.net']));
  expect(allAtOnce(siblingsIn(catalog))).toBe(allAtOnce(siblingsIn(catalog)));
});
