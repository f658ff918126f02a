import { getDomain } from 'tldts';
import { describe, expect, it } from 'vitest';
import TABLE from '../data/suffixes.json' with { type: 'json' };
import type { Catalog } from '../src/core/catalog.ts';
import { dayAt } from '../src/core/days.ts';
import { type Domain, isGivenAway, parseDomain, registrableDomain } from '../src/core/domain.ts';
import type { Family, FeedKind, Snapshot } from '../src/core/feed.ts';
import { makingCatalog } from '../src/core/folding.ts';
import { keepingNames } from '../src/core/gate.ts';
import type { HostRecord } from '../src/core/guest.ts';
import { foldingInfra } from '../src/core/infra-folding.ts';
import { groupOf } from '../src/core/learnable.ts';
import type { Mail } from '../src/core/mail.ts';
import { takeSnapshot } from '../src/core/snapshot.ts';
import { allAtOnce } from '../src/core/steps.ts';
import { parseTables, type Tables } from '../src/core/tables.ts';
import { OFFLINE } from '../src/dns/offline.ts';
import { readTables } from '../src/feeds/tables.ts';
import { createLookup } from '../src/lookup.ts';
import { NO_TABLES } from './support/catalog.ts';
import { groupOfGuests } from './support/guests.ts';

/** Names below one suffix that belong to people who have nothing to do with each other. */
const NOW = Date.parse('2026-11-16T12:00:00Z');
const LONG_AGO = dayAt(NOW) - 400;

const TABLES: Tables = {
  ...NO_TABLES,
  protected: new Set(['eu.org', 'kept.com']),
  suffixes: new Set(['eu.org']),
};

const list = (
  id: string,
  names: readonly string[],
  {
    family = 'broad',
    kind = 'disposable',
    day = LONG_AGO,
  }: Partial<{ family: Family; kind: FeedKind; day: number }> = {},
): Snapshot =>
  keepingNames(
    takeSnapshot({ id, kind, family, licence: 'MIT', origin: id, atLeast: 0 }, { version: '1', names }),
    undefined,
    day,
  );
const byTwoFamilies = (names: readonly string[]) => [
  list('broad', names),
  list('seen', names, { family: 'telemetry' }),
];
const catalogOf = (...snapshots: Snapshot[]) => allAtOnce(makingCatalog(snapshots, TABLES, 'g'));

/** A host or a domain of hosts that was learned. */
const learned = (name: string): HostRecord => ({
  ...{ name, flagged: 20, innocent: 0, shared: false, forgotten: false },
  ...{ neighbours: ['burner.com'], lastDay: '2026-11-16', groups: [groupOfGuests(20)] },
});

async function look(catalog: Catalog, name: string, hosts: readonly string[], ...records: HostRecord[]) {
  const infra = allAtOnce(foldingInfra(records, catalog, '2026-11-16', () => ['5.61.9.9']));
  const exchanges = hosts.map((host, at) => ({ host, preference: at }));
  const mail: Mail = { state: 'mx', exchanges, stale: false };
  const { lookup } = createLookup({
    catalog: () => catalog,
    overrides: () => new Map(),
    resolver: { ...OFFLINE, peek: () => mail },
    clock: () => NOW,
    infra: () => infra,
    note: () => {},
    meet: () => true,
  });
  const { verdict } = await lookup(name as Domain, 'key');
  return [verdict.riskScore, verdict.signals[0]!.signal, verdict.isCorporateEmail];
}

describe('the table of shared suffixes', () => {
  const names = Object.values(TABLE.suffixes).flat();

  it('has names as they are registered, each once, that the public suffix list does not have', () => {
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) {
      expect(parseDomain(name)).toEqual({ ok: true, domain: name });
      expect(getDomain(`b.${name}`, { allowPrivateDomains: true }), name).toBe(name);
      expect(registrableDomain(`a.b.${name}`), name).toBe(`b.${name}`);
      expect(registrableDomain(name), name).toBeUndefined();
    }
  });

  it('tells which of the registries that the public suffix list has are free', () => {
    for (const name of Object.values(TABLE.freeRegistries).flat()) {
      expect(getDomain(name, { allowPrivateDomains: true }), name).toBeNull();
      expect(isGivenAway(name), name).toBe(true);
    }
    expect(isGivenAway('uk.com')).toBe(false);
  });

  it.each([
    'fortiddns.com',
    'hosted-by-vdsina.com',
    'mooo.com',
    'us.to',
    'uk.to',
    'chickenkiller.com',
    'dns.army',
    'v6.army',
    'zzux.com',
    'kro.kr',
  ])('knows %s', name => expect(names).toContain(name));

  it('agrees with the protected names: a suffix there is one by either list, and a name there by none', async () => {
    const tables = parseTables(await readTables());
    for (const name of tables.protected)
      expect(registrableDomain(name) === undefined, name).toBe(tables.suffixes.has(name));
  });
});

describe('hosts below a suffix that is given to anybody', () => {
  const catalog = catalogOf(...byTwoFamilies(['mooo.com', 'burner.com']));

  it('are not one domain of hosts', () => {
    expect(groupOf('mx.bad.mooo.com')).toBe('*.bad.mooo.com');
    expect(groupOf('bad.mooo.com')).toBe('*.bad.mooo.com');
  });

  it('are not blamed for the suffix, though two families name that', async () => {
    expect(await look(catalog, 'firm.com', ['home.mooo.com'])).toEqual([20, 'third_party', false]);
    expect(await look(catalog, 'firm.com', ['mx.burner.com'])).toEqual([82, 'listed_exchange', false]);
  });

  it('are no hosts of a domain of their own for another customer', async () => {
    const unlisted = catalogOf(...byTwoFamilies(['burner.com']));
    expect(await look(unlisted, 'me.us.to', ['mx.me.us.to'])).toEqual([15, 'self_hosted', true]);
    expect(await look(unlisted, 'me.us.to', ['mx.other.us.to'])).toEqual([20, 'third_party', false]);
  });
});

describe('a suffix that is given to anybody', () => {
  it('that one family names lately warns of those below it, and blocks nobody', async () => {
    const young = catalogOf(list('broad', ['mooo.com'], { day: dayAt(NOW) - 3 }));
    expect(await look(young, 'me.mooo.com', ['mx.some-host.net'])).toEqual([60, 'new_listing', false]);
  });

  it('that many people use clears none of those below it', async () => {
    const catalog = catalogOf(
      list('popular', ['us.to', 'popular.com'], { kind: 'popular' }),
      list('broad', ['bad.us.to', 'bad.popular.com']),
    );
    expect(await look(catalog, 'bad.us.to', ['mx.some-host.net'])).toEqual([95, 'one_family', false]);
    expect(await look(catalog, 'bad.popular.com', ['mx.some-host.net'])).toEqual([
      45,
      'popular_listing',
      false,
    ]);
  });
});

describe('on learned hosts', () => {
  const host = 'mx.operator.net';
  const catalog = catalogOf(
    ...byTwoFamilies(['burner.com']),
    list('register', ['uni-of-x.com', 'uni.ac.za', 'ruhr-uni-bochum.de'], { kind: 'academic' }),
    list('relays', ['so-called-relay.com'], { kind: 'relay' }),
  );

  it.each<[string, string, boolean]>([
    ['a protected name', 'kept.com', false],
    ['what its owner has below it', 'shop.kept.com', false],
    ['a university, by its suffix too', 'uni.ac.za', false],
    ['what it has below it', 'alumni.uni.ac.za', false],
    ['an authority, by its registry', 'news.town.gov.uk', false],
    ['what one list calls a university', 'uni-of-x.com', true],
    ['what one list calls a relay', 'so-called-relay.com', true],
    ['a protected registry itself', 'eu.org', false],
    ['a customer of a protected registry', 'fresh.eu.org', true],
    ['a name of such a customer', 'mail.fresh.eu.org', true],
    ['a name below a university that gives them to others', 'fresh.ruhr-uni-bochum.de', true],
    ['anybody else', 'fresh.com', true],
  ])('%s (%s) is flagged: %s', async (_, name, isFlagged) => {
    const [score] = await look(catalog, name, [host], learned(host));
    expect(score).toBe(isFlagged ? 84 : 20);
  });
});

describe('one line in a list of relays, universities or free providers', () => {
  const kinds: [FeedKind][] = [['relay'], ['academic'], ['free']];
  const line = (kind: FeedKind, name: string) => list(kind, [name], { kind });

  it.each(kinds)('of kind %s does not spare what two families name', async kind => {
    const catalog = catalogOf(...byTwoFamilies(['evil.com']), line(kind, 'evil.com'));
    expect(await look(catalog, 'evil.com', ['mx.evil.com'])).toEqual([100, 'two_families', false]);
  });

  it.each(kinds)('of kind %s does not spare a host below it', async kind => {
    const catalog = catalogOf(...byTwoFamilies(['burner.com']), line(kind, 'evil.net'));
    const [score] = await look(catalog, 'other.com', ['mx.evil.net'], learned('mx.evil.net'));
    expect(score).toBe(84);
  });
});
