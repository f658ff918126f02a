import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAIL_UNKNOWN, type Mail } from '../../src/core/mail.ts';
import { Cache, type Entry } from '../../src/dns/cache.ts';
import { packMail, unpackMail } from '../../src/dns/pack.ts';
import { mx } from '../support/dns.ts';
import { domain, resolving } from '../support/resolving.ts';
import { eventually } from '../support/scale.ts';

const HOUR = 3_600_000;
const zoneOf = (name: string) => ({ records: [mx(name, 10, 'mail.example.net')] });
/** Few places, so that a few names fill them. */
const SMALL = { places: { most: 4, perZone: 4, perKey: 4 }, soonMs: 30, budgetMs: 400 };
const drops = (names: readonly string[]) =>
  Object.fromEntries(names.map(name => [name, { fault: 'drop' as const }]));

describe('one question per name', () => {
  test('500 callers at once send one MX question and all get its answer', async () => {
    const { dns, resolver } = await resolving({ 'herd.com': { ...zoneOf('herd.com'), fault: { slow: 50 } } });
    const herd = Array.from({ length: 500 }, (_, at) => resolver.resolve(domain('herd.com'), `key${at % 3}`));
    const mails = await Promise.all(herd);
    expect(new Set(mails).size).toBe(1);
    expect(mails[0]?.state).toBe('mx');
    expect(dns.asked('herd.com', 'MX')).toBe(1);
    expect(dns.questions.length).toBe(1);
    expect(resolver.counters).toMatchObject({ misses: 1, joined: 499 });
  });

  test('background work and callers share the question too', async () => {
    const { dns, resolver } = await resolving({ 'herd.com': { ...zoneOf('herd.com'), fault: { slow: 50 } } });
    resolver.prefetch(domain('herd.com'), 'key');
    resolver.prefetch(domain('herd.com'), 'key');
    expect((await resolver.resolve(domain('herd.com'), 'key')).state).toBe('mx');
    resolver.prefetch(domain('herd.com'), 'key');
    expect(dns.questions.length).toBe(1);
    expect(resolver.counters.background).toBe(1);
  });
});

describe('names whose servers never answer', () => {
  const tarpit = Array.from({ length: 1_000 }, (_, at) => `tarpit${at}.com`);

  test('1,000 of one key take half of the places and leave other callers untouched', async () => {
    const { resolver } = await resolving({ ...drops(tarpit), 'good.com': zoneOf('good.com') });
    const stuck = tarpit.map(name => resolver.resolve(domain(name), 'attacker'));
    expect(resolver.health()).toMatchObject({ inFlight: 64, waiting: 936 });
    expect((await resolver.resolve(domain('good.com'), 'caller')).state).toBe('mx');
    expect(new Set((await Promise.all(stuck)).map(mail => mail.state))).toEqual(new Set(['unknown']));
    // What was asked for them last goes on for as long as any question does.
    await eventually('nothing is left', () => resolver.health().inFlight === 0);
    expect(resolver.health()).toMatchObject({ inFlight: 0, slow: 0, waiting: 0 });
  });

  test('of 100 keys they take all places, and a caller gets the next one that is free', async () => {
    const zones = { ...drops(tarpit), 'good.com': zoneOf('good.com') };
    const { resolver } = await resolving(zones, { budgetMs: 30_000 });
    const stuck = tarpit.map((name, at) => resolver.resolve(domain(name), `key${at % 100}`));
    expect(resolver.health().inFlight).toBe(128);
    expect((await resolver.resolve(domain('good.com'), 'caller')).state).toBe('mx');
    await resolver.close();
    await Promise.all(stuck);
  });

  test('no more are asked at one time than there are places, in the slow room too', async () => {
    const caps = { ...SMALL, slow: { most: 6, perZone: 6, perKey: 4 } };
    const { resolver } = await resolving(drops(tarpit), caps);
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, resolver.health().inFlight);
    }, 1);
    const stuck = tarpit.slice(0, 200).map((name, at) => resolver.resolve(domain(name), `key${at % 3}`));
    await Promise.all(stuck);
    clearInterval(watch);
    expect(most).toBeGreaterThan(4);
    expect(most).toBeLessThanOrEqual(10);
  });

  test('below one registrable domain they take 4 places, whoever asks', async () => {
    const names = Array.from({ length: 50 }, (_, at) => `a${at}.b${at % 7}.water.co.uk`);
    const { resolver } = await resolving(
      { ...drops(names), 'dry.co.uk': zoneOf('dry.co.uk') },
      { budgetMs: 300 },
    );
    const stuck = names.map((name, at) => resolver.resolve(domain(name), `key${at}`));
    expect(resolver.health().inFlight).toBe(4);
    expect((await resolver.resolve(domain('dry.co.uk'), 'key0')).state).toBe('mx');
    await Promise.all(stuck);
  });

  test('below a shared suffix each customer has places of his own', async () => {
    const names = Array.from({ length: 50 }, (_, at) => `a${at}.tarpit.eu.org`);
    const { resolver } = await resolving(
      { ...drops(names), 'good.eu.org': zoneOf('good.eu.org') },
      { budgetMs: 300 },
    );
    const stuck = names.map((name, at) => resolver.resolve(domain(name), `key${at}`));
    const good = resolver.resolve(domain('good.eu.org'), 'key');
    // Four of the one and one of the other.
    expect(resolver.health().inFlight).toBe(5);
    expect((await good).state).toBe('mx');
    await Promise.all(stuck);
  });

  test('a name that takes its time is answered beside them', async () => {
    const slow = { ...zoneOf('slow.com'), fault: { slow: 600 } };
    const { resolver } = await resolving({ ...drops(tarpit), 'slow.com': slow });
    const stuck = tarpit.slice(0, 100).map(name => resolver.resolve(domain(name), 'key'));
    expect((await resolver.resolve(domain('slow.com'), 'key')).state).toBe('mx');
    await resolver.close();
    await Promise.all(stuck);
  });

  test('so is one that another key asked for before, though that one gives up its own for them', async () => {
    const slow = { ...zoneOf('slow.com'), fault: { slow: 400 } };
    const caps = { slow: { most: 9, perZone: 9, perKey: 4 }, soonMs: 30 };
    const { resolver } = await resolving({ ...drops(tarpit), 'slow.com': slow }, caps);
    const stuck = ['slow.com', ...tarpit.slice(0, 20)].map(name =>
      resolver.resolve(domain(name), 'attacker'),
    );
    expect((await resolver.resolve(domain('slow.com'), 'caller')).state).toBe('mx');
    await resolver.close();
    await Promise.all(stuck);
  });

  test('background work has 16 places of its own for each key, and takes none of the callers', async () => {
    const { resolver } = await resolving(
      { ...drops(tarpit), 'good.com': zoneOf('good.com') },
      { ...SMALL, budgetMs: 600 },
    );
    for (const name of tarpit) resolver.prefetch(domain(name), 'key');
    expect(resolver.health()).toMatchObject({ inFlight: 16, waiting: 0 });
    const stuck = tarpit.slice(100, 104).map((name, at) => resolver.resolve(domain(name), `key${at}`));
    expect(resolver.health()).toMatchObject({ inFlight: 20, waiting: 0 });
    await Promise.all(stuck);
  });

  test("background work of one key's names that never answer holds up nobody's else", async () => {
    const { resolver } = await resolving({
      ...drops(tarpit),
      ...{ 'listed.com': zoneOf('listed.com'), 'late.com': zoneOf('late.com') },
    });
    const known = (name: string) => resolver.last(domain(name))?.state;
    for (const name of tarpit) resolver.prefetch(domain(name), 'greedy');
    resolver.prefetch(domain('listed.com'), 'key');
    await expect.poll(() => known('listed.com')).toBe('mx');
    // Its own neither, as soon as those are known to be slow.
    const late = () => {
      resolver.prefetch(domain('late.com'), 'greedy');
      return known('late.com');
    };
    await expect.poll(late).toBe('mx');
    expect(resolver.health().inFlight).toBe(16);
    await resolver.close();
  });
});

describe('who waits for a place', () => {
  const names = Array.from({ length: 256 }, (_, at) => `new${at}.com`);
  const answering = (slow: number) =>
    Object.fromEntries(names.map(name => [name, { ...zoneOf(name), fault: { slow } }]));

  test('256 new names at once on one key: every one is answered by DNS', async () => {
    const { dns, resolver } = await resolving(answering(20));
    const mails = await Promise.all(names.map(name => resolver.resolve(domain(name), 'key')));
    expect(mails.filter(mail => mail.state !== 'mx').length).toBe(0);
    expect(resolver.counters.capped).toBe(0);
    expect(dns.questions.length).toBe(256);
  });

  test('500 callers of 5 keys who wait for one name send one question', async () => {
    const { dns, resolver } = await resolving({ ...answering(100), 'herd.com': zoneOf('herd.com') }, SMALL);
    const first = names.slice(0, 4).map((name, at) => resolver.resolve(domain(name), `other${at}`));
    const herd = Array.from({ length: 500 }, (_, at) => resolver.resolve(domain('herd.com'), `key${at % 5}`));
    expect(resolver.health()).toMatchObject({ inFlight: 4, waiting: 5 });
    const mails = await Promise.all(herd);
    await Promise.all(first);
    expect(new Set(mails).size).toBe(1);
    expect(mails[0]?.state).toBe('mx');
    expect(dns.asked('herd.com')).toBe(1);
    expect(resolver.health()).toMatchObject({ inFlight: 0, waiting: 0 });
  });

  test("who asks for a name that waits in another key's row does not wait in that row", async () => {
    const { dns, resolver } = await resolving(answering(50), SMALL);
    const busy = names.slice(0, 40).map(name => resolver.resolve(domain(name), 'busy'));
    const last = names[39]!;
    await resolver.resolve(domain(last), 'idle');
    expect(resolver.health().waiting).toBeGreaterThan(20);
    await Promise.all(busy);
    expect(dns.asked(last)).toBe(1);
  });

  test('who got a place too late to know that a name does not answer does not remember it as one that fails', async () => {
    const { resolver } = await resolving(
      { 'first.com': { ...zoneOf('first.com'), fault: { slow: 250 } }, 'last.com': { fault: 'drop' } },
      { places: { most: 1, perZone: 1, perKey: 1 }, soonMs: 300, budgetMs: 400 },
    );
    const first = resolver.resolve(domain('first.com'), 'key');
    expect((await resolver.resolve(domain('last.com'), 'key')).state).toBe('unknown');
    expect(resolver.peek(domain('last.com'))).toBeUndefined();
    expect((await first).state).toBe('mx');
  });

  test('a name that background work asks meanwhile is not asked twice', async () => {
    const { dns, resolver } = await resolving(answering(50), SMALL);
    const busy = names.slice(0, 8).map(name => resolver.resolve(domain(name), 'key'));
    resolver.prefetch(domain(names[7]!), 'key');
    expect((await resolver.resolve(domain(names[7]!), 'key')).state).toBe('mx');
    await Promise.all(busy);
    expect(dns.asked(names[7]!)).toBe(1);
  });
});

describe('hot names never wait', () => {
  test('the answer is renewed in the background by a lookup in its last tenth', async () => {
    const { dns, resolver, time } = await resolving({ 'hot.com': zoneOf('hot.com') });
    await resolver.resolve(domain('hot.com'), 'key');
    time.now += 0.9 * HOUR - 1;
    expect(resolver.peek(domain('hot.com'))?.state).toBe('mx');
    expect(resolver.health().inFlight).toBe(0);
    time.now += 1;
    for (let times = 0; times < 100; times++) expect(resolver.peek(domain('hot.com'))?.state).toBe('mx');
    expect(resolver.health().inFlight).toBe(1);
    await expect.poll(() => resolver.health().inFlight).toBe(0);
    expect(dns.asked('hot.com')).toBe(2);
    time.now += 0.8 * HOUR;
    expect(resolver.peek(domain('hot.com'))).toMatchObject({ state: 'mx', stale: false });
    expect(dns.asked('hot.com')).toBe(2);
  });

  test('a renewal that found no place is tried again a second later', async () => {
    const { dns, resolver, time } = await resolving(
      { 'hot.com': zoneOf('hot.com'), 'hotter.com': zoneOf('hotter.com') },
      { background: { most: 1, perZone: 1, perKey: 1 }, budgetMs: 200 },
    );
    for (const name of ['hot.com', 'hotter.com']) await resolver.resolve(domain(name), 'key');
    dns.zones.set('hotter.com', { fault: 'drop' });
    time.now += 0.95 * HOUR;
    for (const name of ['hotter.com', 'hot.com']) expect(resolver.peek(domain(name))?.state).toBe('mx');
    await expect.poll(() => resolver.health().inFlight).toBe(0);
    expect(dns.asked('hot.com')).toBe(1);
    time.now += 1_000;
    expect(resolver.peek(domain('hot.com'))?.state).toBe('mx');
    await expect.poll(() => dns.asked('hot.com')).toBe(2);
  });

  test('while renewing fails, the answer goes on being served, and it is tried every 30 s', async () => {
    const { dns, resolver, time } = await resolving({ 'hot.com': zoneOf('hot.com') }, { budgetMs: 200 });
    await resolver.resolve(domain('hot.com'), 'key');
    dns.fault = 'servfail';
    time.now += 0.95 * HOUR;
    for (let round = 0; round < 3; round++) {
      expect(resolver.peek(domain('hot.com'))).toMatchObject({ state: 'mx', stale: false });
      await expect.poll(() => resolver.health().inFlight).toBe(0);
      expect(dns.asked('hot.com')).toBe(2 + round);
      time.now += 29_999;
      resolver.peek(domain('hot.com'));
      expect(resolver.health().inFlight).toBe(0);
      time.now += 1;
    }
  });
});

describe('memory', () => {
  const answer = (hosts: number, host = 'mail.example.net'): Entry => ({
    mail: {
      state: 'mx',
      exchanges: Array.from({ length: hosts }, (_, preference) => ({ host, preference })),
      stale: false,
    } satisfies Mail,
    obtainedAt: 0,
    expiresAt: 0,
    lookAt: 0,
    quietUntil: 0,
  });

  test('a flood of one-hit names stays at the cap and pushes out no name that is asked often', async () => {
    const hot = Array.from({ length: 40 }, (_, at) => `hot${at}.com`);
    const { dns, resolver } = await resolving(Object.fromEntries(hot.map(name => [name, zoneOf(name)])), {
      cacheEntries: 200,
    });
    for (const name of [...hot, ...hot]) await resolver.resolve(domain(name), 'key');
    expect(dns.questions.length).toBe(40);
    for (let round = 0; round < 20; round++) {
      const flood = Array.from({ length: 100 }, (_, at) => `flood-${round}-${at}.com`);
      await Promise.all(flood.map((name, at) => resolver.resolve(domain(name), `key${at % 10}`)));
      const hits = hot.filter(name => resolver.peek(domain(name))?.state === 'mx');
      expect(hits.length).toBe(40);
      expect(resolver.health().cached).toBeLessThanOrEqual(200);
    }
    expect(resolver.counters.capped).toBe(0);
    expect(dns.questions.length).toBe(2_040);
  });

  test('200,000 names in a cache of 50,000: hot ones stay, and both bounds hold', () => {
    const cache = new Cache(50_000, 32 * 2 ** 20);
    const hot = Array.from({ length: 1_000 }, (_, at) => `hot${at}.com`);
    for (const name of hot) cache.set(name, answer(2));
    for (const name of hot) cache.get(name);
    for (let at = 0; at < 200_000; at++) cache.set(`one-hit-${at}.com`, answer(at % 3));
    expect(hot.filter(name => cache.get(name)).length).toBe(1_000);
    expect(cache.size).toBeLessThanOrEqual(50_000);
    expect(cache.bytes).toBeLessThanOrEqual(32 * 2 ** 20);
  });

  test('whatever is asked in whatever order, entries and bytes stay within their bounds', () => {
    const step = fc.record({ name: fc.integer({ min: 0, max: 60 }), hosts: fc.integer({ min: 0, max: 20 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), steps => {
        const cache = new Cache(20, 20_000);
        for (const { name, hosts } of steps) {
          if (!cache.get(`n${name}`)) cache.set(`n${name}`, answer(hosts, 'h'.repeat(200)));
          expect(cache.size).toBeLessThanOrEqual(20);
          expect(cache.bytes).toBeLessThanOrEqual(20_000);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('an answer is packed to one text and comes back as it was', () => {
    const exchange = fc.record({
      host: fc.domain(),
      preference: fc.integer({ min: 0, max: 65_535 }),
    });
    fc.assert(
      fc.property(fc.array(exchange, { minLength: 1, maxLength: 20 }), exchanges => {
        const mail: Mail = { state: 'mx', exchanges, stale: false };
        expect(packMail(mail)).toBeTypeOf('string');
        expect(unpackMail(packMail(mail))).toEqual(mail);
      }),
    );
    expect(unpackMail(packMail(MAIL_UNKNOWN))).toBe(MAIL_UNKNOWN);
  });

  test('a name that is asked again gives out one and the same answer from then on', async () => {
    const { resolver } = await resolving({ 'hot.com': zoneOf('hot.com') });
    const first = await resolver.resolve(domain('hot.com'), 'key');
    const hot = resolver.peek(domain('hot.com'));
    expect(hot).toEqual(first);
    expect(resolver.peek(domain('hot.com'))).toBe(hot);
    expect(resolver.last(domain('hot.com'))).toBe(hot);
  });

  test('what a name asked for once takes is one text', () => {
    const cache = new Cache(100, 2 ** 20);
    cache.set('once.com', answer(10));
    const packed = cache.bytes;
    cache.get('once.com');
    expect(cache.bytes).toBeGreaterThan(2 * packed);
  });

  test('long answers push out no others, however often they are asked for, and leave their queue when they are short', () => {
    const cache = new Cache(50_000, 32 * 2 ** 20);
    const often = Array.from({ length: 1_000 }, (_, at) => `often${at}.com`);
    const once = Array.from({ length: 1_000 }, (_, at) => `once${at}.com`);
    for (const name of [...often, ...once]) cache.set(name, answer(2));
    for (const name of often) cache.get(name);
    for (let at = 0; at < 1_700; at++) {
      const name = `n${at}.evil.com`;
      cache.set(name, answer(64, 'h'.repeat(230)));
      cache.get(name);
    }
    expect([...often, ...once].filter(name => cache.peek(name)).length).toBe(2_000);
    expect(cache.bytes).toBeLessThanOrEqual(6 * 2 ** 20);
    for (const hosts of [1, 64, 1]) {
      cache.set('n1699.evil.com', answer(hosts));
      expect(cache.peek('n1699.evil.com')?.mail.exchanges.length).toBe(hosts);
      cache.get('n1699.evil.com');
      expect(cache.peek('n1699.evil.com')?.mail.exchanges.length).toBe(hosts);
    }
  });

  test('a name pushed out of the protected part gets a second chance', () => {
    const cache = new Cache(10, 2 ** 20);
    const ask = (name: string) => cache.get(name) ?? cache.set(name, answer(0));
    for (let at = 0; at < 8; at++) {
      ask(`n${at}`);
      ask(`n${at}`);
    }
    expect(cache.size).toBe(8);
    expect(cache.peek('n0')).toBeDefined();
    ask('x');
    ask('y');
    expect(cache.peek('n0')).toBeUndefined();
    expect(cache.peek('n1')).toBeDefined();
  });
});
