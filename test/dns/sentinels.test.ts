import { describe, expect, test } from 'vitest';
import { PROBE_MS } from '../../src/dns/probe.ts';
import { a, aaaa, type DnsServer, type Fault, type Lie, mx, type Zone } from '../support/dns.ts';
import { domain, type Resolving, resolverFor, serveZones } from '../support/resolving.ts';
import { isBound, isStarved } from '../support/vitals.ts';

const SENTINELS = ['big.com', 'large.com', 'huge.com', 'vast.com'];
const receiving = (name: string) => ({ records: [mx(name, 10, 'mail.example.net')] });
const sentinel = (name: string) => ({
  records: [mx(name, 10, 'mail.example.net'), a(name, '93.184.215.14')],
});
const ZONES = {
  ...Object.fromEntries(SENTINELS.map(name => [name, sentinel(name)])),
  'company.com': receiving('company.com'),
  'bare.com': { records: [a('bare.com', '93.184.215.14')] },
};
const LIES: readonly Lie[] = ['nxdomain', 'empty', 'address'];
/** Every one exists or does not; a liar knows none of them. */
const ASKED = ['company.com', 'bare.com', 'gone.com'];
const TRUTH = ['mx', 'implicit_mx', 'nxdomain'];

const isSentinel = (name: string) => SENTINELS.includes(name) || /^[a-z]{20}\.com$/.test(name);
const probes = (dns: DnsServer) => dns.asked(SENTINELS[0]!, 'MX');

async function watched(fault?: Fault): Promise<Watching> {
  const dns = await serveZones(ZONES);
  dns.fault = fault;
  let changes = 0;
  const changed = () => {
    changes += 1;
  };
  const { resolver, time } = resolverFor([dns.address], {}, { sentinels: SENTINELS, changed });
  const problem = () => resolver.health().servers[0]?.problem;
  return { dns, resolver, time, changes: () => changes, problem };
}

async function states({ resolver }: Pick<Resolving, 'resolver'>, names = ASKED): Promise<string[]> {
  return Promise.all(names.map(async name => (await resolver.resolve(domain(name), 'key')).state));
}

interface Watching extends Resolving {
  changes(): number;
  /** What is told to the operator. */
  problem(): string | null | undefined;
}

/**
 * Moves the time and waits until somebody has probed and been heard. Where it is believed otherwise than before, that
 * tells it: a probe that was open still may have done so, and then the next one is a minute away.
 */
async function probedAfter(
  { dns, resolver, time }: Resolving,
  ms: number,
  isBelieved: boolean,
): Promise<void> {
  const before = probes(dns);
  const isAsBefore = resolver.health().degraded === !isBelieved;
  time.now += ms;
  if (isAsBefore) await expect.poll(() => probes(dns)).toBeGreaterThan(before);
  await expect.poll(() => resolver.health().degraded).toBe(!isBelieved);
}

describe.each(LIES)('a server that answers %s to everything', lie => {
  test('from the start: nothing that it says is a verdict or kept, and it is healed with the first probe after the truth', async () => {
    const world = await watched(lie);
    expect(await states(world)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(await states(world)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(world.resolver.health()).toMatchObject({ degraded: true, cached: 0 });
    world.dns.fault = undefined;
    await probedAfter(world, 5_000, true);
    expect(await states(world)).toEqual(TRUTH);
    expect(world.changes()).toBe(2);
  });

  test('from the middle on: its first lie is found out, and old answers are served', async () => {
    const world = await watched();
    expect(await states(world)).toEqual(TRUTH);
    world.dns.fault = lie;
    world.time.now += 2_000;
    const fresh = ['a.com', 'b.com', 'c.com'];
    expect(await states(world, fresh)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(world.resolver.peek(domain('company.com'))?.state).toBe('mx');
    expect(world.resolver.peek(domain('gone.com'))).toBeUndefined();
    world.dns.fault = undefined;
    for (const name of fresh) world.dns.zones.set(name, receiving(name));
    await probedAfter(world, 5_000, true);
    expect(await states(world, fresh)).toEqual(['mx', 'mx', 'mx']);
    expect(world.changes()).toBe(2);
  });

  test('from a moment after it passed on: no lie is believed, and the truth is as soon as it passes', async () => {
    const world = await watched();
    expect(await states(world, ['first.com'])).toEqual(['nxdomain']);
    world.dns.fault = lie;
    world.dns.zones.set('late.com', receiving('late.com'));
    expect(await states(world, ['late.com'])).toEqual(['unknown']);
    expect(world.resolver.last(domain('late.com'))).toBeUndefined();
    world.dns.fault = undefined;
    await probedAfter(world, 5_000, true);
    expect(await states(world, ['late.com'])).toEqual(['mx']);
  });
});

test.each<Lie>(['nxdomain', 'empty'])(
  'a server that begins to answer %s between two questions of one name makes no verdict about it',
  async lie => {
    const world = await watched();
    const { dns } = world;
    expect(await states(world, ['first.com'])).toEqual(['nxdomain']);
    const rcode = lie === 'nxdomain' ? 'NXDOMAIN' : 'NOERROR';
    const known = dns.zones.get.bind(dns.zones);
    const before = probes(dns);
    dns.zones.get = name => {
      // That bare.com has no mail servers is true, and proven by the next probe; that it has no address is the first lie.
      if (probes(dns) > before + 1) dns.fault = lie;
      const isLie = name === 'bare.com' && dns.questions.at(-1)?.type !== 'MX';
      return isLie ? { rcode, fault: { slow: 600 } } : known(name);
    };
    expect(await states(world, ['bare.com'])).toEqual(['unknown']);
    expect(world.resolver.last(domain('bare.com'))).toBeUndefined();
    expect([dns.asked('bare.com', 'MX'), dns.asked('bare.com', 'A')]).toEqual([1, 1]);
  },
);

test('mail servers that were invented before that was noticed are forgotten when it is, within seconds and not a day', async () => {
  const world = await watched();
  for (const name of ['one.com', 'two.com'])
    world.dns.zones.set(name, { records: [mx(name, 10, `mx.${name}`)] });
  expect(await states(world, ['gone.com'])).toEqual(['nxdomain']);
  world.dns.fault = 'mx';
  // No time passes by the ticks: it is these answers that cause the probe.
  expect(await states(world, ['one.com', 'two.com'])).toEqual(['mx', 'mx']);
  await expect.poll(() => world.resolver.health().degraded).toBe(true);
  expect(world.resolver.last(domain('one.com'))).toBeUndefined();
  expect(await states(world, ['one.com', 'two.com'])).toEqual(['unknown', 'unknown']);
  world.dns.fault = undefined;
  await probedAfter(world, 5_000, true);
  const mail = await world.resolver.resolve(domain('one.com'), 'key');
  expect(mail.exchanges[0]?.host).toBe('mx.one.com');
});

test('mail servers that were invented before the first probe was heard are forgotten with it', async () => {
  const world = await watched();
  world.dns.zones.get = name => ({ ...receiving(name), fault: isSentinel(name) ? { slow: 300 } : undefined });
  expect(await states(world, ['company.com'])).toEqual(['mx']);
  await expect.poll(() => world.resolver.health().degraded).toBe(true);
  expect(await states(world, ['company.com'])).toEqual(['unknown']);
  expect(world.resolver.health().servers[0]?.problem).toMatch(/nothing that it says is believed/);
});

describe('a server that denies some of all questions, as one of several behind it that knows nothing of the world', () => {
  /** Every fourth question of a kind is denied, so that each probe has one denial and another one each time. */
  async function partly() {
    const world = await watched();
    const { dns, time } = world;
    const known = dns.zones.get.bind(dns.zones);
    let asked = 0;
    const denies = { share: 0 };
    dns.zones.get = name => {
      asked += 1;
      return denies.share > 0 && asked % denies.share === 0 ? undefined : known(name);
    };
    for (const name of COMPANIES) dns.zones.set(name, receiving(name));
    expect(await states(world, ['first.com'])).toEqual(['nxdomain']);
    return { ...world, dns, time, denies };
  }
  const COMPANIES = Array.from({ length: 30 }, (_, at) => `company${at}.com`);

  test('makes no verdict, though it knows most sentinels in every probe, and its owner is told', async () => {
    const world = await partly();
    world.denies.share = 5;
    const said: string[] = [];
    for (let at = 0; at < COMPANIES.length; at += 5)
      said.push(...(await states(world, COMPANIES.slice(at, at + 5))));
    expect(new Set(said)).toEqual(new Set(['mx', 'unknown']));
    expect(world.resolver.health().servers[0]?.problem).toMatch(/^gives and denies big\.com, .* by turns/);
    expect(world.changes()).toBe(1);
  });

  test('is believed again within 60 s of telling the truth, and what it denied before it was found out is asked again', async () => {
    const world = await partly();
    world.dns.zones.delete('company0.com');
    expect(await states(world, ['company0.com'])).toEqual(['nxdomain']);
    world.dns.zones.set('company0.com', receiving('company0.com'));
    // It passes once more: of one that denies at random that says nothing.
    await probedAfter(world, 60_000, true);
    world.denies.share = 5;
    await states(world, COMPANIES.slice(1, 10));
    await expect.poll(() => world.resolver.health().degraded).toBe(true);
    world.denies.share = 0;
    for (let seconds = 0; seconds < 45; seconds += 15) await probedAfter(world, 15_000, false);
    await probedAfter(world, 5_000, true);
    expect(await states(world, COMPANIES)).toEqual(COMPANIES.map(() => 'mx'));
  });
});

describe('a server that denies everything for a moment, as one that has the sentinels in its cache and cannot ask', () => {
  const COMPANIES = Array.from({ length: 6 }, (_, at) => `company${at}.com`);
  const kept = ({ resolver }: Watching, names: readonly string[]) =>
    names.filter(name => resolver.peek(domain(name)));

  /** Four in a second are asked for again. */
  async function deniedOneByOne(world: Watching, names: readonly string[], state: string) {
    for (const name of names) {
      await new Promise(resolve => setTimeout(resolve, 300));
      expect(await states(world, [name])).toEqual([state]);
    }
  }

  test('what is there two or ten seconds later is forgotten, its owner is told where that are three, and it is believed again within 60 s', async () => {
    const world = await watched();
    expect(await states(world, ['first.com'])).toEqual(['nxdomain']);
    await deniedOneByOne(world, COMPANIES.slice(0, 3), 'nxdomain');
    const asked = () => COMPANIES.slice(0, 3).map(name => world.dns.asked(name));
    world.time.now += 1_999;
    await new Promise(resolve => setTimeout(resolve, 1_200));
    expect(asked()).toEqual([1, 1, 1]);
    world.dns.zones.set('company0.com', receiving('company0.com'));
    world.time.now += 1;
    await expect
      .poll(() => kept(world, COMPANIES), { timeout: 3_000 })
      .toEqual(['company1.com', 'company2.com']);
    await expect.poll(asked).toEqual([2, 2, 2]);
    world.dns.zones.set('company1.com', receiving('company1.com'));
    world.time.now += 8_000;
    await expect.poll(() => kept(world, COMPANIES), { timeout: 3_000 }).toEqual(['company2.com']);
    expect(await states(world, COMPANIES.slice(0, 3))).toEqual(['mx', 'mx', 'nxdomain']);
    expect(asked()).toEqual([3, 4, 3]);
    // One or two may be new in the very moment.
    expect([world.problem(), world.changes()]).toEqual([null, 0]);
    await deniedOneByOne(world, COMPANIES.slice(3), 'nxdomain');
    for (const name of COMPANIES) world.dns.zones.set(name, receiving(name));
    world.time.now += 2_000;
    await expect.poll(world.changes, { timeout: 3_000 }).toBe(1);
    expect(world.problem()).toMatch(/^gives and denies big\.com, .* or other names by turns/);
    expect(kept(world, COMPANIES)).toEqual(['company0.com', 'company1.com']);
    expect(await states(world, ['gone.com'])).toEqual(['unknown']);
    await probedAfter(world, 40_000, false);
    await probedAfter(world, 6_000, true);
    expect(await states(world, [...COMPANIES, 'gone.com'])).toEqual([
      ...COMPANIES.map(() => 'mx'),
      'nxdomain',
    ]);
  });

  test('companies without mail servers are found again too, and those whose address it denied', async () => {
    const world = await watched();
    const bare = (name: string) => ({ records: [a(name, '93.184.215.14')] });
    world.dns.zones.set('company5.com', { records: [] });
    expect(await states(world, ['first.com'])).toEqual(['nxdomain']);
    await deniedOneByOne(world, COMPANIES.slice(0, 3), 'nxdomain');
    await deniedOneByOne(world, ['company5.com'], 'no_mail');
    for (const name of ['company0.com', 'company5.com']) world.dns.zones.set(name, bare(name));
    world.time.now += 2_000;
    await expect
      .poll(() => kept(world, COMPANIES), { timeout: 3_000 })
      .toEqual(['company1.com', 'company2.com']);
    expect([world.problem(), world.changes()]).toEqual([null, 0]);
    world.dns.zones.set('company1.com', bare('company1.com'));
    world.time.now += 8_000;
    await expect.poll(world.changes, { timeout: 3_000 }).toBe(1);
    expect(world.problem()).toMatch(/or other names by turns/);
    expect(kept(world, COMPANIES)).toEqual([]);
  });

  test('nobody can have it taken for such a one by names of his own that are there by turns', async () => {
    const world = await watched();
    const names = COMPANIES.slice(0, 4).map(name => `mail.${name}`);
    for (const name of COMPANIES) world.dns.zones.set(name, receiving(name));
    await deniedOneByOne(world, names, 'nxdomain');
    for (const name of names) world.dns.zones.set(name, receiving(name));
    world.time.now += 10_000;
    await expect.poll(() => kept(world, names), { timeout: 3_000 }).toEqual([]);
    expect(await states(world, ['gone.com'])).toEqual(['nxdomain']);
    expect([world.problem(), world.changes()]).toEqual([null, 0]);
  });
});

test('a server that gives mail servers to a name that does not exist is not believed at all', async () => {
  const world = await watched('mx');
  await expect.poll(() => world.resolver.health().degraded).toBe(true);
  expect(await states(world)).toEqual(['unknown', 'unknown', 'unknown']);
});

test('mail servers that a server names count whether it passes or not', async () => {
  const world = await watched();
  for (const name of SENTINELS) world.dns.zones.delete(name);
  expect(await states(world)).toEqual(['mx', 'unknown', 'unknown']);
  expect(world.resolver.health().servers[0]?.problem).toMatch(/^denies that big\.com, .*set DNS_SERVERS/);
});

test.each([
  ['IPv4', a],
  ['IPv6', aaaa],
])('a search page at an %s address makes no implicit MX, and its owner is told', async (_, record) => {
  const world = await watched();
  const known = world.dns.zones.get.bind(world.dns.zones);
  const page = record === a ? '93.184.215.14' : '2606:2800:220:1::1';
  // Everything that does not exist has an address.
  world.dns.zones.get = name => known(name) ?? { records: [record(name, page)] };
  expect(await states(world)).toEqual(['mx', 'unknown', 'unknown']);
  expect(world.resolver.health().servers[0]?.problem).toMatch(/names that do not exist/);
});

describe('a server that gives no addresses to anybody (BIND with filter-a)', () => {
  const NO_ADDRESSES = Object.fromEntries(
    [...SENTINELS, 'company.com', 'bare.com'].map(name => [
      name,
      { records: name === 'bare.com' ? [] : [mx(name, 10, 'mail.example.net')] },
    ]),
  );

  test('makes no company without mail servers undeliverable; what else it says counts, and its owner is told', async () => {
    const dns = await serveZones(NO_ADDRESSES);
    let changes = 0;
    const changed = () => {
      changes += 1;
    };
    const world = { dns, ...resolverFor([dns.address], {}, { sentinels: SENTINELS, changed }) };
    expect(await states(world)).toEqual(['mx', 'unknown', 'nxdomain']);
    const problem = () => world.resolver.health().servers[0]?.problem;
    expect(problem()).toMatch(/^gives no address \(A\) for big\.com, .*set DNS_SERVERS/);
    for (const [name, zone] of Object.entries(ZONES)) dns.zones.set(name, zone);
    await probedAfter(world, 60_000, true);
    expect(await states(world)).toEqual(TRUTH);
    expect([problem(), changes]).toEqual([null, 2]);
  });

  test('is passed over for another one that does', async () => {
    const [filtering, honest] = [await serveZones(NO_ADDRESSES), await serveZones(ZONES)];
    const world = resolverFor([filtering.address, honest.address], {}, { sentinels: SENTINELS });
    expect(await states(world)).toEqual(TRUTH);
  });
});

test('silence about sentinels counts against a server only after two minutes', async () => {
  const world = await watched();
  expect(await states(world, ['gone.com'])).toEqual(['nxdomain']);
  for (const name of SENTINELS) world.dns.zones.set(name, { fault: 'drop' });
  await probedAfter(world, 60_000, true);
  // A probe that is open keeps the next one, and so the denial, waiting.
  await new Promise(resolve => setTimeout(resolve, PROBE_MS + 50));
  expect(await states(world, ['gone-too.com'])).toEqual(['nxdomain']);
  await probedAfter(world, 61_000, false);
  expect(world.resolver.health().servers[0]?.problem).toMatch(/^gives no mail servers for/);
  expect(await states(world, ['gone-now.com'])).toEqual(['unknown']);
});

test('the first denial waits for the first probe, and names with mail servers do not', async () => {
  const world = await watched();
  for (const name of SENTINELS) world.dns.zones.set(name, { ...sentinel(name), fault: { slow: 400 } });
  const startedAt = performance.now();
  const denied = states(world, ['gone.com']);
  expect(await states(world, ['company.com'])).toEqual(['mx']);
  expect(await denied).toEqual(['nxdomain']);
  expect(performance.now() - startedAt).toBeGreaterThan(390);
});

test('a probe that is not decided within the budget leaves the first denial unknown, and nothing kept', async () => {
  const dns = await serveZones(ZONES);
  for (const name of SENTINELS) dns.zones.set(name, { fault: 'drop' });
  const { resolver } = resolverFor([dns.address], { budgetMs: 300 }, { sentinels: SENTINELS });
  expect((await resolver.resolve(domain('gone.com'), 'key')).state).toBe('unknown');
  expect(resolver.health()).toMatchObject({ cached: 0 });
});

test('where one of two servers lies, the other one is asked first and believed', async () => {
  const [liar, honest] = [await serveZones(ZONES), await serveZones(ZONES)];
  liar.fault = 'nxdomain';
  const world = resolverFor([liar.address, honest.address], {}, { sentinels: SENTINELS });
  expect(await states(world)).toEqual(TRUTH);
  const asked = () => liar.questions.filter(({ name }) => !isSentinel(name)).length;
  const before = asked();
  expect(await states(world, ['one.com', 'two.com', 'three.com'])).toEqual([
    'nxdomain',
    'nxdomain',
    'nxdomain',
  ]);
  expect(asked()).toBe(before);
  const { servers, degraded } = world.resolver.health();
  expect(servers.map(({ problem }) => problem === null)).toEqual([false, true]);
  expect(degraded).toBe(false);
});

describe('before a denial counts another server is asked', () => {
  test('so that one which denies all but the sentinels makes no verdict beside an honest one', async () => {
    const [liar, honest] = [await serveZones(ZONES), await serveZones(ZONES)];
    for (const name of ['company.com', 'bare.com']) liar.zones.delete(name);
    const world = resolverFor([liar.address, honest.address], {}, { sentinels: SENTINELS });
    expect(await states(world, ['company.com', 'gone.com'])).toEqual(['mx', 'nxdomain']);
    expect([liar.asked('company.com'), honest.asked('company.com')]).toEqual([1, 1]);
  });

  test('and nobody where there is no other: one question for each name', async () => {
    const world = await watched();
    expect(await states(world, ['gone.com'])).toEqual(['nxdomain']);
    expect(world.dns.asked('gone.com')).toBe(1);
  });

  test('while the first one proves itself', async () => {
    const [first, second] = [await serveZones(ZONES), await serveZones(ZONES)];
    for (const name of SENTINELS) first.zones.set(name, { ...sentinel(name), fault: { slow: 1_000 } });
    const caps = { budgetMs: 9_000 };
    const world = resolverFor([first.address, second.address], caps, { sentinels: SENTINELS });
    let isOver = false;
    const denied = states(world, ['gone.com']).finally(() => {
      isOver = true;
    });
    await expect.poll(() => second.asked('gone.com'), { interval: 10 }).toBe(1);
    expect(isOver).toBe(false);
    expect(await denied).toEqual(['nxdomain']);
    expect([first.asked('gone.com'), second.asked('gone.com')]).toEqual([1, 1]);
  });

  test('and is waited for within the budget, however slow it is', async () => {
    const [liar, honest] = [await serveZones(ZONES), await serveZones(ZONES)];
    for (const name of ['company.com', 'bare.com']) {
      liar.zones.delete(name);
      honest.zones.set(name, { ...honest.zones.get(name), fault: { slow: 2_500 } });
    }
    const caps = { budgetMs: 9_000 };
    const world = resolverFor([liar.address, honest.address], caps, { sentinels: SENTINELS });
    expect(await states(world, ['company.com', 'bare.com'])).toEqual(['mx', 'implicit_mx']);
  });

  test.each<[string, Zone]>([
    ['that there are no addresses', { records: [] }],
    ['that it accepts no mail', { records: [mx('bare.com', 0, '.')] }],
    ['that it is received by nobody who could', { records: [mx('bare.com', 0, 'localhost')] }],
    ['that its addresses are private', { records: [a('bare.com', '10.0.0.1')] }],
  ])('whatever is denied: %s', async (_, lie) => {
    const [liar, honest] = [await serveZones(ZONES), await serveZones(ZONES)];
    liar.zones.set('bare.com', lie);
    const world = resolverFor([liar.address, honest.address], {}, { sentinels: SENTINELS });
    expect(await states(world, ['bare.com'])).toEqual(['implicit_mx']);
  });

  test('also where there are no sentinels', async () => {
    const [liar, honest] = [await serveZones(ZONES), await serveZones(ZONES)];
    liar.zones.delete('company.com');
    const world = resolverFor([liar.address, honest.address]);
    expect(await states(world, ['company.com', 'gone.com'])).toEqual(['mx', 'nxdomain']);
  });

  test.each<Fault>(['drop', 'servfail', 'garbage'])(
    'it is unknown and nothing is kept while the other one gives %s, and counts alone when that fails its sentinels',
    async fault => {
      const [first, dead] = [await serveZones(ZONES), await serveZones(ZONES)];
      const world = resolverFor([first.address, dead.address], { budgetMs: 1_000 }, { sentinels: SENTINELS });
      expect(await states(world, ['gone.com'])).toEqual(['nxdomain']);
      dead.fault = fault;
      const names = ['a.com', 'b.com', 'c.com', 'd.com', 'e.com'];
      // More often than it takes to let a server rest.
      for (const name of names) expect(await states(world, [name])).toEqual(['unknown']);
      expect(world.resolver.health().cached).toBe(1);
      await probedAfter({ dns: dead, ...world }, 121_000, true);
      await expect
        .poll(() => world.resolver.health().servers[1]?.problem, { timeout: 10_000 })
        .toMatch(/^gives no mail servers/);
      expect(await states(world, ['a.com'])).toEqual(['nxdomain']);
    },
  );
});

test.each<Fault>(['servfail', 'drop'])(
  'a second server that knows the sentinels and gives %s for all else ends no denials for good, and that is told',
  async fault => {
    const [first, half] = [await serveZones(ZONES), await serveZones(ZONES)];
    for (const name of ['company.com', 'bare.com']) first.zones.delete(name);
    const known = half.zones.get.bind(half.zones);
    half.zones.get = name => (SENTINELS.includes(name) ? known(name) : { fault });
    let changes = 0;
    const changed = () => {
      changes += 1;
    };
    const caps = { budgetMs: 600 };
    const world = resolverFor([first.address, half.address], caps, { sentinels: SENTINELS, changed });
    const problem = () => world.resolver.health().servers[1]?.problem;
    for (const name of ['a.com', 'b.com', 'c.com', 'd.com', 'e.com', 'f.com'])
      expect(await states(world, [name])).toEqual(['unknown']);
    expect([problem(), changes]).toEqual([null, 0]);
    world.time.now += 30_000;
    // Of a name for which a busy machine leaves it no time nothing is held against it.
    for (let n = 0; problem() === null && n < 20; n++)
      expect(await states(world, [`later${n}.com`])).toEqual(['unknown']);
    expect(problem()).toMatch(/^does not answer for names that others deny.*set DNS_SERVERS/);
    expect(world.resolver.health().degraded).toBe(false);
    // The first of these is put to it once more, and counts all the same.
    expect(await states(world, ['a.com'])).toEqual(['nxdomain']);
    expect(await states(world, ['b.com', 'c.com'])).toEqual(['nxdomain', 'nxdomain']);
    half.zones.get = known;
    world.time.now += 5_000;
    expect(await states(world, ['d.com'])).toEqual(['nxdomain']);
    expect([problem(), changes]).toEqual([null, 2]);
    expect(await states(world, ['company.com'])).toEqual(['mx']);
  },
);

test('a server is not held to fail for names that do, and is as soon as its sentinels do too', async () => {
  const world = await watched();
  const health = () => world.resolver.health().servers[0]?.healthy;
  const bad = ['a.com', 'b.com', 'c.com', 'd.com'];
  for (const name of bad) world.dns.zones.set(name, { fault: 'servfail' });
  expect(await states(world, ['company.com', ...bad])).toContain('unknown');
  expect(health()).toBe(true);
  world.dns.fault = 'servfail';
  world.time.now += 31_000;
  expect(await states(world, bad)).toEqual(bad.map(() => 'unknown'));
  await expect.poll(health, { timeout: 5_000 }).toBe(false);
});

test("a second server is not held to be mute for names whose owner has one server's questions answered only", async () => {
  const [first, honest] = [await serveZones(ZONES), await serveZones(ZONES)];
  first.zones.delete('company.com');
  const evil = Array.from({ length: 8 }, (_, at) => `evil${at}.com`);
  for (const name of evil) honest.zones.set(name, { fault: 'servfail' });
  const caps = { budgetMs: 2_000 };
  let changes = 0;
  const changed = () => {
    changes += 1;
  };
  const world = resolverFor([first.address, honest.address], caps, { sentinels: SENTINELS, changed });
  for (const name of evil) {
    expect(await states(world, [name])).toEqual(['unknown']);
    world.time.now += 10_000;
  }
  expect(world.resolver.health().servers.map(({ problem }) => problem)).toEqual([null, null]);
  expect(changes).toBe(0);
  expect(await states(world, ['company.com'])).toEqual(['mx']);
});

test('two servers that are far away have time enough to say that a name receives no mail', async () => {
  const far = [await serveZones(ZONES), await serveZones(ZONES)];
  for (const dns of far) {
    dns.zones.set('empty.com', { records: [] });
    dns.fault = { slow: 1_000 };
  }
  // Three answers, one after the other: no mail servers, no addresses (while that is proven), the proof of these.
  const caps = { budgetMs: 3_700 };
  const addresses = far.map(({ address }) => address);
  const world = resolverFor(addresses, caps, { sentinels: SENTINELS });
  await expect.poll(() => probes(far[1]!)).toBe(1);
  await new Promise(resolve => setTimeout(resolve, 1_300));
  const said = await states(world, ['empty.com']);
  if (!isStarved(process.pid)) expect(said).toEqual(['no_mail']);
});

test('addresses of mail hosts are not learned from a liar', async () => {
  const world = await watched('address');
  expect(await world.resolver.addressesOf('mail.example.net')).toBe('distrusted');
});

describe('what probing costs', () => {
  test('a probe is eleven questions, and 500 denials at once cause no more than four a second', async () => {
    const world = await watched();
    await states(world, ['company.com']);
    const count = () => world.dns.questions.filter(({ name }) => isSentinel(name)).length;
    await expect.poll(count).toBe(11);
    const startedAt = performance.now();
    const names = Array.from({ length: 500 }, (_, at) => `gone${at}.com`);
    // Unknown where this process, and with it the server, had no processor for as long as a probe may take.
    const said = new Set(await states(world, names));
    if (isStarved(process.pid)) said.delete('unknown');
    expect([...said]).toEqual(['nxdomain']);
    const most = 1 + Math.ceil((performance.now() - startedAt) / 250);
    expect(count()).toBeGreaterThan(11);
    expect(count()).toBeLessThanOrEqual(11 + 11 * most);
  });

  test('256 new names at once that have neither mail servers nor an address are all answered, with three questions each', async () => {
    const world = await watched();
    const names = Array.from({ length: 256 }, (_, at) => `nothing${at}.com`);
    for (const name of names) world.dns.zones.set(name, { records: [], fault: { slow: 20 } });
    await states(world, ['gone.com']);
    const before = world.dns.questions.length;
    const said = new Set(await states(world, names));
    if (isStarved(process.pid)) said.delete('unknown');
    expect([...said]).toEqual(['no_mail']);
    const asked = world.dns.questions.slice(before).filter(({ name }) => !isSentinel(name));
    if (!isStarved(process.pid)) expect(asked).toHaveLength(3 * names.length);
  });

  test('one every 60 s, every 5 s while it fails, and none where there are no sentinels', async () => {
    const world = await watched('servfail');
    await expect.poll(() => world.resolver.health().degraded).toBe(true);
    for (let round = 0; round < 3; round++) await probedAfter(world, 5_000, false);
    world.dns.fault = undefined;
    await probedAfter(world, 5_000, true);
    const before = probes(world.dns);
    world.time.now += 59_999;
    await new Promise(resolve => setTimeout(resolve, 1_300));
    expect(probes(world.dns)).toBe(before);
    await probedAfter(world, 1, true);
    const dns = await serveZones();
    resolverFor([dns.address]);
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(dns.questions).toEqual([]);
  });

  test('nothing is open after closing, and who waits for a probe is let go', async () => {
    const world = await watched();
    for (const name of SENTINELS) world.dns.zones.set(name, { fault: 'drop' });
    const waiting = states(world, ['gone.com']);
    await expect.poll(() => world.dns.asked('gone.com')).toBe(1);
    await world.resolver.close();
    expect(await waiting).toEqual(['unknown']);
    const ports = world.dns.questions.map(({ port }) => port);
    expect(ports.length).toBeGreaterThan(1);
    await expect.poll(() => ports.some(isBound)).toBe(false);
  });
});
