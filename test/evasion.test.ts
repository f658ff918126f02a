import { beforeEach, describe, expect, it } from 'vitest';
import type { Domain } from '../src/core/domain.ts';
import type { Store } from '../src/core/ports.ts';
import { a, aaaa, type DnsServer, mx, startDns } from './support/dns.ts';
import { emptiedStore } from './support/emptied.ts';
import { type Site, visit, within } from './support/internet.ts';

const DAY_MS = 86_400_000;
/** An answer about mail is kept for five minutes at least. */
const ANOTHER_ANSWER_MS = 6 * 60_000;
const BAD = '5.61.1.1';
const HOST = 'mx.box.net';

const emptied = emptiedStore();
let dns: DnsServer;
let store: Store;
let time: { now: number };
let world: Awaited<ReturnType<typeof visit>>;

/** A service that has learned one host and its address, of twelve listed domains that eight keys ask for, a month ago. */
beforeEach(async () => {
  dns = await startDns();
  store = await emptied();
  time = { now: Date.UTC(2026, 10, 15, 12) };
  const sites = Array.from(
    { length: 12 },
    (_, at): Site => ({ name: `burn${at}.com` as Domain, kind: 'own', listed: true, exchanges: [HOST] }),
  );
  place(HOST, BAD);
  for (const { name } of sites) point(name, HOST);
  world = await visit(dns, store, sites, time);
  await world.sweep();
  for (let key = 0; key < 8; key++) for (const { name } of sites) await world.judge(name, `customer${key}`);
  await world.digest();
  await within(24, time, () => world.sweep());
  await world.digest();
  return async () => {
    await world.close();
    await dns.close();
  };
});

const place = (host: string, address: string) => dns.zones.set(host, { records: [a(host, address)] });
/** In the order of preference, each to be asked for again at once. */
const point = (name: string, ...exchanges: string[]) =>
  dns.zones.set(name, { records: exchanges.map((host, at) => mx(name, 10 * (at + 1), host, 0)) });
const fail = (host: string, fault: 'servfail' | 'drop' = 'servfail') => dns.zones.set(host, { fault });

/** Addresses are asked for behind the first answer. */
async function again(name: string) {
  await world.judge(name);
  await world.learn.settle();
  return await world.judge(name);
}

const FOUND = { reason: 'disposable', isCorporateEmail: false };

describe('whoever has another host name in every answer', () => {
  const dead = (at: number) => Array.from({ length: 6 }, (_, one) => `d${at}-${one}.evil.com`);
  it.each<[string, (at: number) => string, number]>([
    ['below his own domain', at => one('evil.com', `r${at}.evil.com`), 80],
    ['below another one of his', at => one('evil.com', `r${at}.evil-hosts.net`), 80],
    ['below names that cost nothing', at => one('evil.com', `r${at}.duckdns.org`), 80],
    ['behind names that do not exist', at => one('evil.com', ...dead(at), `r${at}.evil.com`), 80],
    ['behind names that do not exist, elsewhere', at => one('evil.com', `d${at}.nowhere.net`, HOST), 84],
    [
      'behind one of his that fails',
      at => failing(`f${at}.evil.com`, one('evil.com', `f${at}.evil.com`, HOST)),
      84,
    ],
  ])('is found from the second answer on: %s', async (_, make, riskScore) => {
    for (let at = 0; at < 4; at++) {
      const name = make(at);
      const verdict = await world.judge(name);
      expect([at, verdict]).toMatchObject([at, at === 0 ? { reason: 'safe' } : { ...FOUND, riskScore }]);
      await world.learn.settle();
      time.now += ANOTHER_ANSWER_MS;
    }
  });

  it('is found also where another host of his stands behind it, at an address of nobody', async () => {
    place('decoy.evil.com', '5.61.7.7');
    place('decoy.evil-hosts.net', '5.61.7.7');
    place('mx00.ionos.com', '5.61.7.8');
    for (let at = 0; at < 4; at++) {
      for (const host of [`r${at}.evil.com`, `r${at}.evil-hosts.net`]) place(host, BAD);
      point('evil.com', `r${at}.evil.com`, 'decoy.evil.com');
      point('evil2.com', `r${at}.evil-hosts.net`, 'decoy.evil-hosts.net');
      point('evil3.com', `d${at}.evil.com`, HOST, 'decoy.evil.com');
      point('evil4.com', `d${at}.ionos.com`, HOST, 'mx00.ionos.com');
      for (const name of ['evil.com', 'evil2.com', 'evil3.com', 'evil4.com']) {
        const { reason } = await world.judge(name);
        expect([name, at, reason]).toEqual([name, at, at === 0 ? 'safe' : 'disposable']);
        await world.learn.settle();
      }
      time.now += ANOTHER_ANSWER_MS;
    }
  });

  it('is not forgotten because another key meets many others', async () => {
    const hosts = Array.from({ length: 20 }, (_, at) => `mx.host${at}.net`);
    for (const host of hosts) place(host, '5.61.7.7');
    await world.judge(one('evil.com', 'r0.evil.com'));
    await world.learn.settle();
    for (let at = 0; at < 1_100; at++) {
      const name = `f${at}.flood.com`;
      dns.zones.set(name, { records: hosts.map(host => mx(name, 10, host)) });
      await world.judge(name, 'greedy');
      if (at === 0) await world.learn.settle();
    }
    time.now += ANOTHER_ANSWER_MS;
    expect(await world.judge(one('evil.com', 'r1.evil.com'))).toMatchObject({ ...FOUND, riskScore: 80 });
  });

  it('is no company from the second answer on, where the domain is another one below his too', async () => {
    for (let at = 0; at < 3; at++) {
      const name = one(`s${at}.evil.com`, `r${at}.s${at}.evil.com`);
      const wanted = { reason: 'safe', riskScore: at === 0 ? 15 : 40, isCorporateEmail: at === 0 };
      expect([at, await world.judge(name)]).toMatchObject([at, wanted]);
      await world.learn.settle();
    }
  });

  it('flags nobody else below the same domain, who may be a stranger', async () => {
    one('evil.given-away.com', 'mx.evil.given-away.com');
    expect(await again('evil.given-away.com')).toMatchObject(FOUND);
    for (const name of ['firm.given-away.com', 'given-away.com']) {
      place(`mx.${name}`, '5.61.7.7');
      point(name, `mx.${name}`);
      expect(await world.judge(name)).toMatchObject({ reason: 'safe' });
      expect(await again(name)).toMatchObject({ reason: 'safe', isCorporateEmail: true });
    }
  });

  it('is spared by where his hosts are now, as soon as that is known', async () => {
    one('firm.com', 'r0.firm.com');
    expect(await again('firm.com')).toMatchObject(FOUND);
    time.now += ANOTHER_ANSWER_MS;
    place('mail.firm.com', '5.61.7.7');
    point('firm.com', 'mail.firm.com');
    expect(await again('firm.com')).toMatchObject({ reason: 'safe', isCorporateEmail: true });
    time.now += ANOTHER_ANSWER_MS;
    point('firm.com', 'mail2.firm.com');
    expect(await world.judge('firm.com')).toMatchObject({ reason: 'safe', isCorporateEmail: true });
  });

  it('is not judged by the hosts of whom he has left', async () => {
    one('firm.com', 'r0.evil-hosts.net');
    expect(await again('firm.com')).toMatchObject(FOUND);
    time.now += ANOTHER_ANSWER_MS;
    place('mx.hoster.net', '5.61.7.7');
    point('firm.com', 'mx.hoster.net');
    expect(await world.judge('firm.com')).toMatchObject({ reason: 'safe' });
  });

  it('says nothing about others: a host of theirs that he points at is not where their next one is', async () => {
    place('www.firm.com', BAD);
    place('mail.firm.com', '5.61.7.7');
    point('evil.com', 'www.firm.com');
    expect(await again('evil.com')).toMatchObject(FOUND);
    point('firm.com', 'mail.firm.com');
    expect(await world.judge('firm.com')).toMatchObject({ reason: 'safe', isCorporateEmail: true });
  });

  /** The last host is where it always is. */
  function one(name: string, ...exchanges: string[]): string {
    point(name, ...exchanges);
    place(exchanges.at(-1)!, BAD);
    return name;
  }
  function failing(host: string, name: string): string {
    fail(host);
    return name;
  }
});

describe('a name that nobody has asked for, before or beside a learned host', () => {
  const records = (name: string, first: number) => [mx(name, first, `mx.${name}`), mx(name, 10, HOST)];
  it.each([5, 10])('makes no company of a domain at its first lookup: preference %i', async first => {
    dns.zones.set('evil.com', { records: records('evil.com', first) });
    const { signals, ...verdict } = await world.judge('evil.com');
    expect(verdict).toMatchObject({ reason: 'safe', riskScore: 40, isCorporateEmail: false });
    expect(signals[0]).toMatchObject({ signal: 'mail_unknown' });
    expect(signals[0]?.detail).toMatch(/^mx\.box\.net also receives mail for 12 listed .*, behind others$/);
    expect(await again('evil.com')).toMatchObject({ ...FOUND, riskScore: 84 });
  });

  it.each([
    ...['r1.ionos.com', 'r1.yahoodns.net', 'r1.forwardemail.net', 'r1.amazonaws.com', 'r1.mx.cloudflare.net'],
  ])('tells as little where it is below the name of somebody known: %s', async dead => {
    for (const [at, records] of [
      [mx('evil0.com', 10, dead), mx('evil0.com', 20, HOST)],
      [mx('evil1.com', 10, dead), mx('evil1.com', 10, HOST)],
    ].entries()) {
      dns.zones.set(`evil${at}.com`, { records });
      const open = { riskScore: 40, isCorporateEmail: false, isFreeProvider: false };
      expect(await world.judge(`evil${at}.com`)).toMatchObject(at === 0 ? open : FOUND);
      expect(await again(`evil${at}.com`)).toMatchObject({ ...FOUND, riskScore: 84 });
    }
  });

  it('leaves it one whose own host is elsewhere, as soon as that is known', async () => {
    dns.zones.set('firm.com', { records: records('firm.com', 5) });
    place('mx.firm.com', '5.61.7.7');
    expect(await world.judge('firm.com')).toMatchObject({ reason: 'safe', riskScore: 40 });
    expect(await again('firm.com')).toMatchObject({ reason: 'safe', isCorporateEmail: true });
  });
});

it('whoever has more hosts than are looked at is nobody known, and found by those that are', async () => {
  const dead = Array.from({ length: 30 }, (_, at) => `d${at}.evil.com`);
  place('mx.evil.com', BAD);
  point('evil.com', ...dead, 'mx.evil.com');
  expect(await again('evil.com')).toMatchObject({ riskScore: 40, isCorporateEmail: false });
  await world.learn.settle();
  expect(await world.judge('evil.com')).toMatchObject({ ...FOUND, riskScore: 80 });
});

describe('a host whose address takes longer than a lookup', () => {
  const slowly = (host: string, slow: number) =>
    dns.zones.set(host, { records: [a(host, BAD, 0)], fault: { slow } });

  it('is known all the same, and a learned one stays so', async () => {
    slowly('mx.evil.com', 2_000);
    slowly(HOST, 2_000);
    point('evil.com', 'mx.evil.com');
    point('fresh.com', HOST);
    time.now += 4 * DAY_MS;
    await world.judge('fresh.com');
    expect(await again('evil.com')).toMatchObject({ ...FOUND, riskScore: 80 });
    expect(await world.judge('fresh.com')).toMatchObject({ ...FOUND, riskScore: 84 });
  });
});

describe('a company whose hosts take their time to be found', () => {
  const NOBODY = '5.61.7.7';
  it('stays one though a key that asks for it first has others of its hosts asked for, so that none is waited for', async () => {
    const fault = { slow: 900 };
    dns.zones.set('mx.firm.com', { records: [a('mx.firm.com', NOBODY)], fault });
    point('firm.com', 'mx.firm.com');
    await world.judge('firm.com', 'greedy');
    for (let at = 0; at < 24; at++) {
      dns.zones.set(`r${at}.firm.com`, { rcode: 'NXDOMAIN', fault });
      point(`f${at}.com`, `r${at}.firm.com`);
      await world.judge(`f${at}.com`, 'greedy');
    }
    await world.learn.settle();
    expect(dns.asked('mx.firm.com', 'A')).toBe(1);
    for (let look = 0; look < 2; look++)
      expect(await again('firm.com')).toMatchObject({ riskScore: 15, isCorporateEmail: true });
  });
});

describe('a host whose addresses nobody can ask for', () => {
  it('makes no company of whoever is received there, whatever stands behind it', async () => {
    fail('mx.evil.com');
    place('decoy.evil.com', '5.61.7.7');
    point('evil.com', 'mx.evil.com');
    point('evil2.com', 'mx.evil.com');
    point('evil.evil.com', 'none.evil.com', 'mx.evil.com', 'decoy.evil.com');
    for (const name of ['evil.com', 'evil2.com', 'evil.evil.com']) {
      const { signals, ...verdict } = await again(name);
      expect(verdict).toMatchObject({ reason: 'safe', riskScore: 40, isCorporateEmail: false });
      expect(signals).toMatchObject([{ signal: 'mail_unknown' }]);
      expect(signals[0]?.detail).toMatch(/: nobody answers where these hosts are$/);
    }
    // As soon as somebody answers it is.
    place('mx.evil.com', '5.61.7.7');
    time.now += 11 * 60_000;
    expect(await again('evil.com')).toMatchObject({ riskScore: 15, isCorporateEmail: true });
  });

  it.each(['servfail', 'drop'] as const)('does not spare what stands behind it: %s', async fault => {
    fail('mx1.evil.com', fault);
    fail('mx1.elsewhere.net', fault);
    point('evil.com', 'mx1.evil.com', HOST);
    point('evil2.com', 'mx1.elsewhere.net', HOST);
    point('evil3.com', 'mx1.elsewhere.net', 'mx.evil3.com');
    place('mx.evil3.com', BAD);
    expect(await again('evil.com')).toMatchObject({ ...FOUND, riskScore: 84 });
    expect(await again('evil2.com')).toMatchObject({ ...FOUND, riskScore: 84 });
    expect(await again('evil3.com')).toMatchObject({ ...FOUND, riskScore: 80 });
  });

  it('speaks against nobody, alone or before hosts that nobody learned', async () => {
    fail('mx1.firm.com');
    place('mx2.firm.com', '5.61.7.7');
    point('firm.com', 'mx1.firm.com', 'mx2.firm.com');
    point('alone.com', 'mx1.firm.com');
    for (const name of ['firm.com', 'alone.com']) expect(await again(name)).toMatchObject({ reason: 'safe' });
  });

  it('is where it was, for three days', async () => {
    place('mx1.firm.com', '5.61.7.7');
    point('firm.com', 'mx1.firm.com', HOST);
    expect(await again('firm.com')).toMatchObject({ reason: 'safe' });
    fail('mx1.firm.com');
    time.now += 2 * DAY_MS;
    expect(await again('firm.com')).toMatchObject({ reason: 'safe' });
    time.now += 2 * DAY_MS;
    expect(await again('firm.com')).toMatchObject(FOUND);
  });
});

it.each(['project.rediris.es', 'home.comcast.net', 'home.sdf.org'])(
  'one call about a name received at %s takes nothing away of what was learned at its address',
  async machine => {
    place(machine, BAD);
    point('trick.com', machine);
    place('mx.evil.com', BAD);
    point('evil.com', 'mx.evil.com');
    for (let pass = 0; pass < 2; pass++) {
      await again('trick.com');
      await world.digest();
      time.now += DAY_MS;
    }
    expect(await again('evil.com')).toMatchObject(FOUND);
  },
);

it.each(['0.0.0.0', '0.1.2.3', '127.0.0.1'])(
  'a host at %s, where nobody receives mail, does not spare what stands behind it',
  async nowhere => {
    place('mx.nowhere.net', nowhere);
    point('evil.com', 'mx.nowhere.net', HOST);
    expect(await again('evil.com')).toMatchObject({ ...FOUND, riskScore: 84 });
  },
);

describe('a name below a platform', () => {
  it.each([
    'none.aspmx.l.google.com',
    'none.mail.protection.outlook.com',
    'none.pphosted.com',
    'none.ionos.com',
  ])('does not spare a host of his own at a learned address: %s', async decoy => {
    place('mx.evil.com', BAD);
    point('evil.com', decoy, 'mx.evil.com');
    expect(await again('evil.com')).toMatchObject({ ...FOUND, riskScore: 80 });
  });

  it.each(['www.barracuda.com', 'www.ionos.com'])(
    'that is there and takes no mail spares nobody behind it, and makes no company of him: %s',
    async site => {
      place(site, '23.1.1.1');
      place('mx.evil.com', BAD);
      for (const [behind, riskScore] of [
        [HOST, 84],
        ['mx.evil.com', 80],
      ] as const) {
        point('evil.com', site, behind);
        time.now += DAY_MS;
        expect(await again('evil.com')).toMatchObject({ ...FOUND, riskScore, isCorporateEmail: false });
      }
    },
  );

  it.each<[string, string[], boolean]>([
    ['a platform and a host of its own', ['aspmx.l.google.com', 'mx.firm.com'], true],
    ['a host of its own and a platform', ['mx.firm.com', 'aspmx.l.google.com'], true],
    ['a gateway and a host of its own', ['mx0a-1.pphosted.com', 'mx.firm.com'], true],
    ['a platform and a hosting company', ['aspmx.l.google.com', 'mx00.ionos.com'], true],
    ['two platforms', ['aspmx.l.google.com', 'firm-com.mail.protection.outlook.com'], true],
    ['a platform and somebody whom nobody knows', ['aspmx.l.google.com', 'mx.backup.net'], false],
    ['a hosting company before a host that was learned', ['mx00.ionos.com', HOST], false],
    ['a platform before a host that was learned', ['aspmx.l.google.com', HOST], false],
    ['a gateway before a host that was learned', ['mx0a-1.pphosted.com', HOST], false],
  ])('is innocent with %s', async (_, exchanges, isCorporateEmail) => {
    for (const [at, host] of exchanges.entries()) if (host !== HOST) place(host, `5.61.7.${at + 1}`);
    point('firm.com', ...exchanges);
    expect(await again('firm.com')).toMatchObject({ reason: 'safe', isCorporateEmail });
    await world.digest();
    expect(await world.judge('firm.com')).toMatchObject({ reason: 'safe', isCorporateEmail });
  });
});

it.each(['aspmx.l.google.com', 'mx0a-1.pphosted.com', 'firm-com.mail.protection.outlook.com'])(
  'a company is none the worse for a host of its own that it left behind at a learned address: %s',
  async platform => {
    place(platform, '5.61.7.1');
    place('mail.firm.com', BAD);
    point('firm.com', platform, 'mail.firm.com');
    expect((await world.judge('firm.com')).reason).toBe('safe');
    await world.digest();
    const { riskScore, isCorporateEmail } = await world.judge('firm.com');
    expect([riskScore < 15, isCorporateEmail]).toEqual([true, true]);
  },
);

it('an address that was learned speaks against a host of its own as it does against a name without exchanges', async () => {
  place('bare.com', BAD);
  place('mx.own.com', BAD);
  point('own.com', 'mx.own.com');
  for (const name of ['bare.com', 'own.com'])
    expect(await again(name)).toMatchObject({ ...FOUND, riskScore: 80 });
});

describe('an address of IPv6 that nobody uses', () => {
  const decoyed = (host: string, at: number) =>
    dns.zones.set(host, { records: [a(host, BAD), aaaa(host, `2a01:4f8:1:1::${at}`)] });

  it('does not spare a host at a learned address, nor a name without exchanges', async () => {
    decoyed('mx.evil.com', 1);
    decoyed('bare.com', 2);
    point('evil.com', 'mx.evil.com');
    for (const name of ['evil.com', 'bare.com'])
      expect(await again(name)).toMatchObject({ ...FOUND, riskScore: 80 });
  });

  it('does not spare whoever has two more names for his machine tried alike, and they are learned too', async () => {
    const names = ['boxb.duckdns.org', 'boxc.duckdns.org'];
    for (const [at, host] of names.entries()) decoyed(host, at);
    const alike = (name: string) =>
      dns.zones.set(name, { records: [HOST, ...names].map(host => mx(name, 10, host, 0)) });
    alike('evil.com');
    expect(await again('evil.com')).toMatchObject(FOUND);
    for (let at = 0; at < 12; at++) alike(`burn${at}.com`);
    time.now += ANOTHER_ANSWER_MS;
    // What they are is known from the second look on.
    for (let look = 0; look < 2; look++) {
      for (let at = 0; at < 12; at++) await world.judge(`burn${at}.com`, `customer${look}`);
      await world.digest();
      time.now += DAY_MS;
    }
    expect(await store.listHosts(12, 100)).toContainEqual(
      expect.objectContaining({ name: 'boxc.duckdns.org', flagged: 12 }),
    );
    expect(await again('evil.com')).toMatchObject(FOUND);
  });
});
