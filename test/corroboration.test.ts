import { describe, expect, it } from 'vitest';
import type { Catalog } from '../src/core/catalog.ts';
import { dayAt, dayText } from '../src/core/days.ts';
import { type Domain, lineage } from '../src/core/domain.ts';
import type { Family, Feed, Snapshot } from '../src/core/feed.ts';
import { makingCatalog } from '../src/core/folding.ts';
import { keepingNames, problemsOf } from '../src/core/gate.ts';
import { Infra } from '../src/core/infra.ts';
import { MAIL_UNKNOWN, type Mail } from '../src/core/mail.ts';
import type { Resolver } from '../src/core/ports.ts';
import { takeSnapshot } from '../src/core/snapshot.ts';
import { allAtOnce } from '../src/core/steps.ts';
import type { Tables } from '../src/core/tables.ts';
import { OFFLINE } from '../src/dns/offline.ts';
import { type Answer, createLookup } from '../src/lookup.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-15T12:00:00Z');
const TODAY = dayAt(NOW);

const TABLES: Tables = {
  providers: [
    { suffix: 'platform.net', label: 'Platform', class: 'business_platform' },
    { suffix: 'gateway.net', label: 'Gateway', class: 'security_gateway' },
    { suffix: 'webmail.net', label: 'Webmail', class: 'consumer_webmail' },
  ],
  mailboxes: new Map([['gmail.com', { label: 'Gmail', class: 'consumer_webmail', canary: true }]]),
  protected: new Set(),
  suffixes: new Set(),
  relays: new Map(),
  free: { add: new Set(), remove: new Set() },
  roles: new Set(),
};

function feedOf(id: string, family: Family, facts: Partial<Feed> = {}): Feed {
  return { id, kind: 'disposable', family, licence: 'MIT', origin: id, atLeast: 0, ...facts };
}
const BROAD = feedOf('broad', 'broad');
const OTHER_BROAD = feedOf('other-broad', 'broad');
const SEEN = feedOf('seen', 'telemetry');
const LOOKED_AT = feedOf('looked-at', 'verified');
const POPULAR = feedOf('popular', 'broad', { kind: 'popular' });

const list = (feed: Feed, names: readonly string[], day = TODAY): Snapshot =>
  keepingNames(takeSnapshot(feed, { version: '1', names }), undefined, day);
const catalogOf = (...snapshots: Snapshot[]) => allAtOnce(makingCatalog(snapshots, TABLES, 'g'));

const mx = (...hosts: string[]): Mail => ({
  state: 'mx',
  exchanges: hosts.map((host, at) => ({ host, preference: at })),
  stale: false,
});

/** Whose mail is received where; a name that is not there does not exist, and `null` is never answered. */
type Zone = Readonly<Record<string, Mail | null>>;

function world(catalog: Catalog, zone: Zone | ((name: string) => Mail), facts: { silent?: boolean } = {}) {
  const asked: string[] = [];
  const noted: [string, string | null][] = [];
  const time = { now: NOW };
  const state = { catalog, silent: facts.silent ?? true };
  const kept = new Map<string, Mail>();
  const answerOf = (name: string): Mail => {
    if (typeof zone === 'function') return zone(name);
    const mail = zone[name];
    return mail === null ? MAIL_UNKNOWN : (mail ?? { state: 'nxdomain', exchanges: [], stale: false });
  };
  const resolver: Resolver = {
    ...OFFLINE,
    peek: name => kept.get(name),
    last: name => kept.get(name),
    resolve: async name => {
      asked.push(`wait ${name}`);
      return answerOf(name);
    },
    prefetch: name => {
      asked.push(`later ${name}`);
      kept.set(name, answerOf(name));
    },
    isSilent: () => state.silent,
  };
  const infra = new Infra(new Map(), new Map(), () => undefined);
  const overrides = new Map();
  const { lookup, last } = createLookup({
    catalog: () => state.catalog,
    overrides: () => overrides,
    resolver,
    clock: () => time.now,
    infra: () => infra,
    note: (name, _, listed) => void noted.push([name, listed?.entry ?? null]),
    meet: () => true,
  });
  return {
    asked,
    noted,
    time,
    state,
    kept,
    look: async (name: string) => lookup(name as Domain, 'key'),
    last: (name: string) => last(name as Domain),
  };
}

const score = ({ verdict }: Answer) => [verdict.riskScore, verdict.reason];

describe('what a caller is told of a listed name', () => {
  const zone: Zone = {
    'on-platform.com': mx('mx1.platform.net', 'mx2.gateway.net'),
    'on-own.com': mx('mx.on-own.com'),
    'mixed.com': mx('mx1.platform.net', 'mx.on-some-host.net'),
    'elsewhere.com': mx('mx.some-host.net'),
    'webmail.com': mx('mx.webmail.net'),
    'silent.com': null,
  };
  const names = [...Object.keys(zone), 'gone.com'];
  const YOUNG = TODAY - 29;
  const OLD = TODAY - 30;

  it.each<[string, readonly Snapshot[], string, number, string]>([
    ['a verified feed', [list(LOOKED_AT, names)], 'on-platform.com', 100, 'later'],
    ['two families', [list(BROAD, names), list(SEEN, names)], 'on-platform.com', 100, 'later'],
    ['two feeds of one family', [list(BROAD, names), list(OTHER_BROAD, names)], 'on-own.com', 60, 'wait'],
    ['a broad feed, for 30 days', [list(BROAD, names, OLD)], 'on-platform.com', 95, 'later'],
    ['a broad feed, for less', [list(BROAD, names, YOUNG)], 'on-platform.com', 60, 'wait'],
    ['a broad feed, for less', [list(BROAD, names, YOUNG)], 'on-own.com', 60, 'wait'],
    ['a broad feed, for less', [list(BROAD, names, YOUNG)], 'mixed.com', 95, 'wait'],
    ['a broad feed, for less', [list(BROAD, names, YOUNG)], 'elsewhere.com', 95, 'wait'],
    ['a broad feed, for less', [list(BROAD, names, YOUNG)], 'webmail.com', 95, 'wait'],
    ['a broad feed, for less', [list(BROAD, names, YOUNG)], 'gone.com', 95, 'wait'],
    ['a broad feed, for less', [list(BROAD, names, YOUNG)], 'silent.com', 90, 'wait'],
    ['telemetry, for 30 days', [list(SEEN, names, OLD)], 'on-platform.com', 95, 'later'],
    ['telemetry, for less', [list(SEEN, names, YOUNG)], 'on-platform.com', 60, 'wait'],
    ['telemetry, for less', [list(SEEN, names, YOUNG)], 'on-own.com', 95, 'wait'],
    ['telemetry, for less', [list(SEEN, names, YOUNG)], 'elsewhere.com', 95, 'wait'],
    [
      'an old broad feed and a young one',
      [list(BROAD, names, OLD), list(OTHER_BROAD, names, YOUNG)],
      'on-platform.com',
      95,
      'later',
    ],
  ])('%s: %#', async (_, snapshots, name, points, asks) => {
    const { look, asked } = world(catalogOf(...snapshots), zone);
    expect(score(await look(name))).toEqual([points, 'disposable']);
    expect(asked).toEqual([`${asks} ${name}`]);
  });

  it('is 45 for what our own tables know as free, though there is no panel yet', async () => {
    const ours = 'webmail.net';
    const at = { [ours]: mx('mx.some-host.net'), [`x.${ours}`]: mx('mx.some-host.net') };
    const told = async (...snapshots: Snapshot[]) => {
      const { look } = world(catalogOf(...snapshots), at);
      return [score(await look(ours)), score(await look(`x.${ours}`))];
    };
    const [safe, blocked] = [
      [45, 'safe'],
      [100, 'disposable'],
    ];
    for (const day of [OLD, YOUNG]) {
      expect(await told(list(BROAD, [ours], day))).toEqual([safe, safe]);
      expect(await told(list(SEEN, [ours], day))).toEqual([safe, safe]);
      const below = await told(list(BROAD, [`x.${ours}`], day), list(SEEN, [`x.${ours}`], day));
      expect(below[1]).toEqual(safe);
    }
    expect(await told(list(LOOKED_AT, [ours]))).toEqual([blocked, blocked]);
  });

  it('is not spared because lists of one family call it or its parent free', async () => {
    const free = ['free', 'copy'].map(id => list(feedOf(id, 'broad', { kind: 'free' }), names));
    const listed = list(BROAD, [...names, 'x.unlisted.com'], OLD);
    const unlisted = list(feedOf('more', 'broad', { kind: 'free' }), ['unlisted.com']);
    const { look } = world(catalogOf(listed, ...free, unlisted), zone);
    expect(score(await look('elsewhere.com'))).toEqual([95, 'disposable']);
    expect(score(await look('x.unlisted.com'))).toEqual([95, 'disposable']);
  });

  it.each<[string, Feed, number, number, number]>([
    ['one family, for less than 30 days', BROAD, YOUNG, 60, 60],
    ['what was seen in abuse, for less than 30 days', SEEN, YOUNG, 60, 60],
    ['one family, for 30 days', BROAD, OLD, 90, 60],
    ['a verified feed', LOOKED_AT, OLD, 100, 60],
  ])(
    'below a public suffix that is named by %s, where names are given away and where not',
    async (_, feed, day, free, registry) => {
      for (const [suffix, points] of [
        ['duckdns.org', free],
        ...['github.io', 'notaires.fr', 'seattle.wa.us', 'mygov.scot'].map(one => [one, registry] as const),
      ] as const) {
        const { look } = world(catalogOf(list(feed, [suffix], day)), {
          [`acme.${suffix}`]: mx('mx.some-host.net'),
        });
        expect(score(await look(`acme.${suffix}`)), suffix).toEqual([points, 'disposable']);
      }
    },
  );

  it('below a registry that two families name, it is blocked', async () => {
    const { look } = world(catalogOf(list(BROAD, ['notaires.fr']), list(LOOKED_AT, ['notaires.fr'])), {});
    const answer = await look('acme.notaires.fr');
    expect(score(answer)).toEqual([100, 'disposable']);
    // It gives no names away.
    expect(answer.verdict.signals.map(({ signal }) => signal)).toEqual(['verified_list', 'dead_name']);
  });

  it('is 60 and not 90 where DNS does not answer and that may be no fault of the name', async () => {
    const { look, state } = world(catalogOf(list(BROAD, names)), zone, { silent: false });
    expect(score(await look('silent.com'))).toEqual([60, 'disposable']);
    state.silent = true;
    expect(score(await look('silent.com'))).toEqual([90, 'disposable']);
  });

  it('turns with the resolvers also where the silence is remembered', async () => {
    const { look, state, kept } = world(catalogOf(list(BROAD, names)), zone, { silent: true });
    kept.set('silent.com', MAIL_UNKNOWN);
    expect(score(await look('silent.com'))).toEqual([90, 'disposable']);
    state.silent = false;
    expect(score(await look('silent.com'))).toEqual([60, 'disposable']);
  });

  it('grows with the day on which the listing is a month old, for a name that is asked for again too', async () => {
    const { look, kept, time } = world(catalogOf(list(BROAD, names)), zone);
    kept.set('on-platform.com', zone['on-platform.com']!);
    const scores: unknown[] = [];
    for (const day of [0, 29, 30]) {
      time.now = NOW + day * DAY_MS;
      scores.push(score(await look('on-platform.com'))[0]);
    }
    expect(scores).toEqual([60, 60, 95]);
  });

  it('is not degraded, in whatever way DNS fails', async () => {
    const { look } = world(catalogOf(list(BROAD, names)), zone, { silent: false });
    expect((await look('silent.com')).degraded).toBe(false);
  });

  it('without a question tells what the last outcome says', () => {
    const { last, kept, asked } = world(catalogOf(list(BROAD, names)), zone);
    expect(score(last('on-platform.com'))).toEqual([90, 'disposable']);
    kept.set('on-platform.com', zone['on-platform.com']!);
    expect(score(last('on-platform.com'))).toEqual([60, 'disposable']);
    expect(asked).toEqual([]);
  });
});

describe('a listed name that many people use', () => {
  const popular = list(POPULAR, ['shop.com']);
  const zone: Zone = { 'shop.com': mx('mx.somewhere.net'), 'mail.shop.com': mx('mx.shop.com') };

  it.each<[string, readonly Snapshot[]]>([
    ['a broad feed, for long', [list(BROAD, ['shop.com'], TODAY - 400)]],
    ['telemetry', [list(SEEN, ['shop.com'])]],
    ['both', [list(BROAD, ['shop.com'], TODAY - 400), list(SEEN, ['shop.com'], TODAY - 400)]],
  ])('is safe, 45, with the listing shown: by %s', async (_, lists) => {
    const { look, asked, noted } = world(catalogOf(popular, ...lists), zone);
    for (const name of ['shop.com', 'mail.shop.com']) {
      const answer = await look(name);
      expect(score(answer)).toEqual([45, 'safe']);
      expect(answer.verdict.signals).toMatchObject([{ signal: 'popular_listing', points: 45 }]);
      expect(answer.evidence.lists).toHaveLength(lists.length);
      expect(answer.flag).toBeUndefined();
    }
    expect(asked).toEqual(['later shop.com', 'later mail.shop.com']);
    // As an innocent guest of whoever receives its mail.
    expect(noted.map(([, entry]) => entry)).toEqual([null, null]);
  });

  it('is flagged where a verified feed names it or what is asked below it', async () => {
    const itself = world(catalogOf(popular, list(LOOKED_AT, ['shop.com'])), zone);
    expect(score(await itself.look('shop.com'))).toEqual([100, 'disposable']);
    const below = world(catalogOf(popular, list(LOOKED_AT, ['mail.shop.com'])), zone);
    expect(score(await below.look('mail.shop.com'))).toEqual([100, 'disposable']);
    expect(below.noted).toEqual([['mail.shop.com', 'mail.shop.com']]);
  });

  it('is not flagged where a verified feed names only the suffix above it', async () => {
    const poisoned = list(LOOKED_AT, ['duckdns.org']);
    const { look, noted } = world(catalogOf(list(POPULAR, ['project.duckdns.org']), poisoned), {});
    expect(score(await look('project.duckdns.org'))).toEqual([45, 'safe']);
    expect(score(await look('www.project.duckdns.org'))).toEqual([45, 'safe']);
    expect(score(await look('other.duckdns.org'))).toEqual([100, 'disposable']);
    expect(noted).toContainEqual(['project.duckdns.org', null]);
    expect(noted).toContainEqual(['other.duckdns.org', 'duckdns.org']);
  });

  it.each([BROAD, SEEN])('is not flagged either where $id names it itself beside that', async feed => {
    const lists = [list(LOOKED_AT, ['duckdns.org']), list(feed, ['project.duckdns.org'], TODAY - 400)];
    const { look, noted } = world(catalogOf(list(POPULAR, ['project.duckdns.org']), ...lists), {});
    const { verdict, evidence } = await look('project.duckdns.org');
    expect([verdict.riskScore, verdict.reason]).toEqual([45, 'safe']);
    expect(verdict.signals[0]?.detail).toMatch(
      new RegExp(`^project\\.duckdns\\.org is in ${feed.id}, but many`),
    );
    expect(evidence.otherLists).toMatchObject([{ feed: 'looked-at', entry: 'duckdns.org' }]);
    expect(noted).toEqual([['project.duckdns.org', null]]);
  });

  it('is flagged again when the popularity list is gone', async () => {
    const { look, state } = world(catalogOf(popular, list(BROAD, ['shop.com'], TODAY - 30)), zone);
    expect(score(await look('shop.com'))).toEqual([45, 'safe']);
    state.catalog = catalogOf(list(BROAD, ['shop.com'], TODAY - 30));
    expect(score(await look('shop.com'))).toEqual([95, 'disposable']);
  });

  it('is safe, 45, also where it is a public suffix itself, with customers below it, unless it gives names away', async () => {
    const suffixes = ['freedesktop.org', 'surge.sh', 'github.io'];
    const listed = list(BROAD, [...suffixes, 'duckdns.org'], TODAY - 400);
    const used = list(POPULAR, [...suffixes, 'duckdns.org']);
    const { look, noted } = world(catalogOf(used, listed), {});
    for (const name of suffixes) expect(score(await look(name)), name).toEqual([45, 'safe']);
    expect(noted.map(([, entry]) => entry)).toEqual([null, null, null]);
    expect(score(await look('duckdns.org'))).toEqual([95, 'disposable']);
    // Strangers' names below it are no part of it.
    expect(score(await look('acme.surge.sh'))[1]).toBe('disposable');
  });

  it('has hosts of its own below a public suffix that it is itself', async () => {
    const young = list(BROAD, ['freedesktop.org', 'duckdns.org'], TODAY - 2);
    const own = { 'freedesktop.org': mx('mx.freedesktop.org'), 'duckdns.org': mx('mx.duckdns.org') };
    const { look } = world(catalogOf(young), own);
    expect(score(await look('freedesktop.org'))).toEqual([60, 'disposable']);
    expect(score(await look('duckdns.org'))).toEqual([95, 'disposable']);
    const unlisted = await world(catalogOf(), own).look('freedesktop.org');
    expect(unlisted.verdict).toMatchObject({ isCorporateEmail: true, mxProviderLabel: 'Self-hosted' });
  });

  it('does not speak for strangers below a private suffix', async () => {
    const lists = [list(POPULAR, ['duckdns.org', 'x.duckdns.org']), list(BROAD, ['duckdns.org'], TODAY - 30)];
    const { look } = world(catalogOf(...lists), {});
    expect(score(await look('y.duckdns.org'))).toEqual([90, 'disposable']);
    expect(score(await look('x.duckdns.org'))).toEqual([45, 'safe']);
  });
});

describe('what lists say of a name, and of the suffix above it, is judged apart', () => {
  const zone = { 'acme.notaires.fr': mx('mx.platform.net'), 'acme.duckdns.org': mx('mx.platform.net') };
  const [named, young, old] = ['acme.notaires.fr', TODAY - 2, TODAY - 400];

  it.each([
    ['a verified list of the suffix', list(LOOKED_AT, ['notaires.fr'], old)],
    ['another family of the suffix', list(SEEN, ['notaires.fr'], old)],
  ])('and not added up: %s, one new line about the name', async (_, above) => {
    const { look } = world(catalogOf(above, list(BROAD, [named], young)), zone);
    const { verdict } = await look(named);
    expect(verdict).toMatchObject({ riskScore: 60, reason: 'disposable', mxProviderLabel: 'Platform' });
    expect(verdict.signals[0]?.detail).toBe(
      'acme.notaires.fr is in broad only, for less than 30 days: not confirmed yet',
    );
  });

  it('also where one list names both: the name is as new as its own line', async () => {
    const before = list(BROAD, ['notaires.fr'], old);
    const both = takeSnapshot(BROAD, { version: '2', names: ['notaires.fr', named] });
    const { look } = world(catalogOf(keepingNames(both, before, young)), zone);
    expect(score(await look(named))).toEqual([60, 'disposable']);
  });

  it('the heavier counts, so that a line of its own spares nobody', async () => {
    const above = list(LOOKED_AT, ['duckdns.org'], old);
    const { look } = world(catalogOf(above, list(BROAD, ['acme.duckdns.org'], young)), zone);
    const { verdict, evidence } = await look('acme.duckdns.org');
    expect(verdict.riskScore).toBe(100);
    expect(verdict.signals[0]?.detail).toBe('duckdns.org is in looked-at');
    expect(evidence.otherLists).toMatchObject([{ feed: 'broad', entry: 'acme.duckdns.org' }]);
    const seen = world(
      catalogOf(list(SEEN, ['duckdns.org'], old), list(BROAD, ['acme.duckdns.org'], young)),
      zone,
    );
    expect(score(await seen.look('acme.duckdns.org'))).toEqual([90, 'disposable']);
    const own = world(catalogOf(above, list(LOOKED_AT, ['acme.duckdns.org'], young)), zone);
    expect((await own.look('acme.duckdns.org')).verdict.signals[0]?.detail).toBe(
      'acme.duckdns.org is in looked-at',
    );
  });
});

describe('what kind of a listed name it is', () => {
  const names = ['cc.cd', 'gmial.com', 'gone.com', 'spam.com'];
  it.each([
    ['x.cc.cd', ['one_family', 'subdomain_farm'], 90],
    ['gmial.com', ['one_family', 'own_listing', 'typo_domain'], 95],
    ['gone.com', ['one_family', 'own_listing', 'dead_name'], 95],
    ['spam.com', ['one_family', 'own_listing'], 95],
  ])('stands in the evidence of %s', async (name, signals, points) => {
    const catalog = catalogOf(list(BROAD, names, TODAY - 30));
    const { look, kept } = world(catalog, {});
    const mail = name === 'gone.com' ? 'nxdomain' : 'implicit_mx';
    kept.set(name, { state: mail, exchanges: [], stale: false });
    const { verdict } = await look(name);
    expect(verdict.signals.map(({ signal }) => signal)).toEqual(signals);
    expect(verdict.riskScore).toBe(points);
  });
});

/** Ten times what was tried in November 2026, when one poisoned list blocked two innocent names for a year. */
describe('a poisoned list that passes the gate', () => {
  const many = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, at) => `${prefix}${at}.com`);
  const used = ['deutsche-bank.de', 'stadt-koeln.de', ...many(100, 'used-')];
  const onPlatform = many(100, 'on-platform-');
  const onOwn = many(100, 'on-own-');
  const innocents = [...used, ...onPlatform, ...onOwn];
  const zone = (name: string): Mail => {
    if (name.startsWith('on-platform-')) return mx('mx1.platform.net');
    if (name.startsWith('on-own-')) return mx(`mx1.${name}`, `mx2.${name}`);
    return name.startsWith('used-') ? mx('mx.third-party.net') : mx(`mx.${name}`, 'mx.db.com');
  };
  const popular = list(POPULAR, used);
  const castle = feedOf('castle', 'telemetry', { rotates: 1_000, atLeast: 500 });
  const CLEAN = many(1_000, 'spam-');
  const CANARIES = new Set(['gmail.com']);

  function updated(feed: Feed, names: readonly string[], inUse: Snapshot, day: number): Snapshot {
    const fresh = takeSnapshot(feed, { version: dayText(day)!, names });
    const never = () => false;
    const no = {
      ...{ isClearable: never, isNoWebmail: never },
      ...{ innocentOf: () => undefined, innocentBelow: () => undefined },
    };
    expect(problemsOf(fresh, inUse, { ...no, canaries: CANARIES, today: day })).toEqual([]);
    return keepingNames(fresh, inUse, day);
  }
  async function blocked(catalog: Catalog, names: readonly string[], at = NOW): Promise<string[]> {
    const { look, time } = world(catalog, zone);
    time.now = at;
    const answers = await Promise.all(names.map(async name => [name, (await look(name)).verdict] as const));
    return answers.filter(([, { riskScore }]) => riskScore >= 80).map(([name]) => name);
  }

  it.each<[string, Feed, readonly string[]]>([
    ['a broad list', feedOf('large', 'broad', { atLeast: 500 }), innocents],
    ['the list of what is seen in abuse', castle, [...used, ...onPlatform]],
  ])('%s blocks nobody, and all is right again after one clean update', async (_, feed, poison) => {
    const before = list(feed, CLEAN, TODAY - 90);
    const poisoned = updated(feed, [...CLEAN.slice(0, 900), ...poison], before, TODAY);
    for (const name of poison) expect(poisoned.names).toContain(name);
    expect(await blocked(catalogOf(popular, poisoned), poison)).toEqual([]);
    const healed = updated(feed, CLEAN, poisoned, TODAY + 1);
    expect(poison.filter(name => healed.names.includes(name))).toEqual([]);
    const catalog = catalogOf(popular, healed);
    expect(poison.flatMap(name => catalog.listed(lineage(name)).hits)).toEqual([]);
    // What it named rightly it names on, for as long as before.
    expect(await blocked(catalog, CLEAN.slice(0, 50), NOW + DAY_MS)).toHaveLength(50);
  });

  it('that stays so for days and is healed then blocks nobody any more, however long it is kept', async () => {
    let castled = list(castle, CLEAN, TODAY - 90);
    const elsewhere = many(20, 'elsewhere-');
    const poison = [
      ...innocents.slice(0, 50),
      ...onPlatform.slice(0, 50),
      ...onOwn.slice(0, 50),
      ...elsewhere,
    ];
    for (const day of [0, 1, 2, 3])
      castled = updated(castle, [...CLEAN.slice(0, 900), ...poison], castled, TODAY + day);
    castled = updated(castle, CLEAN, castled, TODAY + 4);
    const catalog = catalogOf(popular, castled);
    expect(catalog.listed(lineage('on-own-0.com')).hits).toHaveLength(1);
    for (const day of [4, 40, 89]) expect(await blocked(catalog, poison, NOW + day * DAY_MS)).toEqual([]);
    const later = updated(castle, CLEAN, castled, TODAY + 3 + 91);
    expect(poison.filter(name => later.names.includes(name))).toEqual([]);
  });

  it('of what is seen in abuse is believed about hosts of their own, where few use the name: one update heals it', async () => {
    const before = list(castle, CLEAN, TODAY - 90);
    const poisoned = updated(castle, [...CLEAN.slice(0, 900), ...onOwn], before, TODAY);
    expect(await blocked(catalogOf(popular, poisoned), onOwn)).toEqual(onOwn);
    const healed = updated(castle, CLEAN, poisoned, TODAY + 1);
    expect(await blocked(catalogOf(popular, healed), onOwn)).toEqual([]);
  });
});
