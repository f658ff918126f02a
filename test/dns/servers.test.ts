import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ask } from '../../src/dns/ask.ts';
import { Servers } from '../../src/dns/servers.ts';
import { parseServers, serversInPrivateNetworks } from '../../src/dns/settings.ts';
import { type DnsServer, mx, startDns } from '../support/dns.ts';
import { domain, resolverFor, resolving, serveZones } from '../support/resolving.ts';
import { isBound } from '../support/vitals.ts';

const names = (count: number, stem = 'name') => Array.from({ length: count }, (_, at) => `${stem}${at}.com`);
const zonesOf = (list: readonly string[]) =>
  Object.fromEntries(list.map(name => [name, { records: [mx(name, 10, 'mail.example.net')] }]));

/** A question goes out again after a quarter of it: no stall of the machine may look like a silent server. */
const PATIENT = { budgetMs: 60_000 };

describe('DNS_SERVERS', () => {
  test.each([
    ['9.9.9.9', ['9.9.9.9:53']],
    [' 127.0.0.1:5353 , 9.9.9.9,9.9.9.9:53', ['127.0.0.1:5353', '9.9.9.9:53']],
    ['2620:fe::fe', ['[2620:fe::fe]:53']],
    ['[2620:fe::fe]', ['[2620:fe::fe]:53']],
    ['[::1]:5353,127.0.0.1', ['[::1]:5353', '127.0.0.1:53']],
    ['fe80::1%eth0', ['[fe80::1%eth0]:53']],
  ])('%s', (text, servers) => {
    expect(parseServers(text)).toEqual({ ok: true, value: servers });
  });

  test.each([
    ['dns.example.com', '"dns.example.com"'],
    ['9.9.9.9,', '""'],
    ['', '""'],
    ['9.9.9.9:0', '"9.9.9.9:0"'],
    ['9.9.9.9:65536', '"9.9.9.9:65536"'],
    ['9.9.9.9:dns', '"9.9.9.9:dns"'],
    ['9.9.9.9 1.1.1.1', '"9.9.9.9 1.1.1.1"'],
    ['1.1.1.1,[9.9.9.9]:53', '"[9.9.9.9]:53"'],
    ['https://9.9.9.9', '"https://9.9.9.9"'],
    ['9.9.9', '"9.9.9"'],
    ['[::1', '"[::1"'],
  ])('%s is refused, naming %s and the fix', (text, item) => {
    const parsed = parseServers(text);
    expect(parsed.ok).toBe(false);
    expect(parsed).toHaveProperty('problem', expect.stringContaining(`${item} is not a DNS server: write`));
  });

  test('those in private networks are named for the warning', () => {
    const servers = ['192.168.1.1:53', '127.0.0.1:53', '[fd00::1]:53', '9.9.9.9:53', '[::1]:53', '10.0.0.2'];
    expect(serversInPrivateNetworks(servers)).toEqual(['192.168.1.1:53', '[fd00::1]:53', '10.0.0.2']);
  });
});

describe('several servers', () => {
  test('a dead one is left alone after three failures, tried once after 5 s, and taken back when it answers', async () => {
    const all = names(12);
    const [first, second] = [await serveZones(zonesOf(all)), await serveZones(zonesOf(all))];
    first.fault = 'drop';
    const { resolver, time } = resolverFor([first.address, second.address]);
    const lookup = async (from: number, to: number) => {
      const mails = await Promise.all(all.slice(from, to).map(name => resolver.resolve(domain(name), 'key')));
      expect(new Set(mails.map(mail => mail.state))).toEqual(new Set(['mx']));
    };
    await lookup(0, 3);
    expect(first.questions.length).toBe(3);
    expect(resolver.health()).toMatchObject({ degraded: false });
    expect(resolver.health().servers.map(one => one.healthy)).toEqual([false, true]);
    await lookup(3, 6);
    expect(first.questions.length).toBe(3);
    time.now += 5_000;
    await lookup(6, 8);
    expect(first.questions.length).toBe(4);
    first.fault = undefined;
    time.now += 5_000;
    await lookup(8, 9);
    await lookup(9, 12);
    expect(first.questions.length).toBe(8);
    expect(resolver.health().servers.map(one => one.healthy)).toEqual([true, true]);
  });

  test('when all are dead the service says so, goes on trying, and recovers with the first answer', async () => {
    const all = names(5);
    const { dns, resolver, time } = await resolving(zonesOf(all), { budgetMs: 300 });
    expect(resolver.health().degraded).toBe(false);
    dns.fault = 'drop';
    for (const name of all.slice(0, 3)) {
      expect(resolver.health().degraded).toBe(false);
      await resolver.resolve(domain(name), 'key');
    }
    expect(resolver.health()).toEqual({
      servers: [{ address: dns.address, healthy: false, problem: null }],
      degraded: true,
      inFlight: 0,
      slow: 0,
      waiting: 0,
      cached: 3,
    });
    dns.fault = undefined;
    expect((await resolver.resolve(domain('name3.com'), 'key')).state).toBe('mx');
    expect(resolver.health().degraded).toBe(false);
    time.now += 30_000;
    expect((await resolver.resolve(domain('name0.com'), 'key')).state).toBe('mx');
  });

  test('three silent servers are all seen to be dead', async () => {
    const servers = [await serveZones(), await serveZones(), await serveZones()];
    for (const server of servers) server.fault = 'drop';
    const { resolver } = resolverFor(
      servers.map(server => server.address),
      { budgetMs: 400 },
    );
    const healthy = () => resolver.health().servers.map(one => one.healthy);
    // On a busy machine the time for a name is over before the last server is asked for it.
    for (const [at, name] of names(12).entries())
      if (at < 3 || healthy().includes(true)) await resolver.resolve(domain(name), 'key');
    expect(healthy()).toEqual([false, false, false]);
    // The last one may still be on its way.
    await expect.poll(() => Math.min(...servers.map(({ questions }) => questions.length))).toBeGreaterThan(2);
  });

  test('without sentinels, one that was found dead is not asked whether a denial is so, and that counts alone', async () => {
    const [first, dead] = [await serveZones(), await serveZones()];
    dead.fault = 'drop';
    const { resolver } = resolverFor([first.address, dead.address], { budgetMs: 600 });
    const statesOf = async (list: readonly string[]) =>
      Promise.all(list.map(async name => (await resolver.resolve(domain(name), 'key')).state));
    expect(await statesOf(names(3))).toEqual(['unknown', 'unknown', 'unknown']);
    expect(resolver.health().servers[1]?.healthy).toBe(false);
    const asked = dead.questions.length;
    expect(await statesOf(['gone.com'])).toEqual(['nxdomain']);
    expect(dead.questions).toHaveLength(asked);
  });

  test('one that had less than its time to confirm a denial is not blamed for that, and one that had it is', async () => {
    const [first, silent] = [await serveZones(), await serveZones()];
    silent.fault = 'drop';
    const blamedAfter = async (patienceMs: number) => {
      const servers = new Servers({
        ...{ list: [first.address, silent.address], ticks: () => performance.now(), sentinels: [] },
        ...{ drop() {}, forget() {}, changed() {}, sockets: Number.POSITIVE_INFINITY },
      });
      onTestFinished(() => servers.close());
      const unconfirmed = vi.spyOn(servers, 'unconfirmed');
      const question = {
        name: 'gone.com',
        type: 'MX',
        withinMs: 400,
        patienceMs,
        isDoubtful: false,
      } as const;
      expect(await ask(servers, question).answered).toEqual({ failure: 'distrusted' });
      return unconfirmed.mock.calls.map(([{ port }]) => port);
    };
    expect(await Promise.all([4_000, 100].map(blamedAfter))).toEqual([[], [silent.port]]);
  });

  test('every question ends in exactly one outcome that metrics can read', async () => {
    const zones = { ...zonesOf(['good.com']), 'bad.com': { fault: 'servfail' as const } };
    const { dns, resolver } = await resolving(zones, PATIENT);
    for (const name of ['good.com', 'good.com', 'bad.com', 'gone.com'])
      await resolver.resolve(domain(name), 'key');
    expect(resolver.counters).toMatchObject({ hits: 1, misses: 3, stale: 0, capped: 0 });
    expect(resolver.counters.questions).toMatchObject({ answer: 1, servfail: 1, nxdomain: 1, timeout: 0 });
    expect(dns.questions.length).toBe(3);
  });
});

test('a server on IPv6 is asked over UDP and TCP', async () => {
  let dns: DnsServer;
  try {
    dns = await startDns(Object.entries(zonesOf(['six.com', 'seven.com'])), '::1');
  } catch {
    console.warn('NOT RUN: DNS over IPv6, because this machine has no ::1');
    return;
  }
  onTestFinished(() => dns.close());
  const { resolver } = resolverFor([dns.address], PATIENT);
  expect((await resolver.resolve(domain('six.com'), 'key')).state).toBe('mx');
  dns.fault = 'truncate-udp';
  expect((await resolver.resolve(domain('seven.com'), 'key')).state).toBe('mx');
  expect(dns.questions.map(question => question.over)).toEqual(['udp', 'udp', 'tcp']);
});

test('closing ends a lookup under way at once, as unknown, and nothing is asked or left open after it', async () => {
  const { dns, resolver } = await resolving({ 'slow.com': { fault: 'drop' } }, { budgetMs: 60_000 });
  const waiting = resolver.resolve(domain('slow.com'), 'key');
  await expect.poll(() => dns.questions.length).toBe(1);
  const { port } = dns.questions[0]!;
  expect(isBound(port)).toBe(true);
  await resolver.close();
  await expect.poll(() => isBound(port)).toBe(false);
  expect((await waiting).state).toBe('unknown');
  expect((await resolver.resolve(domain('example.com'), 'key')).state).toBe('unknown');
  expect(await resolver.addressesOf('mail.example.com')).toBe('given_up');
  expect(dns.questions.length).toBe(1);
});
