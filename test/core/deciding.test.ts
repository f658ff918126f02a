import { expect, it } from 'vitest';
import { areSpared, decidingOf, lookedAt, sparing } from '../../src/core/deciding.ts';
import { Providers } from '../../src/core/provider.ts';
import { allAtOnce } from '../../src/core/steps.ts';

const providers = new Providers([
  { suffix: 'platform.com', label: 'Platform', class: 'business_platform' },
  { suffix: 'hoster.com', label: 'Hoster', class: 'hosting' },
  { suffix: 'parked.com', label: 'Parking', class: 'parked' },
]);

const KNOWN: Partial<Record<string, string[]>> = { none: [], 'known-mx': ['5.61.1.1'], www: ['5.61.1.2'] };

it.each<[string, [string, number][], string[]]>([
  [
    'those that are tried first',
    [
      ['a.net', 5],
      ['b.net', 5],
      ['c.net', 10],
    ],
    ['a.net', 'b.net'],
  ],
  [
    'behind a name below a platform, a parking host and another one',
    [
      ['mx.platform.com', 1],
      ['mx.parked.com', 2],
      ['none.net', 3],
      ['a.net', 4],
      ['b.net', 5],
    ],
    ['a.net'],
  ],
  [
    'a hosting company, whose host may exist',
    [
      ['mx.hoster.com', 1],
      ['a.net', 2],
    ],
    ['mx.hoster.com'],
  ],
  [
    'a platform, where its host is known to exist',
    [
      ['mx.platform.com', 1],
      ['known-mx.platform.com', 2],
      ['a.net', 3],
    ],
    ['known-mx.platform.com'],
  ],
  [
    'behind web sites that are known to exist, of a platform and of a hosting company',
    [
      ['www.platform.com', 1],
      ['www.hoster.com', 2],
      ['a.net', 3],
    ],
    ['a.net'],
  ],
  ['nobody where there are only names that need not exist', [['mx.platform.com', 1]], []],
  [
    'as many as are looked at, of more',
    Array.from({ length: 30 }, (_, at) => [`mx${at}.net`, 1]),
    Array.from({ length: 20 }, (_, at) => `mx${at}.net`),
  ],
])('who decides: %s', (_, exchanges, hosts) => {
  const addressesOf = (host: string) => KNOWN[host.split('.')[0]!];
  const sorted = exchanges.map(([host, preference]) => ({ host, preference }));
  expect(decidingOf(sorted, providers, addressesOf).map(({ host }) => host)).toEqual(hosts);
});

it.each<[string, [string, number][], number]>([
  [
    'four at least',
    [
      ['a.net', 1],
      ['b.net', 2],
    ],
    4,
  ],
  ['all that decide', ['a', 'b', 'c', 'd', 'e'].map(name => [`${name}.net`, 1]), 5],
])('who is looked at: %s, and nobody who has no address', (_, exchanges, first) => {
  const dead = [
    ['none.net', 1],
    ['mx.platform.com', 1],
  ] as const;
  const sorted = [...dead, ...exchanges].map(([host, preference]) => ({ host, preference }));
  const addressesOf = (host: string) => (host.startsWith('none.') ? [] : undefined);
  expect(lookedAt(sorted, providers, addressesOf)).toEqual({ may: sorted.slice(2), first });
});

it.each<[string, string[], boolean]>([
  ['all addresses of innocents', ['5.61.1.1', '5.61.1.2'], true],
  ['one of an innocent and one of nobody', ['5.61.1.1', '5.61.9.9'], false],
  ['one of an innocent and one of IPv6 that nobody knows', ['5.61.1.1', '2a00:9::9'], true],
  ['one of nobody and one of IPv6 of an innocent', ['5.61.9.9', '2a00:1::1'], false],
  ['of IPv6 only, of an innocent', ['2a00:1::1'], true],
  ['none', [], false],
])('whether addresses spare a host: %s', (_, addresses, expected) => {
  const innocent = new Set(['5.61.1.1', '5.61.1.2', '2a00:1::1']);
  expect(areSpared(addresses, address => innocent.has(address))).toBe(expected);
});

it('addresses and domains of hosts are kept of what innocents share, in steps', () => {
  const of = (names: string) => [...allAtOnce(sparing(names))];
  expect(of('')).toEqual([]);
  expect(of('mx.a.com *.a.com 5.61.1.1 2a00:1::1')).toEqual(['*.a.com', '5.61.1.1', '2a00:1::1']);
  const steps = sparing(Array.from({ length: 1_200 }, (_, at) => `5.61.${at >> 8}.${at & 255}`).join(' '));
  expect([steps.next().done, steps.next().done, steps.next().done]).toEqual([false, false, true]);
});
