import { beforeEach, describe, expect, it } from 'vitest';
import { openVerdicts } from '../src/compose.ts';
import type { SeenListed } from '../src/core/guest.ts';
import { HashedNames } from '../src/core/hashed.ts';
import { MAIL_NOT_ASKED } from '../src/core/mail.ts';
import type { Store } from '../src/core/ports.ts';
import { dayOf } from '../src/core/quota.ts';
import { allAtOnce, type Steps } from '../src/core/steps.ts';
import type { AddressBook } from '../src/core/whereabouts.ts';
import { createResolver } from '../src/dns/resolver.ts';
import { showingHosts } from '../src/http/shown.ts';
import { createLearn } from '../src/learn.ts';
import { sweep } from '../src/sweep.ts';
import { ACT } from './support/act.ts';
import { catalogOf } from './support/catalog.ts';
import { a, type DnsServer, mx, startDns, type Zone } from './support/dns.ts';
import { emptiedStore } from './support/emptied.ts';
import { guestOf } from './support/guests.ts';
import {
  FULL,
  type Kind,
  type Site,
  type Size,
  simulateInternet,
  visit,
  within,
} from './support/internet.ts';
import { keyRecord } from './support/records.ts';
import { eventually, sized } from './support/scale.ts';
import { startTestService, temporaryFolder } from './support/service.ts';

const DAY_MS = 86_400_000;
/** What the first sweep finds counts as a week old. */
const MONTH_LEFT = 24;
const emptied = emptiedStore();
let dns: DnsServer;
let store: Store;
let time: { now: number; off?: number };
let ends: (() => Promise<void>)[];

beforeEach(async () => {
  dns = await startDns();
  store = await emptied();
  time = { now: Date.UTC(2026, 10, 15, 12) };
  ends = [() => dns.close()];
  return async () => {
    for (const end of ends) await end();
  };
});

async function enter(sites: readonly Site[]) {
  const world = await visit(dns, store, sites, time);
  ends.unshift(() => world.close());
  return world;
}

/** Hosts and the domains whose mail they receive. */
function zone(hosts: Readonly<Record<string, string>>, sites: readonly Site[]): void {
  for (const [host, address] of Object.entries(hosts)) dns.zones.set(host, { records: [a(host, address)] });
  for (const { name, exchanges } of sites)
    dns.zones.set(name, { records: exchanges.map((host, at) => mx(name, 10 * (at + 1), host)) });
}

function sitesAt(exchanges: string[], kind: Kind, listed: boolean, count: number, prefix: string): Site[] {
  const names = Array.from({ length: count }, (_, at) => `${prefix}${at}.com` as Site['name']);
  return names.map(name => ({ name, kind, listed, exchanges }));
}
const listedAt = (host: string, count: number, prefix = 'burn') =>
  sitesAt([host], 'own', true, count, `${prefix}-${host.split('.')[1]}-`);
const innocentAt = (host: string, count: number, prefix = 'firm') =>
  sitesAt([host], 'innocent', false, count, `${prefix}-${host.split('.')[1]}-`);
const one = (name: string, ...exchanges: string[]): Site => ({
  name: name as Site['name'],
  kind: 'innocent',
  listed: false,
  exchanges,
});

type World = Awaited<ReturnType<typeof enter>>;

/** Every listed name is asked for by so many keys. */
async function ask(world: World, sites: readonly Site[], keys = 8, first = 0): Promise<void> {
  for (let key = first; key < first + keys; key++)
    for (const { name, listed } of sites) if (listed) await world.judge(name, `customer${key}`);
  await world.digest();
}

/** Everybody is nowhere. */
const NO_ADDRESSES: AddressBook = {
  ...{ known: () => [], fresh: () => [], beside: () => [], age: () => undefined },
  ...{ isSilent: () => false, isDue: () => false },
  *holding(): Steps<undefined> {},
  recall() {},
  want() {},
  settle: async () => {},
};

/** Lists of these sites, swept, and asked for by some keys. */
async function swept(hosts: Readonly<Record<string, string>>, sites: readonly Site[]) {
  zone(hosts, sites);
  const world = await enter(sites);
  await world.sweep();
  await ask(world, sites);
  return world;
}

const SIZE = sized<Size>({ hosts: 10, onOwn: 150, onShared: 40, innocent: 150 }, FULL);

describe(`the simulated internet: ${SIZE.onOwn} disposable on ${SIZE.hosts} own hosts, ${SIZE.innocent} innocent`, () => {
  it('finds 90 % of the unlisted ones and flags nobody else, also after hosts change their names', async () => {
    const internet = simulateInternet(SIZE, 20261115);
    for (const [name, records] of internet.zones) dns.zones.set(name, records);
    const world = await enter(internet.sites);
    expect((await world.observe()).found).toBe(0);

    await world.sweep();
    // What callers ask for in the course of a day.
    for (let round = 0; round < 3; round++) await world.observe();
    await world.digest();
    const after = await world.observe();
    const wanted = Math.ceil(SIZE.onOwn / 3);
    expect(after).toMatchObject({ wanted, innocent: SIZE.innocent, innocentFlagged: [], unasked: 0 });
    expect(after.found / after.wanted).toBeGreaterThanOrEqual(0.9);
    expect(after.hiddenFound).toBe(0);

    const old = new Set(dns.zones.keys());
    internet.rename();
    for (const name of old) if (!internet.zones.has(name)) dns.zones.delete(name);
    for (const [name, records] of internet.zones) dns.zones.set(name, records);
    time.now += 2 * DAY_MS;
    // Nobody waits for addresses: the first lookup at a new name asks for them in the background.
    expect(await world.observe()).toMatchObject({ innocentFlagged: [], unasked: 0 });
    await world.digest();
    const renamed = await world.observe();
    expect(renamed).toMatchObject({ innocentFlagged: [], unasked: 0, hiddenFound: 0 });
    expect(renamed.found / renamed.wanted).toBeGreaterThanOrEqual(0.9);
  });

  it('learns from lookups alone, without a sweep', async () => {
    const innocent = sized(60, 500);
    const internet = simulateInternet(
      { hosts: 10, onOwn: sized(300, 500), onShared: sized(30, 50), innocent },
      7,
    );
    for (const [name, records] of internet.zones) dns.zones.set(name, records);
    // Two abused customers at a small hoster: three beside as few others as here are what an operator's host looks like.
    const third = /^abuse([5-9]\d|\d{3})\./;
    const world = await enter(internet.sites.filter(({ name }) => !third.test(name)));
    // Listed names are answered before DNS is: the answers are there soon.
    for (let round = 0; round < 4; round++) {
      await world.observe();
      await world.digest();
    }
    expect(world.learn.infra().size).toBe(0);
    await within(30, time, async () => {
      await world.observe(internet.sites.filter(({ listed }) => listed));
      await world.digest();
    });
    await world.observe();
    await world.digest();
    expect(world.learn.infra().size).toBeGreaterThanOrEqual(20);
    const seen = await world.observe();
    expect(seen.found / seen.wanted).toBeGreaterThanOrEqual(0.9);
    expect(seen).toMatchObject({ innocentFlagged: [], hiddenFound: 0 });
  });
});

describe('a hoster whose customers are asked for here', () => {
  const host = 'mx.hoster.net';
  const firms = Array.from({ length: 10 }, (_, at) => one(`firm${at}.com`, host));
  const lapsed = listedAt(host, 10);
  const forms = [1, 2, 3, 4].map(at => `form${at}`);
  /** Listed names are answered before DNS is: the second time their hosts are known. */
  const type = async (world: World) => {
    for (let round = 0; round < 2; round++) {
      for (const { name } of lapsed) for (const form of forms) await world.judge(name, form);
      await world.digest();
    }
  };

  /** All were seen there, and that is not enough. */
  async function expectNotFramed(world: World): Promise<void> {
    expect(await store.listHosts(10, 10)).toContainEqual(
      expect.objectContaining({ name: host, flagged: 10 }),
    );
    expect((await world.judge(firms[3]!.name)).reason).toBe('safe');
  }

  it('is not framed in a week by ten listed names that are typed into four forms, twice', async () => {
    zone({ [host]: '5.61.1.1' }, firms);
    const world = await enter([...firms, ...lapsed]);
    for (let day = 0; day < 4; day++) {
      for (const { name } of firms) await world.judge(name, 'customer');
      await world.digest();
      time.now += 10 * DAY_MS;
    }
    zone({}, lapsed);
    await type(world);
    time.now += 7 * DAY_MS;
    await type(world);
    await expectNotFramed(world);
  });

  it.each([-40, 40])('is not framed in a day because the clock was %i days off', async days => {
    zone({ [host]: '5.61.1.1' }, [...firms, ...lapsed]);
    const world = await enter([...firms, ...lapsed]);
    for (const off of [0, days, 0]) {
      time.off = off * DAY_MS;
      await type(world);
    }
    await expectNotFramed(world);
  });

  it('is not framed in a day because a server was started with a clock that is ahead', async () => {
    zone({ [host]: '5.61.1.1' }, [...firms, ...lapsed]);
    const world = await enter([...firms, ...lapsed]);
    await type(world);
    const seen = await store.listHosts(10, 10);
    await world.close();
    ends.splice(0, 1);
    time.off = 40 * DAY_MS;
    await type(await enter([...firms, ...lapsed]));
    expect(await store.listHosts(10, 10)).toEqual(seen);
  });

  it('is framed by five domains that one key shows here, one a fortnight, but who is looked up for a month, before or after them, is warned of only', async () => {
    const first = one('first.com', host);
    const others = ['later.com', 'never-seen.com', 'after.com'].map(name => one(name, host));
    const mine = listedAt(host, 5, 'mine').map(site => ({ ...site, late: true }));
    // Forgotten names of its, which others have taken over and many ask for, at a host of its own.
    const taken = ['x0.first.com', 'x1.first.com'].map(name => ({
      ...one(name, 'mx.first.com'),
      listed: true,
    }));
    const sites = [first, ...others, ...mine, ...taken];
    zone({ [host]: '5.61.1.1', 'mx.first.com': '5.61.2.1' }, sites);
    const start = time.now;
    const scores = async (at: World) => {
      const names = ['first.com', 'mail.first.com', 'later.com', 'never-seen.com', 'after.com'];
      return Promise.all(names.map(async name => (await at.judge(name, 'customer')).riskScore));
    };
    zone({}, [one('mail.first.com', host)]);
    const world = await enter(sites);
    const look = async (day: number, names: readonly string[], key: string) => {
      time.now = start + day * DAY_MS;
      await world.update();
      // Listed names are answered before DNS is: the second time their hosts are known.
      for (let round = 0; round < 2; round++) {
        for (const name of names) await world.judge(name, key);
        await world.digest();
      }
    };
    for (const day of [0, 15, 31]) await look(day, ['first.com'], 'customer');
    const askForTaken = async (day: number) => {
      const names = taken.map(({ name }) => name);
      for (const key of ['a', 'b', 'c', 'd']) await look(day, names, key);
    };
    for (const day of [32, 33, 34]) await askForTaken(day);
    for (const [at, { name }] of mine.entries()) await look(40 + 14 * at, [name], 'attacker');
    await look(97, ['after.com'], 'customer');
    await askForTaken(98);
    await look(100, ['later.com'], 'customer');
    const all = mine.map(({ name }) => name);
    time.now = start + 106 * DAY_MS;
    await world.update(true);
    for (const day of [107, 117]) await look(day, all, 'attacker');
    expect(await scores(world)).toEqual([20, 20, 20, 20, 20]);
    await look(118, ['after.com'], 'customer');
    await look(128, [...all, 'after.com'], 'attacker');
    expect(await scores(world)).toEqual([60, 60, 84, 84, 60]);
    expect((await world.judge('first.com')).signals).toEqual([
      {
        signal: 'earlier_guest',
        points: 60,
        detail: expect.stringMatching(
          /^mx.hoster.net also receives mail for 5 listed .* seen there for a month or more/,
        ),
      },
    ]);
    const hosts = await store.listHosts(2, 10);
    const shown = allAtOnce(
      showingHosts(hosts, await catalogOf(all, { telemetry: all }), dayOf(time.now), 50),
    );
    expect(shown).toContainEqual(expect.objectContaining({ host, state: 'disposable', sum: 2.84 }));
    expect(JSON.stringify([shown, await world.graph('later.com')])).not.toContain('first.com');

    await world.close();
    ends.splice(0, 1);
    const another = await enter(sites.map(site => ({ ...site, late: false })));
    await another.learn.hold();
    await another.learn.settle();
    expect(await scores(another)).toEqual([60, 60, 84, 84, 60]);
  });

  it('with two listed customers: who is looked up for a month is warned of only, whatever one list, one key or sweeps add', async () => {
    const at = (hoster: string) => `mx.${hoster}.net`;
    const mineAt = (hoster: string, facts: Partial<Site>) =>
      listedAt(at(hoster), 3, 'mine').map(site => ({ ...site, ...facts }));
    const mine = {
      // Innocent customers until one list names them.
      poisoned: mineAt('poisoned', { late: true, oneFamily: true }),
      // The same, and one key alone ever asks for them.
      shown: mineAt('shown', { late: true, oneFamily: true }),
      // Listed, pointed there within a month of the others, and asked for by nobody.
      swept: mineAt('swept', {}),
      // Innocent customers until two families name them.
      named: mineAt('named', { late: true }),
    };
    const hosters = Object.keys(mine) as (keyof typeof mine)[];
    const burners = hosters.flatMap(hoster => listedAt(at(hoster), 2));
    // Below a registry that the public suffix list has among hosting companies, too.
    const firms = hosters.map(hoster =>
      ['com', 'gr.com'].map(ending => one(`${hoster}-ag.${ending}`, at(hoster))),
    );
    const sites = [...burners, ...firms.flat(), ...Object.values(mine).flat()];
    zone(Object.fromEntries(hosters.map((hoster, n) => [at(hoster), `5.61.${n}.1`])), sites);
    zone(
      { 'mx.home.net': '5.61.9.9' },
      mine.swept.map(({ name }) => one(name, 'mx.home.net')),
    );
    const start = time.now;
    const world = await enter(sites);
    const day = async (days: number) => {
      // Listed names are answered before DNS is: the second time their hosts are known.
      for (let round = 0; round < 2; round++) {
        for (const key of ['a', 'b', 'c', 'd'])
          for (const { name } of [...burners, ...mine.poisoned, ...mine.named]) await world.judge(name, key);
        for (const { name } of firms.flat()) await world.judge(name, 'a');
        if (days >= 10) for (const { name } of mine.shown) await world.judge(name, 'attacker');
        await world.digest();
      }
    };
    const scores = async (days: number) => {
      const all = firms.map((some, n) => [...some, one(`new-${days}-${n}.com`, at(hosters[n]!))]);
      zone({}, all.flat());
      return Promise.all(
        all.map(some => Promise.all(some.map(async ({ name }) => (await world.judge(name)).riskScore))),
      );
    };
    const [safe, warned, flagged] = [
      [20, 20, 20],
      [60, 60, 84],
      [84, 84, 84],
    ];
    for (let days = 0; days < 60; days += 10) {
      time.now = start + days * DAY_MS;
      if (days === 20) zone({}, mine.swept);
      await world.update();
      await day(days);
      await world.sweep();
      if (days === 40) expect(await scores(days)).toEqual([safe, safe, safe, safe]);
    }
    for (const [days, named] of [
      [60, warned],
      [95, flagged],
    ] as const) {
      time.now = start + days * DAY_MS;
      await world.update(true);
      await day(days);
      expect([days, await scores(days)]).toEqual([days, [warned, warned, warned, named]]);
    }
  });

  it('and that lists name now, that gives names away, or that has a machine for each: who is looked up for a month is warned of, until it lasted one too', async () => {
    const late = (name: string, at: string): Site => ({ ...one(name, at), listed: true, late: true });
    const given = ['x1.given.net', 'x2.given.net'];
    const burners = listedAt('srv1.vps.net', 4);
    const lapsed = listedAt('srv2.vps.net', 2, 'lapsed').map(site => ({ ...site, oneFamily: true }));
    const firms = [
      one('firm.com', host),
      one('firma.given.net', 'mx.given.net'),
      one('tenant.com', 'srv2.vps.net'),
      one('at-old.com', 'mx.old.net'),
    ];
    const sites = [
      ...[late('hoster.net', host), { ...one('old.net', 'mx.old.net'), listed: true }],
      ...[...given.map(name => late(name, 'mx.given.net')), ...burners, ...lapsed, ...firms],
    ];
    const [hosts, start] = [[host, 'mx.given.net', 'srv1.vps.net', 'srv2.vps.net', 'mx.old.net'], time.now];
    zone(Object.fromEntries(hosts.map((at, n) => [at, `5.61.${n}.1`])), sites);
    const world = await enter(sites);
    const day = async (days: number, asked: readonly string[]) => {
      time.now = start + days * DAY_MS;
      await world.update();
      // Listed names are answered before DNS is: the second time their hosts are known.
      for (let round = 0; round < 2; round++) {
        for (const key of ['a', 'b', 'c', 'd']) for (const name of asked) await world.judge(name, key);
        for (const { name } of firms) await world.judge(name, 'a');
        await world.digest();
      }
    };
    const scores = async (days: number) => {
      const others = [one(`new-${days}.com`, host), one(`new-vps-${days}.com`, 'srv2.vps.net')];
      zone({}, others);
      const all = [...firms, ...others].map(({ name }) => world.judge(name));
      return (await Promise.all(all)).map(({ riskScore }) => riskScore);
    };
    for (const days of [0, 10, 20, 31])
      await day(
        days,
        burners.map(({ name }) => name),
      );
    expect(await scores(31)).toEqual([20, 15, 60, 82, 20, 84]);
    await world.update(true);
    await world.learn.reload();
    expect(await scores(32)).toEqual([60, 60, 60, 82, 82, 84]);
    // One key points two names of one list at the tenant's machine for a day.
    for (let round = 0; round < 2; round++) {
      for (const { name } of lapsed) await world.judge(name, 'attacker');
      await world.digest();
    }
    for (const days of [33, 43, 53]) await day(days, [...given, ...burners.map(({ name }) => name)]);
    expect(await scores(53)).toEqual([60, 60, 60, 82, 82, 84]);
    await day(64, [...given, ...burners.map(({ name }) => name)]);
    expect(await scores(64)).toEqual([82, 80, 60, 82, 82, 84]);
  });

  it('of whom nobody was asked for before is not either', async () => {
    zone({ [host]: '5.61.1.1' }, [...firms, ...lapsed]);
    const world = await enter([...firms, ...lapsed]);
    await type(world);
    time.now += 7 * DAY_MS;
    await type(world);
    await expectNotFramed(world);
  });
});

describe('an unlisted domain on learned hosts', () => {
  const host = 'mx.box.net';

  it('is disposable with up to three listed neighbours named, and never an unlisted one', async () => {
    const sites = [...listedAt(host, 12), one('fresh.com', host), one('other.com', host)];
    const world = await swept({ [host]: '5.61.1.1' }, sites);
    await world.judge('other.com');
    await world.digest();
    const verdict = await world.judge('fresh.com');
    expect(verdict).toMatchObject({ reason: 'disposable', riskScore: 84, isCorporateEmail: false });
    expect(verdict.signals).toEqual([
      {
        signal: 'learned_hosts',
        points: 84,
        detail:
          'mx.box.net also receives mail for 12 listed disposable domains (burn-box-0.com, burn-box-1.com, burn-box-10.com …; weighed 5.9, enough from 2.1)',
      },
    ]);
    const [graph, ...others] = await world.graph('fresh.com');
    expect(graph).toMatchObject({ host, addresses: ['5.61.1.1'], listedGuests: 12 });
    expect([graph!.guests.length, others]).toEqual([12, []]);
  });

  it('is flagged behind any number of names below a platform that do not exist, and never corporate', async () => {
    const world = await swept({ [host]: '5.61.1.1' }, listedAt(host, 12));
    const cases: [string, number, string, number, number?][] = [
      ['a.com', 20, host, 84],
      ['b.com', 63, host, 84],
      ['c.com', 20, 'mx.mailinator.com', 60],
      // More than are read: who receives the mail is not known.
      ['d.com', 64, host, 40],
      ['e.com', 64, 'mx.mailinator.com', 40],
      ['f.com', 64, 'mx.mailinator.com', 89, 20],
      ['g.com', 64, host, 84, 20],
    ];
    for (const [name, count, last, riskScore, preference = 0] of cases) {
      const names = Array.from({ length: count }, (_, at) =>
        mx(name, preference, `h${at}.aspmx.l.google.com`),
      );
      dns.zones.set(name, { records: [...names, mx(name, 10, last)] });
      expect([name, await world.judge(name)]).toMatchObject([name, { riskScore, isCorporateEmail: false }]);
    }
  });

  it.each<[string, askedFor: (name: string) => string, meanwhile: Zone]>([
    [
      'names below them that have a web site are looked up',
      name => `www.${name}`,
      { records: [a('', '5.61.9.9')] },
    ],
    ['names below them that do not exist are', name => `nosuch.${name}`, { rcode: 'NXDOMAIN' }],
    ['a resolver denies them for a moment', name => name, { rcode: 'NXDOMAIN' }],
  ])('is flagged by listed names that have never moved, though %s', async (_, askedFor, meanwhile) => {
    const burners = listedAt(host, 6);
    const fresh = one('fresh.com', host);
    zone({ [host]: '5.61.1.1' }, [...burners, fresh]);
    const world = await enter([...burners, fresh]);
    const look = async () => {
      for (let round = 0; round < 2; round++) await ask(world, burners);
      for (const { name } of burners) {
        const other = askedFor(name);
        const before = dns.zones.get(other);
        const records = meanwhile.records?.map(() => a(other, '5.61.9.9'));
        dns.zones.set(other, records ? { records } : meanwhile);
        time.now += 3_600_000;
        for (let round = 0; round < 2; round++) {
          await world.judge(other, 'another key');
          await world.digest();
        }
        if (before) dns.zones.set(other, before);
      }
    };
    await look();
    await within(30, time, look);
    await ask(world, burners);
    expect((await world.judge('fresh.com')).reason).toBe('disposable');
  });

  it("is flagged by listed names below suffixes that have never moved, though others' below these are elsewhere", async () => {
    const suffixes = ['mooo.com', 'us.to', 'chickenkiller.com', 'duckdns.org'];
    const at = (name: string, where: string) =>
      suffixes.map(suffix => ({ ...one(`${name}.${suffix}`, where), listed: true }));
    const burners = [...at('burn1', host), ...at('burn2', host)];
    const strangers = at('other', 'mx.else.net');
    const fresh = one('fresh.com', host);
    zone({ [host]: '5.61.1.1', 'mx.else.net': '5.61.1.2' }, [...burners, ...strangers, fresh]);
    const world = await enter([...burners, ...strangers, fresh]);
    // Listed names are answered before DNS is: the second time their hosts are known.
    const twice = async (sites: readonly Site[]) => {
      for (let round = 0; round < 2; round++) await ask(world, sites);
    };
    await twice(burners);
    await within(30, time, async () => {
      await twice(strangers);
      time.now += DAY_MS;
      await twice(burners);
    });
    expect((await world.judge('fresh.com')).reason).toBe('disposable');
  });

  it('is flagged by the first twenty of the exchanges that are tried first', async () => {
    const hosts = [host, ...Array.from({ length: 24 }, (_, at) => `mx.box${at}.net`)];
    const world = await swept(Object.fromEntries(hosts.map(name => [name, '5.61.1.1'])), listedAt(host, 12));
    dns.zones.set('fresh.com', { records: hosts.map(name => mx('fresh.com', 10, name)) });
    expect((await world.judge('fresh.com')).riskScore).toBe(40);
    await world.learn.settle();
    expect((await world.judge('fresh.com')).riskScore).toBe(80);
  });

  it.each([4, 12])(
    'is flagged behind %i exchanges that do not exist, and hosts are learned there',
    async count => {
      const behind = (name: string, listed: boolean): Site => ({
        ...one(name, ...Array.from({ length: count }, (_, at) => `d${at}.nowhere-${name}`), host),
        listed,
      });
      const listed = Array.from({ length: 12 }, (_, at) => behind(`burn${at}.com`, true));
      const world = await swept({ [host]: '5.61.1.1' }, [...listed, behind('fresh.com', false)]);
      expect((await world.judge('fresh.com')).reason).toBe('safe');
      await world.learn.settle();
      expect((await world.judge('fresh.com')).riskScore).toBe(84);
    },
  );

  it('is flagged only where every exchange that is tried first is such a host, and never when it is protected', async () => {
    const cases: [Site, string][] = [
      [one('a.com', host), 'disposable'],
      [one('b.com', host, 'mx.elsewhere.net'), 'disposable'],
      [one('h.com', 'mx.elsewhere.net', host), 'safe'],
      [one('i.com', host, 'mx00.ionos.com'), 'disposable'],
      [one('j.com', 'mx00.ionos.com', host), 'safe'],
      // Names below a platform need not exist.
      [one('c.com', host, 'aspmx.l.google.com'), 'disposable'],
      [one('g.com', 'g-com.mail.protection.outlook.com', host), 'disposable'],
      [one('d.com', host, 'mx.d.com'), 'disposable'],
      [one('k.com', 'mx.k.com', host), 'safe'],
      // The table of providers knows this one as disposable.
      [one('e.com', host, 'mx.yopmail.com'), 'disposable'],
      [one('noreply.f.com', host), 'disposable'],
      [one('sdf.org', 'mx.other-box.net'), 'safe'],
      [one('riseup.net', host), 'safe'],
    ];
    const listed = listedAt(host, 30);
    const hosts = {
      ...{ [host]: '5.61.1.1', 'mx.other-box.net': '5.61.1.1', 'mx.d.com': '5.61.1.1' },
      ...{ 'mx.elsewhere.net': '5.61.1.2', 'mx00.ionos.com': '5.61.1.3', 'mx.k.com': '5.61.1.4' },
    };
    zone(hosts, [...listed, ...cases.map(([site]) => site)]);
    const world = await enter(listed);
    // Without a sweep, which would see that a protected domain is a guest too.
    await eventually('the host, its domain and its address are known', async () => {
      await ask(world, listed);
      return (await store.listHosts(listed.length, 10)).length === 3;
    });
    await within(30, time, () =>
      // Addresses and answers that are old are asked for behind the first.
      eventually('all are seen on that day', async () => {
        await ask(world, listed);
        const groups = (await store.listHosts(listed.length, 10)).flatMap(one => one.groups);
        return groups.every(({ lastDay }) => lastDay === dayOf(time.now));
      }),
    );
    expect(world.learn.infra().size).toBe(3);
    for (let pass = 0; pass < 2; pass++) {
      for (const [{ name }, reason] of cases)
        expect([name, (await world.judge(name)).reason]).toEqual([name, reason]);
      // The addresses of all hosts are known now; a guest that is protected has not been counted yet.
      await world.learn.settle();
    }
  });
});

describe('whoever puts hosts of others before his own', () => {
  const host = 'mx.box.net';
  it.each(['mx.elsewhere.net', 'no-such-host.ionos.com'])(
    'is found as soon as it is known that %s does not exist',
    async decoy => {
      const sites = [...listedAt(host, 12), one('fresh.com', decoy, host)];
      const world = await swept({ [host]: '5.61.1.1' }, sites);
      // For all that is known until then, somebody else receives the mail.
      expect((await world.judge('fresh.com')).reason).toBe('safe');
      await world.digest();
      expect(await world.judge('fresh.com')).toMatchObject({ reason: 'disposable', riskScore: 84 });
    },
  );
});

describe('what is not learned', () => {
  const flagged = async (world: Awaited<ReturnType<typeof enter>>, name: string) =>
    (await world.judge(name)).reason === 'disposable';

  it('a host with four listed guests of a first sweep, until a month later; the fifth does it at once', async () => {
    const [few, enough] = ['mx.few.net', 'mx.enough.net'];
    const sites = [...listedAt(few, 4), ...listedAt(enough, 5), one('a.com', few), one('b.com', enough)];
    const world = await swept({ [few]: '5.61.1.1', [enough]: '5.61.1.2' }, sites);
    expect([await flagged(world, 'a.com'), await flagged(world, 'b.com')]).toEqual([false, true]);
    await within(24, time, () => world.sweep());
    expect([await flagged(world, 'a.com'), await flagged(world, 'b.com')]).toEqual([true, true]);
  });

  it.each([
    [6, true],
    [7, false],
  ])('a host by the first sweep of a service that others know for %i days: %s', async (days, isLearned) => {
    const host = 'mx.box.net';
    await store.createKey(keyRecord({ createdAt: time.now - days * DAY_MS }), ACT);
    const world = await swept({ [host]: '5.61.1.1' }, [...listedAt(host, 6), one('a.com', host)]);
    expect(await flagged(world, 'a.com')).toBe(isLearned);
  });

  it('a host whose listed guests only sweeps have found, however many they are and however long', async () => {
    const host = 'mx.box.net';
    const sites = [...listedAt(host, 200), one('fresh.com', host)];
    zone({ [host]: '5.61.1.1' }, sites);
    const world = await enter(sites);
    for (let month = 0; month < 4; month++) {
      await world.sweep();
      expect(await flagged(world, 'fresh.com')).toBe(false);
      time.now += 30 * DAY_MS;
    }
    await world.sweep();
    await ask(world, sites.slice(0, 10));
    expect(await flagged(world, 'fresh.com')).toBe(true);
  });

  it('a host whose listed guests received no mail when they were swept, until two months after they came back', async () => {
    const host = 'mx.hoster.net';
    const lapsed = listedAt(host, 50);
    const fresh = one('fresh.com', host);
    zone({ [host]: '5.61.1.1' }, [fresh]);
    const world = await enter([...lapsed, fresh]);
    await world.sweep();
    zone({}, lapsed);
    time.now += 2 * DAY_MS;
    await world.sweep();
    await ask(world, lapsed);
    for (const [days, expected] of [
      [59, false],
      [9, true],
    ] as const) {
      time.now += days * DAY_MS;
      await world.sweep();
      await world.digest();
      expect(await flagged(world, 'fresh.com')).toBe(expected);
    }
  });

  it('a host that listed names were pointed at for a day, however long ago', async () => {
    const host = 'mx.hoster.net';
    const moving = listedAt(host, 60);
    const fresh = one('fresh.com', host);
    zone({ [host]: '5.61.1.1' }, [...moving, fresh]);
    const world = await enter([...moving, fresh]);
    await eventually('they were seen there', async () => {
      await ask(world, moving);
      return (await store.listHosts(moving.length, 10)).length > 0;
    });
    zone(
      { 'mx.home.net': '5.61.1.9' },
      moving.map(site => ({ ...site, exchanges: ['mx.home.net'] })),
    );
    for (let days = 0; days < 5; days++) {
      time.now += 9 * DAY_MS;
      await ask(world, moving);
      expect(await flagged(world, 'fresh.com')).toBe(false);
    }
  });

  const three = ['mx.home0.net', 'mx.home1.net', 'mx.home2.net'];
  const silent = Array.from({ length: 20 }, (_, at) => `s${at}.home0.net`);
  const homes: Readonly<Record<string, (name: string) => NonNullable<Zone['records']>>> = {
    'one server': name => [mx(name, 10, three[0]!)],
    'three servers': name => three.map(host => mx(name, 10, host)),
    'an address and no exchange': name => [a(name, '5.61.1.9')],
    'one server, behind twenty hosts that nobody answers for': name => [
      ...silent.map(host => mx(name, 5, host)),
      mx(name, 10, three[0]!),
    ],
    "a provider's, and one behind it that is nowhere": name => [
      mx(name, 10, 'aspmx.l.google.com'),
      mx(name, 20, 'mx.nowhere.net'),
    ],
  };
  const FOUR_DAYS = { here: [0, 11, 22, 33], atHome: [1, 12, 23], listedOn: 0 };
  const UNLISTED = { here: [0, 1, 2, 50], atHome: [3, 20, 30, 40], listedOn: 10 };
  const LATELY = { here: [0, 1, 2, 40, 71], atHome: [3, 20, 30, 41, 60], listedOn: 40 };
  /** Each key looks once a day: these are others, of whom enough are not taken for the first ones. */
  const MINUTES = { here: [0, 11, 22, 33], atHome: [0.2, 11.2, 22.2, 33.2], listedOn: 0, areSame: true };
  const BEFORE_HOME = { here: [0, 11, 22, 33], atHome: [0.2, 11.2, 22.2], listedOn: 0 };
  const BEHIND_HOME = { here: [0.2, 11.2, 22.2, 33.2], atHome: [0, 11, 22, 33], listedOn: 0 };
  it.each([
    ...['one server', 'three servers', 'an address and no exchange'].map(
      home => ['for the first hours of each day', home, BEFORE_HOME] as const,
    ),
    ['for the last hours of each day', 'one server', BEHIND_HOME],
    ['for the first hours of each day, when every key looks,', 'one server', MINUTES],
    ['before lists named them, and on one day since', 'one server', UNLISTED],
    ['before lists named them, and on two days of the month since', 'one server', LATELY],
    ...Object.keys(homes).map(home => ['on four days of a month', home, FOUR_DAYS] as const),
  ] as const)(
    'a host that domains in use were pointed at %s, and received by %s in between',
    async (_, home, { here, atHome, listedOn, ...rest }) => {
      const host = 'mx.hoster.net';
      const mine = listedAt(host, 5).map(site => ({ ...site, late: listedOn > 0 }));
      const start = time.now;
      for (const [index, name] of [...three, 'aspmx.l.google.com'].entries())
        dns.zones.set(name, { records: [a(name, `5.62.${index}.1`)] });
      for (const name of silent) dns.zones.set(name, { fault: 'servfail' });
      zone({ [host]: '5.61.1.1' }, [one('fresh.com', host)]);
      const world = await enter([...mine, one('fresh.com', host)]);
      for (const day of [...here, ...atHome].sort((one, other) => one - other)) {
        time.now = start + day * DAY_MS;
        await world.update(day >= listedOn);
        if (here.includes(day)) zone({}, mine);
        else for (const { name } of mine) dns.zones.set(name, { records: homes[home]!(name) });
        // Listed names are answered before DNS is: the second time their hosts are known.
        for (let round = 0; round < 2; round++)
          await ask(world, mine, ...(day % 1 > 0 && !('areSame' in rest) ? [20, 8] : [4]));
        expect([day, await flagged(world, 'fresh.com')]).toEqual([day, false]);
      }
      expect(await store.listHosts(5, 10)).toContainEqual(
        expect.objectContaining({ name: host, flagged: 5 }),
      );
    },
  );

  it('a host at which domains were in time, and elsewhere whenever their name server took too long', async () => {
    const told: SeenListed[] = [];
    const catalog = await catalogOf(['burn.com']);
    const learner = await createLearn({
      store: { ...store, learn: async (...[, , , , listed = []]) => void told.push(...listed) },
      resolver: {
        last: () => ({ state: 'mx', exchanges: [{ host: 'mx.home.net', preference: 10 }], stale: true }),
      },
      addresses: { ...NO_ADDRESSES, fresh: () => ['5.61.1.9'] },
      catalog: () => catalog,
      clock: () => time.now,
      isClockBelieved: () => true,
      inTurns: async steps => allAtOnce(steps),
      onError(error) {
        throw error;
      },
    });
    const burn = 'burn.com' as Site['name'];
    learner.note(burn, burn, { entry: burn, corroborated: true, since: 0 }, MAIL_NOT_ASKED, 'key');
    for (let flushes = 0; flushes < 5; flushes++) await learner.flush();
    await learner.close();
    expect(told).toMatchObject([{ domain: burn, at: expect.arrayContaining(['mx.home.net', '5.61.1.9']) }]);
  });

  /** Names that an update lists, seen by one key so many days before, a third of them at a time. */
  async function listedLater(days: number, apart: number, facts: Partial<Site> = {}) {
    const host = 'mx.box.net';
    const late = listedAt(host, 12).map(site => ({ ...site, late: true, ...facts }));
    zone({ [host]: '5.61.1.1' }, [...late, one('fresh.com', host)]);
    const world = await enter([...late, one('fresh.com', host)]);
    const askFor = async (some: readonly Site[]) => {
      for (const { name } of some) await world.judge(name, 'the only key');
      await world.learn.settle();
      for (const { name } of some) await world.judge(name, 'the only key');
      await world.digest();
    };
    for (let third = 0; third < 3; third++) {
      if (third > 0) time.now += apart * DAY_MS;
      await world.update();
      await askFor(late.slice(4 * third, 4 * third + 4));
    }
    time.now += days * DAY_MS;
    await world.update(true);
    await askFor(late);
    await within(30, time, () => world.sweep());
    await world.digest();
    return flagged(world, 'fresh.com');
  }

  it.each<[string, number, number, Partial<Site>, boolean]>([
    [
      'is learned by one key where its guests came over a month, and a week before lists named them',
      8,
      15,
      {},
      true,
    ],
    ['is not where all came at once: they may be those of one party, to do harm', 8, 0, {}, false],
    [
      'is not where that was days before: they may have been listed elsewhere, and registered then',
      6,
      15,
      {},
      false,
    ],
    ['is not where one family names them, which one stranger can write', 8, 15, { oneFamily: true }, false],
  ])('a host %s', async (_, days, apart, facts, expected) => {
    expect(await listedLater(days, apart, facts)).toBe(expected);
  });

  it('a hoster where free names of others were seen long ago, by listed ones below the same suffixes', async () => {
    const host = 'mx.hoster.com';
    const suffixes = ['mooo.com', 'duckdns.org', 'chickenkiller.com'];
    const old = suffixes.map(suffix => one(`theirs.${suffix}`, host));
    const late = suffixes.map(suffix => ({ ...one(`mine.${suffix}`, host), listed: true, late: true }));
    zone({ [host]: '23.9.9.9' }, [...old, one('firm.com', host)]);
    const world = await enter([...old, ...late, one('firm.com', host)]);
    for (const { name } of old) {
      await world.update();
      await world.judge(name, 'somebody');
      await world.digest();
      time.now += 15 * DAY_MS;
    }
    time.now += 20 * DAY_MS;
    await world.update(true);
    zone({}, late);
    // Listed names are answered before DNS is.
    await eventually('all are counted, apart from the others', async () => {
      for (const { name } of late) await world.judge(name, 'the only key');
      await world.digest();
      const hosts = await store.listHosts(1, 10);
      return hosts.length === 3 && hosts.every(({ flagged, innocent }) => flagged === 3 && innocent === 3);
    });
    expect(await flagged(world, 'firm.com')).toBe(false);
  });

  it('a host whose guests one family of feeds lists, however many they are', async () => {
    const host = 'mx.box.net';
    const sites = listedAt(host, 200).map(site => ({ ...site, oneFamily: true }));
    const world = await swept({ [host]: '5.61.1.1' }, [...sites, one('fresh.com', host)]);
    expect(await flagged(world, 'fresh.com')).toBe(false);
    expect((await store.listHosts(1, 10))[0]).toMatchObject({ flagged: 200 });
  });

  it('many names below one listed domain, and one name asked a thousand times', async () => {
    const host = 'mx.box.net';
    const below = Array.from({ length: 30 }, (_, at) => one(`x${at}.burner.com`, host));
    const burner = { ...one('burner.com', host), listed: true };
    zone({ [host]: '5.61.1.1' }, [...below, burner, one('fresh.com', host)]);
    const world = await enter([burner]);
    for (let i = 0; i < 1_000; i++) await world.judge([burner, ...below][i % 31]!.name);
    await eventually('the guest is counted', async () => {
      await world.digest();
      return (await store.listHosts(1, 10)).length === 3;
    });
    expect(await store.listHosts(1, 10)).toMatchObject([{ flagged: 1 }, { flagged: 1 }, { flagged: 1 }]);
    expect(await flagged(world, 'fresh.com')).toBe(false);
  });

  it('a host with twenty innocent guests for each listed one', async () => {
    const host = 'mx.mixed.net';
    const innocent = innocentAt(host, 200);
    const sites = [...listedAt(host, 10), ...innocent, one('fresh.com', host)];
    zone({ [host]: '5.61.1.1' }, sites);
    const world = await enter(sites);
    for (const { name } of innocent) await world.judge(name);
    await world.sweep();
    await ask(world, sites);
    expect(await flagged(world, 'fresh.com')).toBe(false);
    expect((await world.observe(innocent)).innocentFlagged).toEqual([]);
  });

  it('a hoster whose customers are below one registry, each of whom counts', async () => {
    const host = 'mx.kyiv.net';
    const below = (suffix: string) =>
      Array.from({ length: 20 }, (_, at) => one(`firm${at}.${suffix}`, at % 2 ? host : `mx.firm0.${suffix}`));
    const sites = [...listedAt(host, 5), ...below('co.ua'), one('fresh.com', host)];
    const hosts = { [host]: '5.61.1.1', 'mx.firm0.co.ua': '5.61.1.1' };
    zone(hosts, sites);
    const world = await enter(sites);
    for (const { name } of sites.slice(5, -1)) await world.judge(name);
    await world.sweep();
    await ask(world, sites);
    expect(await flagged(world, 'fresh.com')).toBe(false);
    const known = await store.listHosts(0, 100);
    const innocent = (name: string) => known.find(one => one.name === name)?.innocent;
    expect([host, '5.61.1.1', 'mx.firm0.co.ua', 'own@5.61.1.1'].map(innocent)).toEqual([10, 20, 9, 1]);
  });

  it('for long: a host that was learned before its innocent guests were seen unlearns itself', async () => {
    const host = 'mx.hoster.net';
    const innocent = innocentAt(host, 80);
    const sites = [...listedAt(host, 12), ...innocent, one('fresh.com', host)];
    const world = await swept({ [host]: '5.61.1.1' }, sites);
    expect(await flagged(world, innocent[0]!.name)).toBe(true);
    await world.observe(innocent);
    await world.digest();
    expect(await flagged(world, 'fresh.com')).toBe(false);
  });

  it('though not by names that cost nothing, whatever suffix they are below', async () => {
    const host = 'mx.box.net';
    const free = ['eu.org', 'pp.ru', 'duckdns.org'].flatMap(suffix =>
      Array.from({ length: 60 }, (_, at) => one(`d${at}.${suffix}`, host)),
    );
    const sites = [...listedAt(host, 12), ...free, one('fresh.com', host)];
    const world = await swept({ [host]: '5.61.1.1' }, sites);
    for (const { name } of free) await world.judge(name, 'the operator');
    await world.digest();
    expect((await store.listHosts(1, 10)).map(({ innocent }) => innocent)).toEqual([3, 3, 3]);
    expect(await flagged(world, 'fresh.com')).toBe(true);
  });

  it('hosts that tables know, with any number of listed guests, nor what else is at their addresses', async () => {
    const known = {
      'alt1.aspmx.l.google.com': '5.61.2.1',
      'route1.mx.cloudflare.net': '5.61.2.2',
      'mxa-0001.gslb.pphosted.com': '5.61.2.3',
      'mx00.ionos.com': '5.61.2.4',
      'mx.sendgrid.net': '5.61.2.5',
      // Hosts of a protected domain and of a consumer mail provider.
      'mx2.sdf.org': '5.61.2.6',
      'mx1.riseup.net': '5.61.2.7',
    };
    const hosts: Record<string, string> = { ...known };
    const sites: Site[] = [];
    for (const [at, [host, address]] of Object.entries(known).entries()) {
      hosts[`mx.vanity${at}.net`] = address;
      sites.push(...listedAt(host, 50, `burn${at}`), ...listedAt(`mx.vanity${at}.net`, 10));
      sites.push(one(`fresh${at}.com`, host), one(`vanity${at}.com`, `mx.vanity${at}.net`));
    }
    const world = await swept(hosts, sites);
    for (let pass = 0; pass < 2; pass++) {
      for (const { name, listed } of sites) if (!listed) expect(await flagged(world, name), name).toBe(false);
      await world.digest();
    }
    // By their names the vanity hosts and their domains would be; what answers there is a platform.
    expect(world.learn.infra().size).toBe(2 * Object.keys(known).length);
  });

  it.each([
    ['exist', '52.101.1.1'],
    ['do not exist', undefined],
  ])("what is at a platform's address, where other hosts of the platform %s", async (_, address) => {
    const below = (name: string) => `${name}.mail.protection.outlook.com`;
    const own = (name: string, listed: boolean): Site => ({ ...one(name, `mx.${name}`), listed });
    const listed = Array.from({ length: 8 }, (_, at) => own(`burn${at}.com`, true));
    const shared = [...listed, own('firm.com', false)].map(({ exchanges }) => exchanges[0]!);
    const hosts = Object.fromEntries([...shared, below('b')].map(name => [name, '52.101.2.2']));
    const sites = [...listed, own('firm.com', false), one('a.com', below('a')), one('b.com', below('b'))];
    zone(address ? { ...hosts, [below('a')]: address } : hosts, sites);
    const world = await enter(sites);
    for (let day = 0; day < 5; day++) {
      for (const name of ['a.com', 'b.com']) {
        await world.judge(name);
        await world.digest();
      }
      await world.sweep();
      await ask(world, listed);
      time.now += 10 * DAY_MS;
    }
    await world.judge('firm.com');
    await world.digest();
    expect((await world.judge('firm.com')).riskScore).toBe(15);
  });

  it('a host that receives for a protected domain', async () => {
    const host = 'mx.victim.net';
    const sites = [...listedAt(host, 50), one('sdf.org', host), one('fresh.com', host)];
    const world = await swept({ [host]: '5.61.1.1' }, sites);
    expect(await flagged(world, 'fresh.com')).toBe(false);
    const shared = Array.from({ length: 3 }, () => ({ shared: true }));
    expect(await store.listHosts(10, 10)).toMatchObject(shared);
  });

  it.each(['eu.org', 'popular.com'])(
    'a disposable host less because somebody below %s points at its address',
    async above => {
      const host = 'mx.operator.net';
      const decoys = [one(`decoy.${above}`, `mx.decoy.${above}`), one(`guest.${above}`, host)];
      const popular = { ...one('popular.com', 'mx.popular.com'), popular: true };
      const sites = [...listedAt(host, 60), popular, ...decoys, one('fresh.com', host)];
      const hosts = { [host]: '5.61.1.1', [`mx.decoy.${above}`]: '5.61.1.1', 'mx.popular.com': '5.61.9.9' };
      const world = await swept(hosts, sites);
      expect(await flagged(world, 'fresh.com')).toBe(true);
      time.now += DAY_MS;
      for (const { name } of decoys) await world.judge(name);
      await world.digest();
      expect(await flagged(world, 'fresh.com')).toBe(true);
    },
  );

  it('a host that receives for a domain of the panel, nor its address, nor hosts beside it', async () => {
    const [host, beside] = ['mx1.registrar.net', 'mx2.registrar.net'];
    const popular = { ...one('popular.com', host), popular: true };
    const fresh = [one('a.com', host), one('b.com', beside), one('c.com', 'mx.vanity.net')];
    const sites = [...listedAt(host, 50), ...listedAt(beside, 4, 'more'), popular, ...fresh];
    const hosts = { [host]: '5.61.1.1', [beside]: '5.61.1.2', 'mx.vanity.net': '5.61.1.1' };
    const world = await swept(hosts, sites);
    for (let pass = 0; pass < 2; pass++) {
      for (const { name } of [popular, ...fresh]) expect(await flagged(world, name), name).toBe(false);
      await world.digest();
    }
    expect(world.learn.infra().size).toBe(0);
  });
});

describe('numbered hosts of one domain', () => {
  it('are one, and a number that was never seen is known', async () => {
    const sites = Array.from({ length: 12 }, (_, at) =>
      listedAt(`mx${at}.rotating.net`, 1, `burn${at}`),
    ).flat();
    const hosts = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`mx${at}.rotating.net`, `5.61.2.${at}`]),
    );
    const world = await swept(hosts, [...sites, one('fresh.com', 'mx59.rotating.net')]);
    // Where it is may speak for it, and nobody waits for that: it is asked for behind the first answer.
    expect((await world.judge('fresh.com')).reason).toBe('safe');
    await world.learn.settle();
    expect(await world.judge('fresh.com')).toMatchObject({ reason: 'disposable', riskScore: 84 });
  });
});

describe('a domain without exchanges', () => {
  const host = 'mx.box.net';
  const bare = (name: string, address: string) => dns.zones.set(name, { records: [a(name, address)] });
  /** The second call: addresses are asked for behind the first. */
  const again = async (world: World, name: string) => {
    await world.judge(name);
    await world.digest();
    return (await world.judge(name)).riskScore;
  };

  it('is found at an address that was learned a month ago, and at no other', async () => {
    const world = await swept({ [host]: '5.61.1.1' }, listedAt(host, 12));
    bare('early.com', '5.61.1.1');
    // Anybody can point a host of his at the address of a web site.
    expect(await again(world, 'early.com')).toBe(35);
    await within(MONTH_LEFT, time, () => world.sweep());
    bare('fresh.com', '5.61.1.1');
    bare('elsewhere.com', '5.61.1.2');
    expect(await again(world, 'fresh.com')).toBe(80);
    expect(await again(world, 'elsewhere.com')).toBe(35);
    expect((await world.graph('fresh.com'))[0]).toMatchObject({ host: 'fresh.com', addresses: ['5.61.1.1'] });
  });

  it('is left alone where listed domains have hosts of their own, as customers of shared hosting do', async () => {
    const own = Array.from({ length: 2 }, (_, at) => ({
      ...one(`own${at}.com`, `mail.own${at}.com`),
      listed: true,
    }));
    const hosts = Object.fromEntries(own.map(({ exchanges }) => [exchanges[0]!, '5.61.1.1']));
    const world = await swept({ ...hosts, [host]: '5.61.1.1' }, [...listedAt(host, 12), ...own]);
    await within(MONTH_LEFT, time, () => world.sweep());
    bare('firm.com', '5.61.1.1');
    expect(await again(world, 'firm.com')).toBe(35);
  });

  it('teaches nothing where it is listed: many of these are parked, where innocents are too', async () => {
    const parked = Array.from({ length: 12 }, (_, at) => ({ ...one(`parked${at}.com`), listed: true }));
    for (const { name } of parked) bare(name, '5.61.1.3');
    zone({ [host]: '5.61.1.1' }, listedAt(host, 12));
    const world = await enter([...parked, ...listedAt(host, 12)]);
    await world.sweep();
    await ask(world, [...parked, ...listedAt(host, 12)]);
    const learned = (await store.listHosts(1, 10)).map(({ name }) => name);
    expect(learned.sort()).toEqual(['*.box.net', '5.61.1.1', host]);
  });

  it('speaks for the address where it is not listed', async () => {
    const world = await swept({ [host]: '5.61.1.1' }, listedAt(host, 5));
    await within(MONTH_LEFT, time, () => world.sweep());
    bare('fresh.com', '5.61.1.1');
    expect(await again(world, 'fresh.com')).toBe(80);
    for (let at = 0; at < 60; at++) {
      bare(`firm${at}.com`, '5.61.1.1');
      await world.judge(`firm${at}.com`);
    }
    await world.digest();
    expect((await world.judge('fresh.com')).riskScore).toBe(35);
  });
});

describe('a host name for each domain, all at one address', () => {
  const many = (prefix: string, count: number, listed: boolean) =>
    Array.from({ length: count }, (_, at) => ({
      ...one(`${prefix}${at}.com`, `${prefix}${at}.box.net`),
      listed,
    }));
  const placed = (sites: readonly Site[]) =>
    Object.fromEntries(sites.map(({ exchanges }) => [exchanges[0]!, '5.61.1.1']));

  it('is found by the first lookup of each', async () => {
    const sites = [...many('burn', 12, true), ...many('fresh', 10, false)];
    const world = await swept(placed(sites), sites);
    for (const { name } of sites)
      expect([name, (await world.judge(name)).reason]).toEqual([name, 'disposable']);
  });

  it('is not, as long as one host beside it is known to be at the address of an innocent', async () => {
    const popular = { ...one('popular.com', 'mx.popular.com'), popular: true };
    const sites = [
      ...many('burn', 12, true),
      popular,
      one('first.com', 'first.box.net'),
      one('other.com', 'x.box.net'),
    ];
    const elsewhere = { 'mx.popular.com': '5.61.9.9', 'first.box.net': '5.61.9.9', 'x.box.net': '5.61.9.9' };
    const world = await swept({ ...placed(sites), ...elsewhere }, sites);
    await world.judge('first.com');
    await world.digest();
    for (const name of ['first.com', 'other.com']) expect((await world.judge(name)).reason).toBe('safe');
  });
});

it('a host that no listed domain uses is spared by its address, though its domain was learned', async () => {
  const hosts = Array.from({ length: 12 }, (_, at) => `mx${at}.rotating.net`);
  const sites = [
    ...hosts.flatMap((host, at) => listedAt(host, 1, `burn${at}`)),
    { ...one('popular.com', 'mx.popular.com'), popular: true },
    one('fresh.com', 'mx58.rotating.net'),
    one('other.com', 'mx59.rotating.net'),
  ];
  const placed = Object.fromEntries(hosts.map((host, at) => [host, `5.61.2.${at}`]));
  const world = await swept(
    {
      ...placed,
      'mx58.rotating.net': '5.61.2.58',
      'mx59.rotating.net': '5.61.9.9',
      'mx.popular.com': '5.61.9.9',
    },
    sites,
  );
  for (const name of ['fresh.com', 'other.com']) await world.judge(name);
  await world.digest();
  expect((await world.judge('fresh.com')).reason).toBe('disposable');
  expect((await world.judge('other.com')).reason).toBe('safe');
});

describe('a domain on hosts of its own', () => {
  const at = (name: string, listed: boolean): Site => ({ ...one(name, `mail.${name}`), listed });
  const address = '5.61.3.1';
  const placed = (sites: readonly Site[]) =>
    Object.fromEntries(sites.map(({ exchanges }) => [exchanges[0]!, address]));

  it('is known by the address that it shares with listed ones, and not in company of one other kind', async () => {
    const listed = Array.from({ length: 10 }, (_, i) => at(`burn${i}.com`, true));
    const sites = [...listed, at('fresh.com', false)];
    const world = await swept(placed(sites), sites);
    await within(24, time, () => world.sweep());
    await world.judge('fresh.com');
    await world.digest();
    const verdict = await world.judge('fresh.com');
    expect(verdict).toMatchObject({ reason: 'disposable', riskScore: 80, isCorporateEmail: false });
    expect(verdict.signals[0]?.detail).toMatch(
      /^the address of mail\.fresh\.com also receives mail for 10 listed/,
    );
  });

  it('is left alone where a name of the panel has that address too', async () => {
    const listed = Array.from({ length: 10 }, (_, i) => at(`burn${i}.com`, true));
    const popular = { ...at('popular.com', false), popular: true };
    const sites = [...listed, popular, at('fresh.com', false)];
    const world = await swept(placed(sites), sites);
    for (let pass = 0; pass < 2; pass++) {
      for (const name of ['fresh.com', 'popular.com']) expect((await world.judge(name)).reason).toBe('safe');
      await world.digest();
    }
  });
});

describe('an exchange below a listed domain', () => {
  it('is evidence at once, with no guest seen', async () => {
    const sites = [
      { ...one('burner.com', 'mx.burner.com'), listed: true },
      one('fresh.com', 'mx7.burner.com'),
    ];
    zone({ 'mx.burner.com': '5.61.1.1', 'mx7.burner.com': '5.61.1.2' }, sites);
    const world = await enter(sites);
    const { reason, riskScore, signals } = await world.judge('fresh.com');
    expect([reason, riskScore, signals[0]?.signal]).toEqual(['disposable', 82, 'listed_exchange']);
  });
});

describe('whoever owns fifty listed domains and points them at a victim', () => {
  const ours = 'mx.evil-box.net';

  it("cannot flag a company on its own hosts, by name or by its hosts' address", async () => {
    const victim = one('victim.com', 'mx1.victim.com', 'mx2.victim.com');
    const hosts = { 'mx1.victim.com': '5.61.9.1', 'mx2.victim.com': '5.61.9.1', [ours]: '5.61.9.1' };
    const sites = [...listedAt('mx1.victim.com', 50), ...listedAt(ours, 50), victim];
    const world = await swept(hosts, sites);
    expect((await world.judge('victim.com')).reason).toBe('safe');
    await world.digest();
    expect(await world.judge('victim.com')).toMatchObject({ reason: 'safe', isCorporateEmail: true });
  });

  it('cannot flag the guests of a platform by pointing a host name of theirs at its address', async () => {
    const vanity = one('vanity.com', 'mx.vanity-host.net');
    const customer = one('customer.com', 'aspmx.l.google.com');
    const hosts = { 'aspmx.l.google.com': '5.61.9.2', 'mx.vanity-host.net': '5.61.9.2', [ours]: '5.61.9.2' };
    const sites = [...listedAt(ours, 50), vanity, customer];
    zone(hosts, sites);
    const world = await enter(sites);
    await world.judge('customer.com');
    await world.digest();
    await world.sweep();
    for (let pass = 0; pass < 2; pass++) {
      expect((await world.judge('vanity.com')).reason).toBe('safe');
      expect((await world.judge('customer.com')).reason).toBe('safe');
      await world.digest();
    }
  });
});

describe('whoever rents a machine', () => {
  const OTHERS: Record<string, string> = { '1-1': '1-2', '1.1': '2.1', '4d.': '4e.', '12341': '12342' };
  it.each([
    'static.1.1.61.5.clients.your-server.de',
    'ec2-5-61-1-1.compute-1.amazonaws.com',
    'vps-1a2b3c4d.vps.ovh.net',
    'c-5-61-1-1.hsd1.ca.comcast.net',
    'lb-1a2b3c4d.elb.us-east-1.amazonaws.com',
    'lb-1a2b3c4d.us-east-1.elb.amazonaws.com',
    'vm1a4d.eastus.cloudapp.azure.com',
    '1.1.61.5.bc.googleusercontent.com',
    '5.61.1.1.vultrusercontent.com',
    'vmi12341.contaboserver.net',
    'mx-5-61-1-1.sslip.io',
    'home4d.asuscomm.com',
  ])(
    'is found under the name that its landlord gives it, and no other tenant with him: %s',
    async machine => {
      const other = machine.replace(/1-1|1\.1|4d\.|12341/, part => OTHERS[part] ?? part);
      const sites = [...listedAt(machine, 12), one('fresh.com', machine), one('neighbour.com', other)];
      const world = await swept({ [machine]: '5.61.1.1', [other]: '5.61.1.2' }, sites);
      for (let pass = 0; pass < 2; pass++) {
        await world.judge('fresh.com');
        await world.judge('neighbour.com');
        await world.digest();
      }
      expect((await world.judge('fresh.com')).reason).toBe('disposable');
      expect((await world.judge('neighbour.com')).reason).toBe('safe');
    },
  );

  it('cannot have what was learned spared by the name that the hosting company gives it', async () => {
    const [host, machine] = ['mx.box.net', 'static.1.1.61.5.clients.your-server.de'];
    const sites = [...listedAt(host, 12), one('fresh.com', host), one('trick.com', machine)];
    const world = await swept({ [host]: '5.61.1.1', [machine]: '5.61.1.1' }, sites);
    expect((await world.judge('fresh.com')).reason).toBe('disposable');
    for (let pass = 0; pass < 2; pass++) {
      await world.judge('trick.com');
      await world.digest();
    }
    expect((await world.judge('fresh.com')).reason).toBe('disposable');
  });
});

describe('what was learned', () => {
  const host = 'mx.box.net';
  const sites = [...listedAt(host, 12), one('fresh.com', host)];

  it('decays: guests that were not seen at an address for 30 days have left it, and after 90 are forgotten', async () => {
    const world = await swept({ [host]: '5.61.1.1', 'mx.late.net': '5.61.1.9' }, [
      ...sites,
      one('late.com', 'mx.late.net'),
    ]);
    time.now += 89 * DAY_MS;
    await world.judge('late.com');
    await world.digest();
    // The host and its domain.
    expect(world.learn.infra().size).toBe(2);
    time.now += 3 * DAY_MS;
    await world.judge('late.com');
    await world.digest();
    expect(world.learn.infra().size).toBe(0);
    expect(await store.listHosts(1, 10)).toEqual([]);
  });

  it('is judged in steps under the first lists and the next ones, also what is read meanwhile or before they are put in place', async () => {
    const listed = ['a', 'b', 'c'].map(name => `${name}.com`);
    const guests = (at: string) =>
      listed.map(domain => guestOf({ host: at, domain, entry: domain, day: '2026-11-15' }));
    const learn = (at: string) => store.learn(guests(at), [], '2026-11-15', '2026-08-17');
    const lists = () => catalogOf(listed, { telemetry: listed });
    let current = await lists();
    let made = 0;
    // Of ten million names that is 4.6 s in one piece (2026-11-17).
    let isInTurns = false;
    const asked = current.walkingDeep.bind(current);
    current.walkingDeep = visit => {
      expect(isInTurns).toBe(true);
      return asked(visit);
    };
    const learner = await createLearn({
      store: {
        ...store,
        readHosts: async (...asked) => {
          const records = await store.listHosts(...asked);
          const iterate = () => {
            made++;
            return records.values();
          };
          return { [Symbol.iterator]: iterate };
        },
      },
      resolver: { last: () => undefined },
      addresses: NO_ADDRESSES,
      catalog: () => current,
      clock: () => time.now,
      isClockBelieved: () => true,
      async inTurns(steps) {
        isInTurns = true;
        return allAtOnce(steps);
      },
      onError: error => {
        throw error;
      },
    });
    ends.unshift(() => learner.close());
    for (let at = 0; at < 8; at++) await learn(`mx.box${at}.net`);
    await learner.reload();

    // Read while the steps are taken.
    current = await lists();
    const steps = learner.adopting(current);
    expect(steps.next().done).toBe(false);
    await learn('mx.meanwhile.net');
    await learner.reload();
    const put = allAtOnce(steps);
    made = 0;
    put();
    expect([made, learner.infra().size]).toEqual([0, 9]);

    // Read between the last step and the moment they are put in place: that judges nobody there and then.
    current = await lists();
    const late = allAtOnce(learner.adopting(current));
    await learn('mx.late.net');
    await learner.reload();
    made = 0;
    late();
    expect([made, learner.infra().size]).toEqual([0, 9]);
    await eventually('what was read is not lost', async () => learner.infra().size === 10);
  });

  it('counts an innocent guest also on a day on which somebody asked for another name below it first', async () => {
    const world = await swept({ [host]: '5.61.1.1' }, [...sites, one('firm.com', host)]);
    const innocents = async () =>
      (await store.listHosts(1, 99)).find(({ name }) => name === host)?.innocent ?? 0;
    const before = await innocents();
    dns.zones.set('www.firm.com', { records: [a('www.firm.com', '5.61.9.9')] });
    for (const name of ['www.firm.com', 'firm.com']) {
      await world.judge(name);
      await world.digest();
    }
    expect(await innocents()).toBe(before + 1);
  });

  it('grows beside a key that asks for more listed names than anybody answers for', async () => {
    zone({ [host]: '5.61.1.1' }, sites);
    const world = await enter(sites);
    const listed = { entry: 'mute.com', corroborated: true, since: 0 };
    for (let at = 0; at < 6_000; at++)
      world.learn.note(`mute${at}.com` as Site['name'], `mute${at}.com`, listed, MAIL_NOT_ASKED, 'greedy');
    await ask(world, sites.slice(0, 3), 1);
    const learned = async () => {
      await world.digest();
      return (await store.listHosts(3, 10)).length;
    };
    await expect.poll(learned).toBe(3);
  });

  it('is shared by all servers on a store, and outlives them', async () => {
    await (await swept({ [host]: '5.61.1.1' }, sites)).close();
    const another = await enter(sites);
    await another.learn.hold();
    await another.learn.settle();
    expect((await another.judge('fresh.com')).riskScore).toBe(84);
  });

  it('is complete when a server has been up for a moment: it asks for the addresses by itself', async () => {
    zone({ [host]: '5.61.1.1' }, sites);
    const listed = sites.filter(site => site.listed).map(({ name }) => name as string);
    const day = dayOf(Date.now());
    const options = {
      dns,
      folder: temporaryFolder(),
      catalog: await catalogOf(listed, { telemetry: listed }),
    };
    const before = await startTestService(options);
    const guests = [host, '5.61.1.1'].flatMap(at =>
      listed.map(domain => guestOf({ host: at, domain, entry: domain, day })),
    );
    await before.store.learn(guests, [], day, '2026-01-01');
    // What others know, and nobody says any more.
    const met = { host: 'mx.met.net', below: 'met.net', addresses: '5.61.1.1', day };
    await before.store.keepWhereabouts([met], '2026-01-01');
    zone({}, [one('met.com', 'mx.met.net')]);
    dns.zones.set('mx.met.net', { fault: 'drop' });
    await before.close();
    expect(dns.asked(host)).toBe(0);
    const after = await startTestService(options);
    const { secret } = await after.key();
    expect(await (await after.get('/v1/public/domain/met.com', secret)).json()).toMatchObject({
      risk_score: 80,
    });
    await expect.poll(() => dns.asked(host, 'A'), { timeout: 10_000 }).toBe(1);
  });

  it('is not held against a host by its name while a server that was just started does not know its address', async () => {
    const popular = { ...one('popular.com', 'mx.popular.com'), popular: true };
    const hosts = { [host]: '5.61.1.1', 'mx.popular.com': '5.61.1.1' };
    const world = await swept(hosts, [...sites, popular]);
    expect((await world.judge('fresh.com')).reason).toBe('safe');
    expect(world.learn.infra().size).toBeGreaterThan(0);
    await world.close();
    const another = await enter([...sites, popular]);
    for (let pass = 0; pass < 3; pass++) {
      expect((await another.judge('fresh.com')).reason).toBe('safe');
      await another.digest();
    }
  });

  it.each<[string, Zone]>([
    ['asking for it failed', { fault: 'servfail' }],
    ['it had none', { records: [] }],
  ])('is asked for its address again where %s, though its domain was noted that day', async (_, trouble) => {
    await (await swept({ [host]: '5.61.1.1' }, sites)).close();
    dns.zones.set(host, trouble);
    const clock = time.now;
    const another = await enter(sites);
    expect((await another.judge('fresh.com')).reason).toBe('safe');
    await another.learn.settle();
    expect((await another.judge('fresh.com')).reason).toBe('safe');
    zone({ [host]: '5.61.1.1' }, []);
    time.now += 11 * 60_000;
    expect(new Date(time.now).getUTCDate()).toBe(new Date(clock).getUTCDate());
    await another.judge('fresh.com');
    await another.learn.settle();
    expect((await another.judge('fresh.com')).riskScore).toBe(84);
  });

  it('is forgotten for good when an operator says so, by name and by address, until it is undone', async () => {
    const world = await swept({ [host]: '5.61.1.1' }, sites);
    expect((await world.judge('fresh.com')).riskScore).toBe(84);
    expect(await store.forgetHost(host, time.now, ACT)).toBe(true);
    for (let day = 0; day < 2; day++) {
      await world.digest();
      expect((await world.judge('fresh.com')).reason).toBe('safe');
      time.now += DAY_MS;
      await world.sweep();
    }
    expect(await store.forgetHost(host, null, ACT)).toBe(true);
    await world.sweep();
    expect((await world.judge('fresh.com')).riskScore).toBe(84);
    expect(await store.forgetHost('*.box.net', time.now, ACT)).toBe(true);
    await world.digest();
    expect((await world.judge('fresh.com')).reason).toBe('safe');
    expect(await store.forgetHost('mx.never-seen.net', time.now, ACT)).toBe(false);
  });
});

describe('a sweep', () => {
  const host = 'mx.box.net';
  const sites = listedAt(host, 120);

  it('goes on where the last one stopped, and begins anew after it came to the end', async () => {
    zone({ [host]: '5.61.1.1' }, sites);
    const world = await enter(sites);
    const all = (await world.sweep(50)).left + 50;
    expect(await world.sweep(all - 60)).toMatchObject({ asked: all - 60, left: 10 });
    expect(await store.sweepMark()).toMatchObject({ endedAt: null });
    expect(await world.sweep()).toMatchObject({ asked: 10, received: 10, left: 0 });
    for (const { name } of sites) expect(dns.asked(name, 'MX')).toBe(1);
    expect(await store.sweepMark()).toMatchObject({ endedAt: time.now });
    expect(await world.sweep(5)).toMatchObject({ asked: 5, left: all - 5 });
  });

  it('beside another one loses nothing of what that has found out', async () => {
    zone({ [host]: '5.61.1.1' }, sites);
    dns.zones.clear();
    const [one, other] = [await enter(sites), await enter(sites)];
    await one.sweep();
    const whole = (await store.sweepMark())!;
    await store.markSweep({ ...whole, dead: null, endedAt: null, last: '' });
    const slow = other.sweep(50);
    await store.markSweep(whole);
    await slow;
    const left = (await store.sweepMark())!;
    expect(new HashedNames(left.dead).size).toBe(new HashedNames(whole.dead).size);
    expect(new HashedNames(left.dead).size).toBeGreaterThan(0);
  });

  /** By a resolver that knows its sentinels and none of the sites; gives how many are marked as dead. */
  async function denying() {
    const sentinels = ['big.com', 'large.com', 'huge.com', 'vast.com'];
    zone(
      { [host]: '5.61.1.1' },
      sentinels.map(name => one(name, host)),
    );
    const catalog = await catalogOf(sites.slice(0, 12).map(({ name }) => name));
    const resolver = createResolver({ servers: [dns.address], sentinels });
    const clock = () => time.now;
    const parts = { store, resolver, catalog: () => catalog, clock, onError: () => {} };
    const { learn, close } = await openVerdicts(parts);
    ends.unshift(async () => {
      await close();
      await resolver.close();
    });
    const options = { limit: undefined, rate: 8, progress: () => {} };
    const swept = async (settledMs: number, stop = new AbortController().signal) => {
      await sweep({ store, resolver, catalog, learn, clock }, { ...options, settledMs, stop });
      return new HashedNames((await store.sweepMark())?.dead ?? null).size;
    };
    return { resolver, swept };
  }

  it('marks no name as dead that a resolver denied for a moment, though it knew its sentinels then', async () => {
    const { resolver, swept } = await denying();
    const began = setTimeout(() => zone({}, sites), 2_400);
    ends.unshift(async () => clearTimeout(began));
    expect(await swept(4_000)).toBe(0);
    expect(resolver.health().servers[0]!.problem).toMatch(/or other names by turns/);
  });

  it('marks no name as dead where it was ended before it could be known', async () => {
    const { swept } = await denying();
    expect(await swept(60_000, AbortSignal.timeout(700))).toBe(0);
    expect(await swept(1)).toBeGreaterThan(0);
  });

  it('ends where DNS does not answer, and counts nothing as done', async () => {
    zone({ [host]: '5.61.1.1' }, sites);
    const world = await enter(sites);
    dns.fault = 'servfail';
    await expect(world.sweep()).rejects.toThrow(/DNS_SERVERS/);
    expect(await store.sweepMark()).toBeUndefined();
  });
});
