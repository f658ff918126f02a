import { beforeAll, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/catalog.ts';
import { HostsMet } from '../../src/core/hosts-met.ts';
import { catalogOf } from '../support/catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await catalogOf([]);
});

/** Hosts are where `known` says, and asked for at once where it does not; those of `dead.net` do not exist. */
function meeting(already: Readonly<Record<string, readonly string[]>> = {}) {
  const known: Record<string, readonly string[]> = { ...already };
  const asked: string[] = [];
  const met = new HostsMet(
    {
      fresh: host => known[host],
      isDue: host => known[host] === undefined,
      isSilent: () => false,
      want(host, by, take) {
        asked.push(`${host} by ${by}`);
        known[host] = host.endsWith('dead.net') ? [] : ['5.61.1.1'];
        take(known[host]);
      },
    },
    new Map(),
  );
  const meet = (guest: string, ...hosts: string[]) => {
    const areKnown = met.meet(
      hosts.map((host, at) => ({ host, preference: at })),
      guest,
      'key',
      catalog,
    );
    met.ask();
    return areKnown;
  };
  return { met, meet, asked };
}

it('hosts whose addresses are not known are asked for, twenty of a domain at most, and four of platforms', () => {
  const { met, meet, asked } = meeting({ 'mx.known.net': ['5.61.1.2'] });
  const many = Array.from({ length: 30 }, (_, at) => `mx${at}.many.net`);
  const platforms = Array.from({ length: 6 }, (_, at) => `alt${at}.aspmx.l.google.com`);
  expect(meet('a.com', ...platforms, 'mx.known.net', ...many)).toBe(false);
  expect(asked).toEqual([...many.slice(0, 19), ...platforms.slice(0, 4)].map(host => `${host} by key`));
  expect([meet('b.com', 'mx.known.net'), asked.length, met.size]).toEqual([true, 23, 0]);
});

it('not all are known where a platform before others may not be there', () => {
  const { meet } = meeting({ 'mx.known.net': ['5.61.1.2'] });
  const both = () => meet('a.com', 'aspmx.l.google.com', 'mx.known.net');
  expect([both(), both()]).toEqual([false, true]);
});

it('not all are known where one has no address, which may have one later', () => {
  const { meet } = meeting({ 'mx.known.net': ['5.61.1.2'], 'mx.none.net': [] });
  expect(meet('a.com', 'mx.known.net', 'mx.none.net')).toBe(false);
});

it('a guest had a host before: by guest and by the domain that somebody paid for, known already or asked for', () => {
  const { met, meet } = meeting({ 'mx.known.net': ['5.61.1.2'] });
  for (const host of ['r0.box.net', 'mx.known.net', 'x.duckdns.org']) meet('a.com', host);
  const before = (host: string, guest = 'a.com') => met.before(host, guest);
  expect(['r1.box.net', 'm.known.net', 'y.duckdns.org'].map(host => before(host))).toEqual([
    ...['r0.box.net', 'mx.known.net', 'x.duckdns.org'],
  ]);
  expect([before('r1.box.net', 'b.com'), before('r1.other.net')]).toEqual([undefined, undefined]);
  meet('a.com', 'r1.box.net');
  expect(before('r2.box.net')).toBe('r1.box.net');
  // Of each name below it apart, and of all of these.
  meet('x.a.com', 'r3.box.net');
  expect(['a.com', 'x.a.com', 'y.a.com', '*.a.com'].map(guest => before('r4.box.net', guest))).toEqual([
    ...['r1.box.net', 'r3.box.net', undefined, 'r3.box.net'],
  ]);
});

it('a host without an address takes the place of none that has one, and leaves it to the next that has', () => {
  const { met, meet } = meeting({ 'mx.dead.net': ['5.61.1.2'] });
  meet('a.com', 'r0.dead.net');
  expect(met.before('x.dead.net', 'a.com')).toBe('r0.dead.net');
  meet('a.com', 'mx.dead.net');
  meet('a.com', 'r1.dead.net');
  expect(met.before('x.dead.net', 'a.com')).toBe('mx.dead.net');
});

it('a host had before is one that decided: none behind it, and one behind others that do not exist', () => {
  const { met, meet } = meeting({ 'decoy.box.net': ['5.61.7.7'], 'mx.known.net': ['5.61.1.2'] });
  meet('a.com', 'r0.box.net', 'decoy.box.net');
  expect(met.before('r1.box.net', 'a.com')).toBe('r0.box.net');
  meet('b.com', 'r0.dead.net', 'mx.known.net', 'decoy.box.net');
  const before = ['x.dead.net', 'x.known.net', 'x.box.net'].map(host => met.before(host, 'b.com'));
  expect(before).toEqual(['r0.dead.net', 'mx.known.net', undefined]);
});

it('no more wait to be asked for than there is room', () => {
  const { met } = meeting();
  for (let at = 0; at < 6_000; at++)
    met.meet([{ host: `mx.box${at}.net`, preference: 0 }], 'a.com', 'key', catalog);
  expect(met.size).toBe(5_000);
});
