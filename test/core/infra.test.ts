import { beforeAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/catalog.ts';
import { NO_OTHERS } from '../../src/core/deciding.ts';
import { Established } from '../../src/core/established.ts';
import type { Family } from '../../src/core/feed.ts';
import { makingCatalog } from '../../src/core/folding.ts';
import type { HostRecord } from '../../src/core/guest.ts';
import { foldingInfra } from '../../src/core/infra-folding.ts';
import { isLearnable } from '../../src/core/learnable.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { catalogOf, NO_TABLES } from '../support/catalog.ts';
import { entriesOf, groupOfGuests, isLearned } from '../support/guests.ts';

/** In the order of the list. */
const LISTED = ['burner.com', 'temp-mail-host.net', 'third.com', 'fourth.com', 'duckdns.org', 'bad.ddns.net'];
const SIBLINGS = ['a.farm.net', 'b.farm.net', 'c.lonely.net', 'd.blogspot.com', 'e.blogspot.com'];
/** What one family names only. */
const BROAD = ['broad-host.net', 'a.broad-farm.net', 'b.broad-farm.net'];
const TODAY = '2026-11-15';
/** One in ten. */
const FEW_LEFT = ['burner.com', ...Array.from({ length: 9 }, (_, at) => `was-listed${at}.com`)];
const unlisted = (count: number) => groupOfGuests(count, { listed: false, sinceDay: TODAY });

let catalog: Catalog;
beforeAll(async () => {
  const telemetry = [...LISTED, ...SIBLINGS];
  catalog = await catalogOf([...telemetry, ...BROAD], {
    telemetry,
    verified: ['looked-at.net'],
    popular: ['popular.com'],
  });
});

/** Twenty guests, or so many as are flagged, of which the lists named the neighbours in turn. */
function record(facts: Partial<HostRecord> = {}): HostRecord {
  const { flagged = 20, neighbours = ['burner.com'] } = facts;
  return {
    name: 'mx.box.net',
    innocent: 0,
    shared: false,
    forgotten: false,
    lastDay: TODAY,
    groups: [groupOfGuests(flagged, { entries: entriesOf(flagged, neighbours) })],
    ...facts,
    flagged,
    neighbours,
  };
}

describe('a host is learned', () => {
  const own = (others: number) => ({ name: 'own@5.61.1.1', groups: [groupOfGuests(3), unlisted(others)] });
  it.each<[string, Partial<HostRecord>, boolean]>([
    ['by three listed guests that are there to stay', { groups: [groupOfGuests(3)] }, true],
    ['not by two', { groups: [groupOfGuests(2)] }, false],
    ['in spite of fifteen unlisted guests', { groups: [groupOfGuests(3), unlisted(15)] }, true],
    ['not in spite of sixteen', { groups: [groupOfGuests(3), unlisted(16)] }, false],
    ['not by a thousand of one family', { groups: [groupOfGuests(1_000, { corroborated: false })] }, false],
    ['not when it is shared', { shared: true }, false],
    ['not when it was forgotten', { forgotten: true }, false],
    ['not when no neighbour is listed any more', { neighbours: ['was-listed.com'] }, false],
    [
      'not when it would just do and no neighbour is listed any more',
      { groups: [groupOfGuests(3, { entries: entriesOf(3, ['was-listed.com']) }), unlisted(15)] },
      false,
    ],
    ['not when too few neighbours are listed any more', { neighbours: FEW_LEFT }, false],
    ['when half of its neighbours are still listed', { neighbours: ['was-listed.com', 'burner.com'] }, true],
    ['not when a table knows it', { name: 'aspmx.l.google.com' }, false],
    ['when a table knows it as disposable', { name: 'mx.yopmail.com' }, true],
    ['not when it is a host of a protected domain', { name: 'mx.sdf.org' }, false],
    ['not when it is a host of a relay', { name: 'mx.duck.com' }, false],
    ['not when it is a host of a consumer mail domain', { name: 'mx.web.de' }, false],
    ['not when it is a host of the panel', { name: 'mx.popular.com' }, false],
    ['by its address as well', { name: '5.61.1.1' }, true],
    ['by own hosts with eight others', own(8), true],
    ['not by own hosts with nine', own(9), false],
    ['by an address of version 6', { name: '2a00:1::1' }, true],
    ['with all hosts below a domain', { name: '*.box.net' }, true],
    ['not with all hosts of the panel', { name: '*.popular.com' }, false],
    ['not with all hosts below a protected domain', { name: '*.sdf.org' }, false],
  ])('%s', (_, facts, expected) => {
    expect(isLearned(record(facts), catalog, TODAY)).toBe(expected);
  });
});

it.each<[string, string[] | undefined, boolean]>([
  ['a learned address', ['5.61.1.1'], true],
  ['an address where own hosts were learned too', ['5.61.1.2'], true],
  ['an address where own hosts of listed domains were not', ['5.61.1.3'], false],
  ['one where it would just do for a mail host', ['5.61.1.4'], false],
  ['one that innocents share', ['5.61.1.5'], false],
  ['a learned address and another', ['5.61.1.1', '5.61.9.9'], false],
  ['a learned address and one of IPv6 that nobody knows', ['5.61.1.1', '2a00:9::1'], true],
  ['nowhere', [], false],
  ['nobody knows where', undefined, false],
])('a name without exchanges, at %s', (_, addresses, isFound) => {
  const few = [groupOfGuests(3), unlisted(9)];
  const records = [
    ...['5.61.1.1', '5.61.1.2', 'own@5.61.1.2', '5.61.1.3'].map(name => record({ name })),
    record({ name: 'own@5.61.1.3', groups: few }),
    record({ name: '5.61.1.4', groups: few }),
    record({ name: '5.61.1.5', shared: true }),
  ];
  const infra = allAtOnce(foldingInfra(records, catalog, TODAY, () => addresses));
  const found = infra.findAt('fresh.com', catalog);
  if (isFound) expect(found).toMatchObject({ by: 'address', hosts: ['fresh.com'], enough: 2.5 });
  else expect(found).toBeUndefined();
});

it.each<[string, string, string[] | undefined, boolean]>([
  ['that was learned', 'mx.box.net', undefined, true],
  ['below a learned domain', 'mx7.rotating.net', undefined, true],
  ['at a learned address', 'mx.firm.net', ['5.61.9.9', '5.61.1.1'], true],
  ['at one that would not do for own hosts', 'mx.firm.net', ['5.61.1.4'], true],
  ['where own hosts were learned', 'mx.firm.net', ['5.61.1.2'], true],
  ['below a domain that two families list', 'mx.burner.com', undefined, true],
  ['below a domain that one family lists', 'mx.broad-host.net', undefined, false],
  ['where too little speaks against anybody', 'mx.firm.net', ['5.61.1.3'], false],
  ['of which nothing is known', 'mx.firm.net', undefined, false],
])('verdicts hang on where a host is, behind another one: %s', (_, host, addresses, hangs) => {
  const learned = ['mx.box.net', '*.rotating.net', '5.61.1.1', 'own@5.61.1.2'].map(name => record({ name }));
  const records = [
    ...learned,
    record({ name: '5.61.1.3', groups: [groupOfGuests(2)] }),
    record({ name: '5.61.1.4', groups: [groupOfGuests(3), unlisted(9)] }),
  ];
  const known = (name: string) => (name === host ? addresses : undefined);
  const infra = allAtOnce(foldingInfra(records, catalog, TODAY, known));
  const exchanges = ['mx.elsewhere.net', host].map(name => ({ host: name, preference: 10 }));
  expect(infra.hangsOnAddresses(exchanges, catalog)).toBe(hangs);
});

it.each<[string, (readonly [string, number])[], string[] | undefined]>([
  [
    'before another decides nothing',
    [
      ['silent.box.net', 0],
      ['mx.box.net', 10],
    ],
    ['mx.box.net'],
  ],
  ['alone is judged by the hosts beside it', [['silent.box.net', 0]], ['silent.box.net']],
  ['alone of another domain is not judged', [['silent.other.net', 0]], undefined],
])('a host for which nobody has answered %s', (_, exchanges, hosts) => {
  const beside = ['mx.box.net', 'mx1.box.net', 'mx2.box.net'];
  const records = ['*.box.net', '5.61.1.1'].map(name => record({ name }));
  const addressesOf = (host: string) => (beside.includes(host) ? ['5.61.1.1'] : undefined);
  const infra = allAtOnce(
    foldingInfra(records, catalog, TODAY, addressesOf, new Set(), {
      ...NO_OTHERS,
      beside: host => (host.endsWith('.box.net') ? beside : []),
      before: () => undefined,
      isSilent: host => host.startsWith('silent.'),
    }),
  );
  const tried = exchanges.map(([host, preference]) => ({ host, preference }));
  expect(infra.find('fresh.com', 'fresh.com', tried, catalog)?.hosts).toEqual(hosts);
});

describe('what was learned, for lookup', () => {
  /** Of which nothing else is known. */
  const NOWHERE = ['5.61.9.9'];
  const addresses: Record<string, string[]> = {
    'mx.box.net': NOWHERE,
    'mx.second.net': NOWHERE,
    'mx7.numbered.net': NOWHERE,
    'mx59.numbered.net': NOWHERE,
    'mx.notfresh.com': NOWHERE,
    'mx.new.net': ['5.61.1.1'],
    'mx.half.net': ['5.61.1.1', '5.61.1.2'],
    'mx.twice.net': ['5.61.1.1', '5.61.1.3'],
    'own.fresh.com': ['5.61.1.1'],
    'other.fresh.com': ['5.61.1.4'],
    'third.fresh.com': ['5.61.1.3'],
    'mx.other-name.net': ['5.61.1.4'],
    'mx.given-up.net': ['5.61.1.1'],
    'mx.at-platform.net': ['5.61.1.5'],
    'mx.few.net': ['5.61.1.1'],
    'mx.web.de': ['5.61.1.1'],
    'mx.forgotten.net': ['5.61.1.1'],
    'mx.dead.net': [],
    'mx.half-at-platform.net': ['5.61.1.2', '5.61.1.5'],
    'mx.at-platforms.net': ['5.61.1.5', '5.61.1.8'],
    'mx.at-platform-too.net': ['5.61.1.5', '2a00:1::2'],
    'mx.six-at-platform.net': ['5.61.1.2', '2a00:1::5'],
    'mx.many.net': ['5.61.1.5', '5.61.1.5', '5.61.1.5', '5.61.1.5', '5.61.1.8'],
    'mx.many-too.net': ['5.61.1.5', '5.61.1.8', '2a00:1::2', '2a00:1::3', '2a00:1::4'],
    'mx.alone.net': ['5.61.1.8'],
    'fourth.fresh.com': ['5.61.1.6'],
    'fifth.fresh.com': ['5.61.1.1', '5.61.1.6'],
    'sixth.fresh.com': ['5.61.1.1', '2a00:9::1'],
    'mx.decoy.net': ['5.61.1.1', '2a00:9::1'],
    'mx.six.net': ['2a00:1::1'],
    'mx.six-too.net': ['2a00:1::1', '2a00:9::1'],
    'mx.four-elsewhere.net': ['5.61.9.9', '2a00:1::1'],
    'mx.two-hosters.net': ['5.61.1.1', '5.61.1.7'],
  };
  const FEW = { flagged: 1, groups: [groupOfGuests(1)] };
  /** All of them tried first, unless their preferences are told. */
  const find = (...hosts: (string | readonly [host: string, preference: number])[]) =>
    allAtOnce(
      foldingInfra(
        [
          record({ neighbours: ['was-listed.com', 'burner.com'] }),
          record({ name: 'mx.second.net', neighbours: LISTED }),
          record({ name: '5.61.1.1' }),
          record({ name: '5.61.1.3' }),
          record({ name: '2a00:1::1' }),
          record({ name: 'own@5.61.1.1' }),
          record({ name: 'own@5.61.1.4', groups: [groupOfGuests(3), unlisted(9)] }),
          record({ name: 'mx.few.net', ...FEW }),
          record({ name: '5.61.1.4', groups: [groupOfGuests(3), unlisted(9)] }),
          record({ name: '*.numbered.net' }),
          record({ name: 'mx.nobody-knows-where.net' }),
          record({ name: 'mx.at-platform.net' }),
          record({ name: '5.61.1.5', shared: true }),
          record({ name: '2a00:1::5', shared: true }),
          ...[
            'half-at-platform',
            'at-platforms',
            'at-platform-too',
            'six-at-platform',
            'many',
            'many-too',
            'alone',
          ].map(name => record({ name: `mx.${name}.net` })),
          record({ name: '5.61.1.6', forgotten: true }),
          record({ name: 'own@5.61.1.6' }),
          record({ name: '5.61.1.7', neighbours: ['third.com'] }),
          record({ name: '*.given-up.net', forgotten: true }),
          record({ name: 'mx.given-up.net' }),
          record({ name: 'mx.fresh.com' }),
          record({ name: 'fresh.com' }),
          record({ name: 'mx.notfresh.com' }),
          record({ name: 'mx.forgotten.net', forgotten: true }),
        ],
        catalog,
        TODAY,
        host => addresses[host],
        new Set(['5.61.1.8', '*.fourth.com']),
      ),
    ).find(
      'fresh.com',
      'fresh.com',
      hosts
        .map(one =>
          typeof one === 'string' ? { host: one, preference: 0 } : { host: one[0], preference: one[1] },
        )
        .sort((one, other) => one.preference - other.preference),
      catalog,
    );

  it.each([
    [80, undefined],
    [81, true],
  ])(
    'is a warning where fewer than one in five that were seen is listed: twenty beside %i',
    (innocent, isFew) => {
      const hosts = [record({ innocent }), record({ name: 'mx.other.net' })];
      const infra = allAtOnce(foldingInfra(hosts, catalog, TODAY, () => ['5.61.1.1']));
      const found = (...names: string[]) =>
        infra.find(
          ...(['fresh.com', 'fresh.com'] as const),
          names.map(host => ({ host, preference: 0 })),
          catalog,
        )?.isFew;
      expect([found('mx.box.net'), found('mx.other.net')]).toEqual([isFew, undefined]);
      expect(found('mx.other.net', 'mx.box.net')).toBe(isFew);
    },
  );

  describe('is a warning for who is established there, where what it was learned from came later', () => {
    const customers = { listed: false, corroborated: false, keys: 0, days: 3, sinceDay: '2026-08-01' };
    const at = (name: string, entries = '') =>
      record({
        name,
        groups: [groupOfGuests(20, { sinceDay: '2026-09-15' }), groupOfGuests(1, { ...customers, entries })],
      });
    const places: Record<string, string[]> = {
      'mx.box.net': NOWHERE,
      'mx2.box.net': NOWHERE,
      'mx.new.net': ['5.61.1.1'],
      'mx.twice.net': ['5.61.1.2', '5.61.1.1'],
      'mx.firm.com': ['5.61.1.1'],
      'firm.com': ['5.61.1.1'],
      'firma.gr.com': ['5.61.1.1'],
      'duckdns.org': ['5.61.1.1'],
      'mx.second.net': NOWHERE,
    };
    const names = 'firm.com gr.com duckdns.org lonely.net farm.net';
    const established = new Established('*.box.net *.farm.net=15 *.lonely.net=15 \n*.new.net *.farm.net=7 ');
    const infra = () =>
      allAtOnce(
        foldingInfra(
          [
            at('mx.box.net', 'moved-later.com'),
            at('mx2.box.net'),
            at('*.box.net', names),
            at('5.61.1.1', names),
            at('5.61.1.2'),
            at('mx.second.net'),
          ],
          catalog,
          TODAY,
          host => places[host],
          new Set(),
          { ...NO_OTHERS, established },
        ),
      );
    it.each<[string, string, string | undefined, string[], boolean | undefined]>([
      ['below the same domain of hosts', 'firm.com', 'firm.com', ['mx.box.net'], true],
      ['there only since it has another name', 'moved-later.com', 'moved-later.com', ['mx.box.net'], true],
      ['by another name below it', 'mail.firm.com', 'firm.com', ['mx2.box.net'], true],
      ['at the address', 'firm.com', 'firm.com', ['mx.new.net'], true],
      ['at one of two', 'firm.com', 'firm.com', ['mx.twice.net'], true],
      ['with hosts of its own there', 'firm.com', 'firm.com', ['mx.firm.com'], true],
      ['on one of two hosts', 'firm.com', 'firm.com', ['mx.second.net', 'mx.box.net'], true],
      ['but not on another', 'firm.com', 'firm.com', ['mx.second.net'], undefined],
      ['but not for anybody else', 'other.com', 'other.com', ['mx.box.net'], undefined],
      ['whose name ends so', 'myfirm.com', 'myfirm.com', ['mx.box.net'], undefined],
      ['or begins so', 'firm.com.de', 'firm.com.de', ['mx.box.net'], undefined],
      // All below a suffix are kept together, and count as one against the host too.
      ['but below a suffix', 'firma.gr.com', 'firma.gr.com', ['mx.box.net'], true],
      ["also below what is anybody's", 'x.a.duckdns.org', 'a.duckdns.org', ['mx.box.net'], true],
      ['and for that', 'duckdns.org', undefined, ['mx.box.net'], true],
      ['and for a domain where lists name one other', 'lonely.net', 'lonely.net', ['mx.box.net'], true],
      ['but where four keys ask for two there', 'c.farm.net', 'farm.net', ['mx.box.net'], undefined],
      ['and not only at another host', 'c.farm.net', 'farm.net', ['mx.new.net'], true],
    ])('%s', (_, name, registrable, hosts, isResident) => {
      const exchanges = hosts.map(host => ({ host, preference: 0 }));
      const found = infra().find(name, registrable, exchanges, catalog);
      expect([found?.hosts, found?.isResident]).toEqual([hosts, isResident]);
    });

    it.each<[string, string, string, string[], boolean | undefined]>([
      ['at another machine of the same domain of hosts', 'tenant.com', 'tenant.com', ['srv2.vps.net'], true],
      ['but at one that was not looked at', 'tenant.com', 'tenant.com', ['srv3.vps.net'], undefined],
      [
        'where two listed ones came, which are not enough',
        'tenant.com',
        'tenant.com',
        ['srv4.vps.net'],
        true,
      ],
      ['but whose address was learned', 'tenant.com', 'tenant.com', ['srv5.vps.net'], undefined],
      ['save after it was established there', 'tenant.com', 'tenant.com', ['srv6.vps.net'], true],
      ['but below what is asked for there', 'x.asked.net', 'asked.net', ['srv2.vps.net'], undefined],
      ['but not for others there', 'other.com', 'other.com', ['srv2.vps.net'], undefined],
      ['below a domain with two listed names', 'x.farm.net', 'farm.net', ['mx.farm.net'], true],
      ['but not where four keys ask for these', 'x.asked.net', 'asked.net', ['mx.asked.net'], undefined],
      ['nor where it is not established', 'x.new.net', 'new.net', ['mx.new.net'], undefined],
    ])('by what nobody weighed for it: %s', async (_, name, registrable, hosts, isResident) => {
      const below = ['farm', 'asked', 'new'].flatMap(domain => [`a.${domain}.net`, `b.${domain}.net`]);
      const lists = await catalogOf([...LISTED, ...below], { telemetry: [...LISTED, ...below] });
      const lines = [
        'own@asked.net *.asked.net=15 asked.net ',
        'own@farm.net *.farm.net=7 farm.net ',
        'srv2.vps.net asked.net tenant.com ',
        ...['srv4', 'srv5', 'srv6'].map(srv => `${srv}.vps.net tenant.com `),
      ];
      const others = {
        ...NO_OTHERS,
        established: new Established(['*.vps.net *.asked.net=15 asked.net tenant.com ', ...lines].join('\n')),
      };
      const addresses = (host: string) => [`5.61.9.${host.slice(3, 4)}`];
      const few = { flagged: 2, groups: [groupOfGuests(2)] };
      const vps = [
        ...['*.vps.net', '5.61.9.5'].map(at => record({ name: at })),
        ...['srv4.vps.net', '5.61.9.4'].map(at => record({ ...few, name: at })),
        at('5.61.9.6', 'tenant.com'),
      ];
      const folded = allAtOnce(foldingInfra(vps, lists, TODAY, addresses, new Set(), others));
      const exchanges = hosts.map(host => ({ host, preference: 0 }));
      const found = folded.find(name, registrable, exchanges, lists);
      expect([found !== undefined, found?.isResident]).toEqual([true, isResident]);
    });

    it('without exchanges too', () => {
      for (const name of ['firm.com', 'firma.gr.com', 'duckdns.org'])
        expect(infra().findAt(name, catalog)).toMatchObject({ by: 'address', isResident: true });
    });

    it('and of those who were there nobody is told to others', () => {
      const found = infra().find('other.com', 'other.com', [{ host: 'mx.box.net', preference: 0 }], catalog);
      expect(
        JSON.stringify([found, infra().graph([{ host: 'mx.box.net', preference: 0 }], catalog)]),
      ).not.toMatch(/firm\.com|moved-later/);
    });
  });

  it('tells what its guests had to weigh, more for hosts of its own', () => {
    expect(find('mx.box.net')).toMatchObject({ enough: 2.1 });
    expect(find('own.fresh.com')).toMatchObject({ by: 'address', enough: 2.5 });
  });

  it.each<[string, string[], 'name' | 'address' | 'behind' | undefined]>([
    ['a learned host', ['mx.box.net'], 'name'],
    ['a host at a learned address', ['mx.new.net'], 'address'],
    ['one of each', ['mx.box.net', 'mx.new.net'], 'address'],
    ['a learned host and one of the table', ['mx.box.net', 'mx.yopmail.com'], 'name'],
    ['a host with another address too', ['mx.half.net'], undefined],
    ['a host with one more of IPv6 that nobody knows', ['mx.decoy.net'], 'address'],
    ["the domain's own host with one more of IPv6 that nobody knows", ['sixth.fresh.com'], 'address'],
    ['a host at a learned address of IPv6 only', ['mx.six.net'], 'address'],
    ['a host at a learned address of IPv6 and another', ['mx.six-too.net'], undefined],
    ['a host at a learned address of IPv6, and elsewhere by IPv4', ['mx.four-elsewhere.net'], undefined],
    ['a host that was seen, but not learned, at a learned address', ['mx.few.net'], 'address'],
    ['a host without address', ['mx.dead.net'], undefined],
    ['a host whose addresses are not known', ['mx.unknown.net'], undefined],
    ['a learned host whose addresses are not known', ['mx.nobody-knows-where.net'], undefined],
    ['one of a learned domain of hosts whose addresses are not known', ['mx8.numbered.net'], undefined],
    ['a host that was forgotten, at a learned address', ['mx.forgotten.net'], undefined],
    ['a learned host and an unknown one', ['mx.box.net', 'mx.unknown.net'], 'behind'],
    ["the domain's own host, though its name is learned", ['mx.fresh.com'], undefined],
    ['the domain itself as its host, though it is learned', ['fresh.com'], undefined],
    ["the domain's own host at a learned address", ['own.fresh.com'], 'address'],
    ["the domain's own host where it would just do for others", ['other.fresh.com'], undefined],
    ["the domain's own host where only others are", ['third.fresh.com'], 'address'],
    ['a host of others there', ['mx.other-name.net'], 'address'],
    ['a learned host at the address of a platform', ['mx.at-platform.net'], undefined],
    ['a learned host, one address of which is a platform', ['mx.half-at-platform.net'], 'name'],
    ['a learned host, all addresses of which are those of platforms', ['mx.at-platforms.net'], undefined],
    ['the same where one more of IPv6 is known to nobody', ['mx.at-platform-too.net'], undefined],
    ['a learned host at the address of a platform of IPv6 and another', ['mx.six-at-platform.net'], 'name'],
    ['a learned host at so many addresses of platforms that there may be others', ['mx.many.net'], 'name'],
    ['a learned host at so many of IPv6 beside them', ['mx.many-too.net'], undefined],
    [
      'a learned host at the address of an innocent of whom nothing else is known',
      ['mx.alone.net'],
      undefined,
    ],
    ['a host below a listed domain whose hosts an innocent shares', ['mx9.fourth.com'], undefined],
    ["the domain's own host at an address that an operator took out", ['fourth.fresh.com'], undefined],
    ["the domain's own host, one address of which was taken out", ['fifth.fresh.com'], undefined],
    ['a host at two addresses that weigh the same, by the first', ['mx.two-hosters.net'], 'address'],
    ['any number of a learned domain of hosts', ['mx7.numbered.net', 'mx59.numbered.net'], 'name'],
    ['a learned host of a domain that an operator took out', ['mx.given-up.net'], undefined],
    ["a learned host and the domain's own", ['mx.box.net', 'mx.fresh.com'], 'behind'],
    ['a host of a domain whose name only ends so', ['mx.notfresh.com'], 'name'],
    ['a host of which both addresses are learned', ['mx.twice.net'], 'address'],
    ['a host of a consumer mail domain, at a learned address', ['mx.web.de'], undefined],
    ['hosts of the table only', ['mx.yopmail.com'], undefined],
    ['no host', [], undefined],
  ])('%s', (_, hosts, by) => {
    const found = find(...hosts);
    expect(found?.isBehind ? 'behind' : found?.by).toBe(by);
    if (found && !found.isBehind) expect(found).toMatchObject({ hosts, neighbours: ['burner.com'] });
  });

  it('tells how many listed domains share the host, and what they weigh', () => {
    expect(find('mx.box.net')).toMatchObject({ listedGuests: 10, sum: 8.8 });
    for (const hosts of [
      ['mx.box.net', 'mx.other-name.net'],
      ['mx.other-name.net', 'mx.box.net'],
    ])
      expect(find(...hosts)).toMatchObject({ listedGuests: 10, sum: 2.46 });
  });

  it('tells what was weighed beside a host below a listed domain, where nothing is', () => {
    for (const hosts of [
      ['mx9.third.com', 'mx.box.net'],
      ['mx.box.net', 'mx9.third.com'],
    ])
      expect(find(...hosts)).toMatchObject({ by: 'listed', sum: 8.8, enough: 2.1 });
  });

  it.each<[string, (readonly [string, number])[], boolean]>([
    [
      'an unknown host behind it',
      [
        ['mx.box.net', 0],
        ['mx.unknown.net', 10],
      ],
      true,
    ],
    [
      "the domain's own host, which is elsewhere, before it",
      [
        ['third.fresh.com', 0],
        ['mx.half.net', 0],
        ['mx.box.net', 10],
      ],
      false,
    ],
    [
      'a hosting company behind it',
      [
        ['mx.box.net', 0],
        ['mx00.ionos.com', 10],
      ],
      true,
    ],
    [
      "the domain's own host behind it",
      [
        ['mx.box.net', 0],
        ['mx.fresh.com', 10],
      ],
      true,
    ],
    [
      'a platform beside it, where names need not exist',
      [
        ['mx.box.net', 0],
        ['aspmx.l.google.com', 0],
      ],
      true,
    ],
    [
      'a platform before it',
      [
        ['aspmx.l.google.com', 0],
        ['mx.box.net', 10],
      ],
      true,
    ],
    [
      'a host without address before it',
      [
        ['mx.dead.net', 0],
        ['mx.box.net', 10],
      ],
      true,
    ],
    [
      'a host without address beside it',
      [
        ['mx.dead.net', 0],
        ['mx.box.net', 0],
      ],
      true,
    ],
    [
      'a parking host before it',
      [
        ['park-mx.above.com', 0],
        ['mx.box.net', 10],
      ],
      true,
    ],
  ])('a learned host is judged alone with %s', (_, exchanges, isFound) => {
    const found = find(...exchanges);
    if (isFound) expect(found).toMatchObject({ by: 'name', hosts: ['mx.box.net'] });
    else expect(found).toBeUndefined();
  });

  it.each<[string, (readonly [string, number])[], boolean]>([
    [
      'before it',
      [
        ['mx.unknown.net', 0],
        ['mx.box.net', 10],
      ],
      true,
    ],
    [
      'beside it',
      [
        ['mx.unknown.net', 0],
        ['mx.box.net', 0],
      ],
      true,
    ],
    [
      'before it and a dead one',
      [
        ['mx.dead.net', 0],
        ['mx.unknown.net', 5],
        ['mx.box.net', 10],
      ],
      true,
    ],
    [
      'before it and one elsewhere',
      [
        ['mx.unknown.net', 0],
        ['mx.half.net', 5],
        ['mx.box.net', 10],
      ],
      false,
    ],
    [
      'before another one below a name of a table and it',
      [
        ['mx.unknown.net', 0],
        ['mx00.ionos.com', 5],
        ['mx.box.net', 10],
      ],
      true,
    ],
    ['alone', [['mx.unknown.net', 0]], false],
  ])('a learned host is told to be behind a host that nobody has asked for: %s', (_, exchanges, isFound) => {
    const found = find(...exchanges);
    if (isFound) expect(found).toMatchObject({ by: 'name', hosts: ['mx.box.net'], isBehind: true });
    else expect(found).toBeUndefined();
  });

  it.each<[string, string[], object | undefined]>([
    ['below a listed domain at once', ['mx9.third.com'], { by: 'listed', neighbours: ['third.com'] }],
    ['below a domain that one family lists not', ['mx.broad-host.net'], undefined],
    ['below a domain that a verified list alone names not', ['mx.looked-at.net'], undefined],
    ['below a listed suffix that others are customers of not', ['mx.customer.duckdns.org'], undefined],
    ['of a listed customer of such a suffix at once', ['mx.bad.ddns.net'], { neighbours: ['bad.ddns.net'] }],
    ['below a listed domain and elsewhere not', ['mx9.third.com', 'mx.unknown.net'], undefined],
  ])('an exchange %s', (_, hosts, expected) => {
    if (expected) expect(find(...hosts)).toMatchObject(expected);
    else expect(find(...hosts)).toBeUndefined();
  });

  it.each<[string, string, (string | readonly [string, number])[], boolean]>([
    [
      'two listed siblings, on hosts above them, tried before others',
      'x.farm.net',
      ['mx.farm.net', ['mx.unknown.net', 10]],
      true,
    ],
    ['two listed siblings, on hosts above them', 'x.farm.net', ['mx.farm.net', 'farm.net'], true],
    ['two listed siblings, on hosts of its own', 'x.farm.net', ['mx.x.farm.net'], false],
    ['two listed siblings, on the name itself', 'x.farm.net', ['x.farm.net'], false],
    ['two listed siblings, on hosts of others', 'x.farm.net', ['mx.farm.net', 'mx.unknown.net'], false],
    ['two listed names below it', 'farm.net', ['mx.farm.net'], false],
    ['one listed sibling', 'x.lonely.net', ['mx.lonely.net'], false],
    ['two siblings that one family lists', 'x.broad-farm.net', ['mx.broad-farm.net'], false],
    ['two listed names below a shared suffix', 'x.blogspot.com', ['mx.blogspot.com'], false],
    ['two listed siblings, on a platform', 'x.farm.net', ['mx.farm.net', 'aspmx.l.google.com'], false],
  ])('%s', (_, name, hosts, flagged) => {
    const registrable = name.split('.').slice(-2).join('.');
    const exchanges = hosts.map(one =>
      typeof one === 'string' ? { host: one, preference: 0 } : { host: one[0], preference: one[1] },
    );
    const infra = allAtOnce(foldingInfra([], catalog, TODAY, () => undefined));
    const found = infra.find(name, registrable, exchanges, catalog);
    if (flagged)
      expect(found).toMatchObject({
        by: 'siblings',
        hosts: ['farm.net'],
        listedGuests: 2,
        neighbours: ['a.farm.net', 'b.farm.net'],
      });
    else expect(found).toBeUndefined();
  });

  it('shows listed guests of hosts whether they are learned or not, at most fifty names in all', () => {
    const many = Array.from({ length: 40 }, (_, at) => `x${at}.burner.com`);
    const infra = allAtOnce(
      foldingInfra(
        [
          record({ flagged: 41, neighbours: [...many, 'was-listed.com'] }),
          record({ name: '*.second.net', flagged: 40, neighbours: many }),
          record({ name: 'mx.third.net', flagged: 2, groups: [groupOfGuests(2)] }),
          record({ name: 'aspmx.l.google.com', flagged: 900 }),
          record({ name: 'mx.cleared.net', flagged: 7, neighbours: ['was-listed.com'] }),
        ],
        catalog,
        TODAY,
        host => (host === 'mx.box.net' ? ['5.61.1.1'] : undefined),
      ),
    );
    const hosts = ['mx.box.net', 'mx1.second.net', 'mx.third.net', 'aspmx.l.google.com'];
    const graph = infra.graph(
      hosts.map((host, preference) => ({ host, preference })),
      catalog,
    );
    expect(graph.map(({ host, addresses, listedGuests }) => [host, addresses, listedGuests])).toEqual([
      ['mx.box.net', ['5.61.1.1'], 40],
      ['mx1.second.net', [], 40],
      ['mx.third.net', [], 2],
    ]);
    expect(graph.map(({ guests }) => guests.length)).toEqual([40, 10, 0]);
    for (const host of ['mx.never-seen.net', 'mx.cleared.net'])
      expect(infra.graph([{ host, preference: 0 }], catalog)).toEqual([]);
  });

  it('shows the guests of four hosts of a domain, and of each by its own name first', () => {
    const hosts = [1, 2, 3, 4, 5].map(at => `mx.host${at}.net`);
    const infra = allAtOnce(
      foldingInfra(
        hosts.flatMap(name => [
          record({ name }),
          record({ name: name.replace('mx', '*'), neighbours: ['third.com'] }),
        ]),
        catalog,
        TODAY,
        () => undefined,
      ),
    );
    const graph = infra.graph(
      hosts.map((host, preference) => ({ host, preference })),
      catalog,
    );
    expect(graph.map(({ host, guests }) => [host, guests])).toEqual(
      hosts.slice(0, 4).map(host => [host, ['burner.com']]),
    );
    // Also behind others of which nobody knows anything.
    const others = ['a', 'b', 'c', 'd'].map(name => ({ host: `mx.${name}.net`, preference: 0 }));
    const behind = infra.graph([...others, { host: hosts[0]!, preference: 10 }], catalog);
    expect(behind.map(({ host }) => host)).toEqual([hosts[0]]);
  });

  it('tells where all hosts below a domain were weighed, and not one by itself', () => {
    const infra = allAtOnce(
      foldingInfra([record({ name: '*.box.net' })], catalog, TODAY, () => ['5.61.1.9']),
    );
    const at = (...hosts: string[]) =>
      infra.find(
        'fresh.com',
        'fresh.com',
        hosts.map(host => ({ host, preference: 0 })),
        catalog,
      );
    expect(at('mx7.box.net')).toMatchObject({ by: 'name', hosts: ['mx7.box.net'], below: 'box.net' });
    expect(find('mx.box.net')?.below).toBeUndefined();
  });

  it('names three neighbours at most, each once, and none that is not listed any more', () => {
    expect(find('mx.box.net', 'mx.second.net')?.neighbours).toEqual(['burner.com', ...LISTED.slice(1, 3)]);
  });

  it('names the hosts whose addresses must be known: learned by their names or with their domain', () => {
    const names = ['mx.box.net', '*.many.net', 'mx1.many.net', 'mx.few.net', '5.61.1.1', 'own@5.61.1.1'];
    const records = names.map(name => record({ name, ...(/few|mx1/.test(name) ? FEW : {}) }));
    const infra = allAtOnce(foldingInfra(records, catalog, TODAY, () => undefined));
    expect(infra.learnedHosts).toEqual(['mx.box.net', 'mx1.many.net']);
  });

  it('is told by the number of hosts and addresses', () => {
    const infra = (...records: HostRecord[]) =>
      allAtOnce(foldingInfra(records, catalog, TODAY, () => undefined));
    expect(infra().size).toBe(0);
    expect(infra(record(), record({ name: '5.61.1.1' }), record({ name: 'mx.few.net', ...FEW })).size).toBe(
      2,
    );
  });

  it('has no say for a domain that belongs to nobody, nor where nothing was learned', () => {
    const fold = (records: HostRecord[]) => allAtOnce(foldingInfra(records, catalog, TODAY, () => NOWHERE));
    const exchanges = [{ host: 'mx.box.net', preference: 0 }];
    expect(fold([record()]).find('fresh.com', undefined, exchanges, catalog)).toMatchObject({ by: 'name' });
    expect(fold([]).find('fresh.com', 'fresh.com', exchanges, catalog)).toBeUndefined();
  });

  it('is folded in steps of four hosts, or of twenty guests of one, so that others are answered in between', () => {
    const steps = (count: number) => {
      const folding = foldingInfra(
        Array.from({ length: count }, () => record()),
        catalog,
        TODAY,
        () => undefined,
      );
      let yields = 0;
      while (!folding.next().done) yields++;
      return yields;
    };
    expect([0, 3, 4, 7, 8].map(steps)).toEqual([0, 3, 5, 8, 10]);
  });

  it('costs ten looks into the lists for a host, however many labels it has', () => {
    const infra = allAtOnce(foldingInfra([], catalog, TODAY, () => undefined));
    let looked = 0;
    const counting = {
      listed(names: readonly string[]) {
        looked += names.length;
        return catalog.listed(names);
      },
    } as Catalog;
    const hostsBelow = (name: string) =>
      Array.from({ length: 50 }, (_, at) => ({ host: `m${at}.${'a.'.repeat(100)}${name}`, preference: 0 }));
    expect(infra.hangsOnAddresses(hostsBelow('firm.com'), counting)).toBe(false);
    expect(looked).toBeLessThanOrEqual(500);
    const asked: string[] = [];
    const asking = {
      providers: catalog.providers,
      isProtected: name => asked.push(name) === 0,
      isSurelyFree: () => false,
      isPanel: () => false,
    } as Partial<Catalog> as Catalog;
    for (const { host } of hostsBelow('firm.com')) isLearnable(host, asking);
    expect(asked.length).toBeLessThanOrEqual(500);
    // By two families of lists.
    expect(infra.hangsOnAddresses(hostsBelow('burner.com'), counting)).toBe(true);
  });

  it('can be learned only of hosts that nobody knows, or knows as disposable', () => {
    expect(isLearnable('mx.box.net', catalog)).toBe(true);
    expect(isLearnable('mx.yopmail.com', catalog)).toBe(true);
    expect(isLearnable('mx1.riseup.net', catalog)).toBe(false);
    expect(isLearnable('route1.mx.cloudflare.net', catalog)).toBe(false);
  });

  it('below a domain that one family of lists calls webmail, and no table, can be learned', async () => {
    const isOpen = async (...families: Family[]) => {
      const free = families.map(family => [family, ['webmail.net']] as const);
      return isLearnable('mx.webmail.net', await catalogOf([], { free }));
    };
    expect(await isOpen('broad')).toBe(true);
    expect(await isOpen('broad', 'broad')).toBe(true);
    expect(await isOpen('broad', 'verified')).toBe(false);
  });

  it.each<[string, string, boolean]>([
    ['of a protected domain', 'mx.kept.com', false],
    ['that is a protected domain', 'kept.com', false],
    ['of consumer webmail', 'mx.webmail.com', false],
    ['below a protected registry', 'mx.club.eu.org', true],
    ['that is a protected registry', 'eu.org', false],
  ])('a host %s', (_, host, learnable) => {
    const tables = {
      ...NO_TABLES,
      protected: new Set(['kept.com', 'eu.org']),
      suffixes: new Set(['eu.org']),
      free: { ...NO_TABLES.free, add: new Set(['webmail.com']) },
    };
    expect(isLearnable(host, allAtOnce(makingCatalog([], tables, 'g')))).toBe(learnable);
  });
});
