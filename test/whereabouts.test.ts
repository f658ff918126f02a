import { beforeEach, describe, expect, it } from 'vitest';
import type { Domain } from '../src/core/domain.ts';
import type { Store } from '../src/core/ports.ts';
import type { Verdict } from '../src/core/verdict.ts';
import { a, type DnsServer, mx, startDns } from './support/dns.ts';
import { emptiedStore } from './support/emptied.ts';
import { type Site, visit, within } from './support/internet.ts';

const DAY_MS = 86_400_000;
const BAD = '5.61.1.1';
const HOST = 'mx.box.net';
const LISTED = Array.from(
  { length: 12 },
  (_, at): Site => ({ name: `burn${at}.com` as Domain, kind: 'own', listed: true, exchanges: [HOST] }),
);
const POPULAR: Site = {
  ...{ name: 'popular.com' as Domain, kind: 'innocent', listed: false, popular: true },
  exchanges: ['mx.popular.com'],
};
const SITES = [...LISTED, POPULAR];

const emptied = emptiedStore();
let dns: DnsServer;
let store: Store;
let time: { now: number };
let world: World;
let ends: (() => Promise<void>)[];

type World = Awaited<ReturnType<typeof visit>>;

/** A server that has learned one host and its address, of twelve listed domains that eight keys ask for, a month ago. */
beforeEach(async () => {
  dns = await startDns();
  store = await emptied();
  time = { now: Date.UTC(2026, 10, 15, 12) };
  ends = [() => dns.close()];
  place(HOST, BAD);
  place('mx.popular.com', '5.61.9.9');
  for (const { name, exchanges } of SITES) point(name, ...exchanges);
  world = await start();
  await world.sweep();
  for (let key = 0; key < 8; key++) for (const { name } of LISTED) await world.judge(name, `customer${key}`);
  await world.digest();
  await within(24, time, () => world.sweep());
  await world.digest();
  return async () => {
    for (const end of ends) await end();
  };
});

const place = (host: string, ...addresses: string[]) =>
  dns.zones.set(host, { records: addresses.map(address => a(host, address)) });
const point = (name: string, ...exchanges: string[]) =>
  dns.zones.set(name, { records: exchanges.map((host, at) => mx(name, 10 * (at + 1), host, 0)) });

/** One more server on the same store. */
async function start(): Promise<World> {
  const started = await visit(dns, store, SITES, time);
  ends.unshift(() => started.close());
  await started.learn.hold();
  return started;
}

/** Addresses are asked for behind the first answer. */
async function again(server: World, name: string) {
  await server.judge(name);
  await server.learn.settle();
  return await server.judge(name);
}

const kept = async () =>
  [...(await store.whereabouts('2026-01-01'))].sort((x, y) => (x.host < y.host ? -1 : 1));

/** A name, its exchanges in the order of preference, and what a server says that has asked where these are. */
const HANGING: readonly (readonly [name: string, exchanges: readonly string[], score: number])[] = [
  ['at-learned-address.com', ['mx.fresh.net'], 80],
  ['host-of-its-own.com', ['mx.host-of-its-own.com'], 80],
  ['no-exchange.com', [], 80],
  ['below-learned-domain.com', ['mx7.box.net'], 84],
  ['behind-none.com', ['none.nowhere.net', HOST], 84],
  ['behind-a-host-elsewhere.com', ['mx.firm.net', HOST], 15],
  ['below-listed-domain-but-spared.com', ['mx.burn0.com'], 20],
];

describe('what hangs on where a mail host is', () => {
  it('is the same for every server a minute later, and after a restart', async () => {
    for (const host of ['mx.fresh.net', 'mx.host-of-its-own.com', 'no-exchange.com', 'mx7.box.net'])
      place(host, BAD);
    place('mx.firm.net', '5.61.7.7');
    place('mx.burn0.com', '5.61.9.9');
    for (const [name, exchanges] of HANGING) if (exchanges.length > 0) point(name, ...exchanges);
    const verdicts = async (server: World) => {
      const all: Verdict[] = [];
      for (const [name] of HANGING) all.push(await server.judge(name));
      return all;
    };
    const other = await start();
    await verdicts(world);
    await world.learn.settle();
    await verdicts(world);
    await world.digest();
    await other.learn.reload();
    const said = await verdicts(world);
    expect(said.map(({ domain, riskScore }) => [domain, riskScore])).toEqual(
      HANGING.map(([name, , score]) => [name, score]),
    );
    expect(await verdicts(other)).toEqual(said);
    await world.close();
    expect(await verdicts(await start())).toEqual(said);
  });

  it('is kept without whom it concerns, and of hosts that nobody learned nothing is', async () => {
    place('mx.fresh.net', BAD);
    place('mx.firm.net', '5.61.7.7');
    point('fresh.com', 'none.firm.net', 'mx.fresh.net');
    point('firm.com', 'mx.firm.net');
    for (const name of ['fresh.com', 'firm.com']) await again(world, name);
    await world.digest();
    const day = '2026-12-09';
    expect(await kept()).toEqual([
      { host: 'mx.fresh.net', below: 'fresh.net', addresses: BAD, day },
      { host: 'none.firm.net', below: expect.stringMatching(/^\?[a-z0-9]+$/), addresses: '', day },
    ]);
  });

  it('follows a host that moves: before a restart, and at once where it moved while no server ran', async () => {
    const placed = async () => (await kept()).find(({ host }) => host === 'mx.fresh.net')?.addresses;
    place('mx.fresh.net', BAD);
    point('fresh.com', 'mx.fresh.net');
    await again(world, 'fresh.com');
    await world.digest();
    place('mx.fresh.net', '5.61.7.7');
    time.now += DAY_MS;
    await again(world, 'fresh.com');
    await world.digest();
    await world.close();
    expect(await placed()).toBe('5.61.7.7');
    let server = await start();
    expect((await server.judge('fresh.com')).reason).toBe('safe');

    for (const [address, reason] of [
      [BAD, 'disposable'],
      ['5.61.7.7', 'safe'],
    ] as const) {
      await server.close();
      place('mx.fresh.net', address);
      server = await start();
      await server.learn.settle();
      expect((await server.judge('fresh.com')).reason).toBe(reason);
      await server.learn.reload();
      await server.learn.flush();
      expect(await placed()).toBe(address);
    }
  });

  it('counts for three days while nobody says where the host is, as it does without a restart', async () => {
    place('mx.fresh.net', BAD);
    point('fresh.com', 'mx.fresh.net');
    await again(world, 'fresh.com');
    await world.digest();
    await world.close();
    dns.zones.set('mx.fresh.net', { fault: 'servfail' });
    for (const [days, score] of [
      [2, 80],
      [4, 40],
    ] as const) {
      time.now = Date.UTC(2026, 11, 9 + days);
      const next = await start();
      await next.learn.settle();
      expect([days, (await next.judge('fresh.com')).riskScore]).toEqual([days, score]);
      await next.close();
    }
  });
});
