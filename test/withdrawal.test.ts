import { expect, it } from 'vitest';
import { a, mx, startDns } from './support/dns.ts';
import { emptiedStore } from './support/emptied.ts';
import { type Site, visit } from './support/internet.ts';

const DAY_MS = 86_400_000;
const emptied = emptiedStore();
const HOST = 'mx.box.net';

type Changing = { -readonly [K in keyof Site]: Site[K] };
const siteAt = (name: string, listed: boolean): Changing => ({
  ...{ name: name as Site['name'], kind: listed ? 'own' : 'innocent', listed, exchanges: [HOST] },
});

it.each<[string, (site: Changing) => void]>([
  [
    'the second family withdraws its names',
    site => {
      site.oneFamily = true;
    },
  ],
  [
    'all lists withdraw them, but for the first fifty by the alphabet of one family',
    site => {
      site.listed = site.name < 'burn050';
      site.oneFamily = true;
    },
  ],
])('a host that was learned is no longer one with the next lists, when %s', async (_, withdraw) => {
  const dns = await startDns();
  const guests = Array.from({ length: 120 }, (_, at) =>
    siteAt(`burn${String(at).padStart(3, '0')}.com`, true),
  );
  const sites = [...guests, siteAt('fresh.com', false)];
  dns.zones.set(HOST, { records: [a(HOST, '5.61.1.1')] });
  for (const { name } of sites) dns.zones.set(name, { records: [mx(name, 10, HOST)] });
  const time = { now: Date.UTC(2026, 10, 15, 12) };
  const world = await visit(dns, await emptied(), sites, time);
  try {
    await world.sweep();
    for (let key = 0; key < 6; key++)
      for (const { name } of guests) await world.judge(name, `customer${key}`);
    await world.digest();
    expect(await world.judge('fresh.com')).toMatchObject({ reason: 'disposable', riskScore: 84 });

    for (const site of guests) withdraw(site);
    time.now += DAY_MS;
    await world.update();
    // Nobody asks for any of the guests again.
    await world.learn.reload();
    expect(await world.judge('fresh.com')).toMatchObject({ reason: 'safe', riskScore: 20 });
  } finally {
    await world.close();
    await dns.close();
  }
});
