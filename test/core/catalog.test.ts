import { describe, expect, it } from 'vitest';
import { type Catalog, daysNamed, firstNamed, hasLeft } from '../../src/core/catalog.ts';
import { dayFrom } from '../../src/core/days.ts';
import { lineage } from '../../src/core/domain.ts';
import type { Family, FeedKind, Snapshot } from '../../src/core/feed.ts';
import { canariesOf, makingCatalog } from '../../src/core/folding.ts';
import { keepingNames } from '../../src/core/gate.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import type { Tables } from '../../src/core/tables.ts';

const TABLES: Tables = {
  providers: [],
  mailboxes: new Map([
    ['big-mail.com', { label: 'Big Mail', class: 'consumer_webmail', canary: true }],
    ['throwaway.com', { label: 'Throwaway', class: 'disposable', canary: false }],
  ]),
  protected: new Set(['it.com', 'innocent.org']),
  suffixes: new Set(['it.com']),
  relays: new Map([['relay.net', 'The Relay']]),
  free: { add: new Set(['added.com']), remove: new Set(['company.com']) },
  roles: new Set(['noreply']),
};

function list(
  id: string,
  names: string[],
  facts: { kind?: FeedKind; family?: Family; since?: Map<string, string>; isOwn?: true } = {},
) {
  const { kind = 'disposable', family = 'broad', since, isOwn } = facts;
  const feed = { id, kind, family, licence: 'MIT', origin: id, atLeast: 0, ...(isOwn ? { isOwn } : {}) };
  return takeSnapshot(feed, { version: '1', names, ...(since ? { since } : {}) });
}

const catalogOf = (snapshots: readonly Snapshot[], tables = TABLES) =>
  allAtOnce(makingCatalog(snapshots, tables, 'g'));
const listed = (catalog: Catalog, name: string) => catalog.listed(lineage(name));
const entries = (catalog: Catalog, name: string) =>
  listed(catalog, name).hits.map(({ feed, entry }) => `${feed} ${entry}`);

describe('what the lists say', () => {
  it('names every feed and since when, where the feed knows', () => {
    const catalog = catalogOf([
      list('seen', ['spam.com'], { family: 'verified', since: new Map([['spam.com', '2025-11-03']]) }),
      list('broad', ['spam.com', 'other.com']),
    ]);
    expect(listed(catalog, 'spam.com')).toMatchObject({
      hits: [
        { feed: 'seen', entry: 'spam.com', since: '2025-11-03' },
        { feed: 'broad', entry: 'spam.com', since: null },
      ],
      families: new Set(['verified', 'broad']),
    });
    expect(listed(catalog, 'other.com').families).toEqual(new Set(['broad']));
    expect(listed(catalog, 'clean.com')).toEqual({ hits: [], families: new Set(), namings: [] });
  });

  it('reaches below a listed name, private suffixes included, never above it or sideways', () => {
    const catalog = catalogOf([list('a', ['spam.com', 'cc.cd', 'deep.host.net'])]);
    expect(entries(catalog, 'a.b.spam.com')).toEqual(['a spam.com']);
    expect(entries(catalog, 'x.cc.cd')).toEqual(['a cc.cd']);
    expect(entries(catalog, 'cc.cd')).toEqual(['a cc.cd']);
    expect(entries(catalog, 'notspam.com')).toEqual([]);
    expect(entries(catalog, 'host.net')).toEqual([]);
  });

  it('puts the nearest entry first', () => {
    const catalog = catalogOf([list('a', ['spam.com', 'x.spam.com'])]);
    expect(entries(catalog, 'y.x.spam.com')).toEqual(['a x.spam.com', 'a spam.com']);
  });

  it('stops at protected names, and flags what is named below them', () => {
    const catalog = catalogOf([
      list('a', ['it.com', 'bad.it.com', 'innocent.org', 'relay.net', 'big-mail.com']),
    ]);
    for (const name of [
      'it.com',
      'real.it.com',
      'innocent.org',
      'x.innocent.org',
      'relay.net',
      'user.relay.net',
      'big-mail.com',
    ])
      expect(entries(catalog, name), name).toEqual([]);
    expect(entries(catalog, 'x.bad.it.com')).toEqual(['a bad.it.com']);
    expect(catalog.status[0]).toMatchObject({ names: 1, dropped: { suffix: 1, protected: 3 } });
    expect(catalog.size).toBe(1);
  });

  it('does not reach over a protected name to a listed parent', () => {
    const tables = { ...TABLES, protected: new Set(['good.host.com']) };
    const catalog = catalogOf([list('a', ['host.com'])], tables);
    expect(entries(catalog, 'good.host.com')).toEqual([]);
    expect(entries(catalog, 'x.good.host.com')).toEqual([]);
    expect(entries(catalog, 'other.host.com')).toEqual(['a host.com']);
  });

  it('lets a disposable service of the mailbox table be listed', () => {
    expect(entries(catalogOf([list('a', ['throwaway.com'])]), 'throwaway.com')).toEqual(['a throwaway.com']);
  });

  it('ranks names by how many feeds agree', () => {
    const catalog = catalogOf([
      list('a', ['b.com', 'a.com', 'z.com', 'innocent.org']),
      list('b', ['z.com', 'a.com', 'innocent.org']),
      list('c', ['z.com', 'innocent.org']),
    ]);
    expect(catalog.mostAgreed(10)).toEqual(['z.com', 'a.com', 'b.com']);
    expect(catalog.mostAgreed(2)).toEqual(['z.com', 'a.com']);
    // A service that people know comes first where a list names it, and once.
    const known = catalogOf([list('a', ['b.com', 'throwaway.com']), list('b', ['b.com'])]);
    expect(known.mostAgreed(10)).toEqual(['throwaway.com', 'b.com']);
  });
});

describe('for how long the lists name something', () => {
  const since = (name: string, day: string) => new Map([[name, day]]);
  const today = dayFrom('2026-11-15');
  const days = (catalog: Catalog, name: string) => daysNamed(listed(catalog, name), today);

  it('is counted from the first feed that names it or a parent; a day that nobody knows is long ago', () => {
    const catalog = catalogOf([
      list('a', ['spam.com', 'other.com'], { since: since('spam.com', '2026-11-01') }),
      list('b', ['spam.com', 'x.new.com'], { since: since('spam.com', '2026-11-05') }),
      list('c', ['new.com'], { since: since('new.com', '2026-11-15') }),
    ]);
    expect(days(catalog, 'spam.com')).toBe(14);
    expect(days(catalog, 'y.new.com')).toBe(0);
    expect(days(catalog, 'x.new.com')).toBe(Number.POSITIVE_INFINITY);
    expect(days(catalog, 'other.com')).toBe(Number.POSITIVE_INFINITY);
  });

  it('ends on the day on which a rotating list showed it last: being kept is not being named', () => {
    const feed = { ...list('r', []).feed, rotates: 2 };
    const show = (names: string[], before: Snapshot | undefined, day: number) =>
      keepingNames(takeSnapshot(feed, { version: '1', names }), before, day);
    let kept: Snapshot | undefined;
    for (const day of [60, 59, 58]) kept = show(['gone.com', 'still.com'], kept, today - day);
    const catalog = catalogOf([show(['still.com'], kept, today)]);
    expect(days(catalog, 'gone.com')).toBe(2);
    expect(days(catalog, 'still.com')).toBe(60);
  });

  it('begins with the first list that tells; nobody knows where one does not, or none names it', () => {
    const catalog = catalogOf([
      list('a', ['spam.com', 'other.com'], { since: since('spam.com', '2026-11-05') }),
      list('b', ['spam.com'], { since: since('spam.com', '2026-11-01') }),
      list('c', ['spam.com', 'new.com'], {
        since: new Map([
          ['spam.com', '2026-11-09'],
          ['new.com', '2026-11-09'],
        ]),
      }),
    ]);
    const first = (name: string) => firstNamed(listed(catalog, name));
    expect(first('spam.com')).toBe(dayFrom('2026-11-01'));
    expect(first('new.com')).toBe(dayFrom('2026-11-09'));
    expect([first('other.com'), first('clean.com')]).toEqual([0, 0]);
  });

  it('is over only where every list that named it rotates and shows it no longer', () => {
    const feed = { ...list('r', []).feed, rotates: 2 };
    const show = (names: string[], before: Snapshot | undefined, day: number) =>
      keepingNames(takeSnapshot(feed, { version: '1', names }), before, day);
    let kept: Snapshot | undefined;
    for (const day of [4, 3, 2]) kept = show(['gone.com', 'elsewhere.com'], kept, today - day);
    const catalog = catalogOf([show(['still.com'], kept, today), list('a', ['elsewhere.com'])]);
    const names = ['gone.com', 'elsewhere.com', 'still.com', 'clean.com'];
    expect(names.filter(name => hasLeft(listed(catalog, name)))).toEqual(['gone.com']);
  });

  it('is kept once for all names that came together, whatever stands between them', () => {
    const days = new Map([
      ['b.com', '2026-11-01'],
      ['e.com', '2026-11-01'],
    ]);
    const catalog = catalogOf([list('a', ['a.com', 'b.com', 'c.com', 'd.com', 'e.com'], { since: days })]);
    const naming = (name: string) => listed(catalog, name).namings[0];
    expect(naming('c.com')).toBe(naming('a.com'));
    expect(naming('e.com')).toBe(naming('b.com'));
    expect(naming('a.com')).not.toBe(naming('b.com'));
  });

  it('is kept once for all names of which the feeds say the same', () => {
    const catalog = catalogOf([
      list('a', ['a.com', 'b.com', 'c.com']),
      list('b', ['b.com', 'c.com'], { since: since('c.com', '2026-11-01') }),
    ]);
    const [a, b, c] = ['a.com', 'b.com', 'c.com'].map(name => listed(catalog, name).namings);
    expect([a, b, c].map(namings => namings?.map(({ feed, sinceText }) => [feed.id, sinceText]))).toEqual([
      [['a', null]],
      [
        ['a', null],
        ['b', null],
      ],
      [
        ['a', null],
        ['b', '2026-11-01'],
      ],
    ]);
    expect(a![0]).toBe(b![0]);
  });
});

describe('the panel', () => {
  const providers = [
    { suffix: 'mx.hosted-bin.com', label: 'Bin', class: 'disposable' as const },
    { suffix: 'mx.hoster.com', label: 'Hoster', class: 'hosting' as const },
  ];
  const POPULAR = [
    ...['shop.com', 'seen.com', 'throwaway.com', 'hosted-bin.com', 'www.shop.com'],
    ...['big-mail.com', 'hoster.com'],
  ];
  const made = () =>
    catalogOf(
      [
        list('popular', POPULAR, { kind: 'popular' }),
        list('looked-at', ['seen.com'], { family: 'verified' }),
        list('broad', ['shop.com']),
      ],
      { ...TABLES, providers },
    );

  it('is what a popularity list names, without what people looked at or the tables call disposable', () => {
    const catalog = made();
    const names = [...POPULAR, 'other.com'];
    expect(names.filter(name => catalog.isPanel(name))).toEqual(['shop.com', 'big-mail.com', 'hoster.com']);
    expect(catalog.panelSize).toBe(3);
    expect(catalog.isPanel(undefined)).toBe(false);
  });

  it('ends with the hundred thousandth name', () => {
    const names = Array.from({ length: 100_001 }, (_, at) => `n${at}.com`);
    const catalog = catalogOf([list('popular', names, { kind: 'popular' })]);
    expect([catalog.panelSize, catalog.isPanel('n99999.com'), catalog.isPanel('n100000.com')]).toEqual([
      100_000,
      true,
      false,
    ]);
  });

  it('is empty where no popularity list was brought', () => {
    expect(catalogOf([list('broad', ['shop.com'])]).panelSize).toBe(0);
  });

  it('takes nothing off a list: who names it is still shown', () => {
    expect(entries(made(), 'shop.com')).toEqual(['broad shop.com']);
  });
});

it('what is below a university in a register is flagged by a verified feed or two families only', () => {
  const catalog = catalogOf([
    list('register', ['uni-of-x.com', 'sold-uni.com', 'duckdns.org'], { kind: 'academic' }),
    list('broad', ['student.uni-of-x.com', 'a.b.uni-of-x.com', 'x.sold-uni.com', 'x.duckdns.org']),
    list('telemetry', ['abused.uni-of-x.com', 'both.uni-of-x.com'], { family: 'telemetry' }),
    list('second', ['both.uni-of-x.com']),
    list('verified', ['sold-uni.com', 'taken.uni-of-x.com'], { family: 'verified' }),
    list('other', ['taken.uni-of-x.com', 'my-uni-of-x.com']),
  ]);
  const spared = ['', 'student.', 'a.b.', 'x.a.b.', 'abused.'].map(below => `${below}uni-of-x.com`);
  for (const name of spared) expect(entries(catalog, name), name).toEqual([]);
  expect(entries(catalog, 'both.uni-of-x.com')).toHaveLength(2);
  expect(entries(catalog, 'x.taken.uni-of-x.com')).toEqual([
    'verified taken.uni-of-x.com',
    'other taken.uni-of-x.com',
  ]);
  expect(entries(catalog, 'x.sold-uni.com')).toEqual(['broad x.sold-uni.com', 'verified sold-uni.com']);
  expect(entries(catalog, 'my-uni-of-x.com')).toEqual(['other my-uni-of-x.com']);
  // Below a public suffix are strangers, whoever calls it a university.
  expect(entries(catalog, 'x.duckdns.org')).toEqual(['broad x.duckdns.org']);
  const vetoed = catalog.status.map(({ dropped }) => dropped.protected);
  expect(vetoed).toEqual([0, 2, 1, 0, 0, 0]);
});

it('what is below a protected name is flagged by a verified feed only', () => {
  const catalog = catalogOf([
    list('broad', ['mail.innocent.org', 'a.b.innocent.org', 'x.relay.net', 'vip.big-mail.com', 'bad.it.com']),
    list('telemetry', ['mail.innocent.org', 'x.throwaway.com'], { family: 'telemetry' }),
    list('verified', ['taken.innocent.org', 'mail.own.com'], { family: 'verified' }),
    list('other', ['taken.innocent.org', 'notify.own.com']),
    list('ours', ['own.com'], { kind: 'protected' }),
  ]);
  for (const name of ['mail.innocent.org', 'x.a.b.innocent.org', 'x.relay.net', 'vip.big-mail.com'])
    expect(entries(catalog, name), name).toEqual([]);
  expect(entries(catalog, 'x.taken.innocent.org')).toEqual(['verified taken.innocent.org']);
  expect(entries(catalog, 'mail.own.com')).toEqual(['verified mail.own.com']);
  expect(entries(catalog, 'notify.own.com')).toEqual([]);
  // Whom the table calls disposable, and whoever registers below a protected registry, is none of these.
  expect(entries(catalog, 'x.throwaway.com')).toEqual(['telemetry x.throwaway.com']);
  expect(entries(catalog, 'bad.it.com')).toEqual(['broad bad.it.com']);
  expect(catalog.status.map(({ dropped }) => dropped.protected)).toEqual([4, 1, 0, 2, 0]);
});

describe('what only broad or telemetry feeds say of a public body', () => {
  const flagged = (name: string, verified: string[] = []) =>
    entries(
      catalogOf([
        list('broad', [name]),
        list('telemetry', [name], { family: 'telemetry' }),
        list('verified', verified, { family: 'verified' }),
      ]),
      name,
    );

  it.each([
    ...['tulsa.gov', 'scj.edu', 'perl.mil', 'who.int', 'x.min.edu.gov', 'news.hackney.gov.uk'],
    ...[
      'mairie.gouv.fr',
      'stadt.gob.mx',
      'council.govt.nz',
      'forces.mil.br',
      'trust.nhs.uk',
      'x.service.gov.uk',
    ],
    ...['college.ac.uk', 'daigaku.ac.jp', 'uni.edu.au'],
  ])('is not believed: %s', name => {
    expect(flagged(name)).toEqual([]);
    expect(flagged(name, [name])).toEqual([`verified ${name}`]);
  });

  // Registries that sell to anybody, and names that only look like such a suffix.
  it.each([
    ...['tokyo.edu.pl', 't77eim.mil.pl', 'https.edu.kg', 'cad.edu.gr', 'goai.edu.vn', 'fajar.ac.id'],
    ...['gmail.gob.re', 'x.ac.uk.com', 'mygov.com', 'edu.com', 'xedu.net'],
  ])('is believed where anybody can have the name: %s', name => {
    expect(flagged(name)).toEqual([`broad ${name}`, `telemetry ${name}`]);
  });
});

it('a university in a register is flagged by a verified feed or two families only', () => {
  const catalog = catalogOf([
    list('register', ['uni-of-x.com', 'sold-uni.com', 'no-uni.com'], { kind: 'academic' }),
    list('broad', ['uni-of-x.com', 'sold-uni.com', 'no-uni.com']),
    list('telemetry', ['no-uni.com'], { family: 'telemetry' }),
    list('looked-at', ['sold-uni.com'], { family: 'verified' }),
  ]);
  expect(entries(catalog, 'mail.uni-of-x.com')).toEqual([]);
  expect(entries(catalog, 'no-uni.com')).toEqual(['broad no-uni.com', 'telemetry no-uni.com']);
  expect(entries(catalog, 'sold-uni.com')).toEqual(['broad sold-uni.com', 'looked-at sold-uni.com']);
  expect(catalog.isProtected('uni-of-x.com')).toBe(false);
});

describe('free providers', () => {
  const MISTAKEN = ['innocent.org', 'uni-of-x.com', 'school.edu', 'court.gov.za', 'law.ac.in'];

  // Made in each test, so that the mutation tester knows who made it.
  const made = () =>
    catalogOf(
      [
        list('bad', ['spammy.com']),
        list('register', ['uni-of-x.com'], { kind: 'academic' }),
        list(
          'free',
          [
            'webmail.com',
            'spammy.com',
            'company.com',
            'relay.net',
            'below.webhost.com',
            'my-edu.com',
            ...MISTAKEN,
          ],
          { kind: 'free' },
        ),
      ],
      {
        ...TABLES,
        providers: [
          { suffix: 'post.net', label: 'Post', class: 'consumer_webmail' },
          { suffix: 'access.net', label: 'Access', class: 'mailbox_provider' },
          { suffix: 'mx.carrier.com', label: 'Carrier', class: 'mailbox_provider' },
          { suffix: 'platform.com', label: 'Platform', class: 'business_platform' },
        ],
      },
    );

  it.each(['webmail.com', 'big-mail.com', 'added.com', 'my-edu.com'])('%s is one', name => {
    expect(made().isFree(name)).toBe(true);
  });
  it.each(['spammy.com', 'company.com', 'relay.net', 'below.webhost.com', 'throwaway.com', 'webmai1.com'])(
    '%s is not',
    name => {
      expect(made().isFree(name)).toBe(false);
    },
  );
  it('are sure where a table or feeds of two families say so, and not by copies of one', () => {
    const feed = (id: string, names: string[], family: Family = 'broad') =>
      list(id, names, { kind: 'free', family });
    const catalog = catalogOf(
      [
        feed('free', ['both.com', 'one.com', 'copied.com', 'company.com']),
        feed('copy', ['both.com', 'copied.com', 'company.com']),
        feed('looked-at', ['both.com', 'two.com', 'company.com'], 'verified'),
      ],
      TABLES,
    );
    const names = [
      'both.com',
      'copied.com',
      'one.com',
      'two.com',
      'company.com',
      'big-mail.com',
      'added.com',
    ];
    expect(names.filter(name => catalog.isFree(name))).toEqual(names.filter(name => name !== 'company.com'));
    expect(names.filter(name => catalog.isSurelyFree(name))).toEqual([
      'both.com',
      'big-mail.com',
      'added.com',
    ]);
    expect(catalog.isSurelyFree(undefined)).toBe(false);
  });
  it.each(MISTAKEN)('%s is none, whatever a feed says', name => {
    expect(made().isFree(name)).toBe(false);
  });
  it('are those whose hosts stand in the provider table, by the registered name of the hosts', () => {
    const names = ['post.net', 'access.net', 'carrier.com', 'mx.carrier.com', 'platform.com'];
    expect(names.filter(name => made().isFree(name))).toEqual(['post.net', 'access.net']);
  });
});

describe('relays', () => {
  it('cover their subdomains; the table names them before a feed does', () => {
    const raw = {
      version: '1',
      names: ['relay.net', 'alias.org', 'big-mail.com'],
      labels: new Map([
        ['relay.net', 'Feed Name'],
        ['alias.org', 'Alias'],
      ]),
    };
    const feed = {
      id: 'r',
      kind: 'relay' as const,
      family: 'broad' as const,
      licence: 'MIT',
      origin: 'r',
      atLeast: 0,
    };
    const catalog = catalogOf([takeSnapshot(feed, raw)]);
    expect(catalog.relay(['relay.net'])).toEqual({ label: 'The Relay', exact: true });
    expect(catalog.relay(lineage('user.alias.org'))).toEqual({ label: 'Alias', exact: false });
    expect(catalog.relay(['big-mail.com'])).toBeUndefined();
    expect([catalog.isGuarded('alias.org'), catalog.isProtected('alias.org')]).toEqual([true, false]);
    expect([catalog.isGuarded('relay.net'), catalog.isProtected('relay.net')]).toEqual([true, true]);
  });

  it('of a verified feed of relays are relays all the same', () => {
    const catalog = catalogOf([list('relays', ['alias.org'], { kind: 'relay', family: 'verified' })]);
    expect(catalog.relay(['alias.org'])).toEqual({ label: 'alias.org', exact: false });
  });

  it.each(['relay', 'academic'] as const)(
    'of a feed of kind %s clear nothing below a name that a verified feed or two families name',
    kind => {
      const catalog = catalogOf([
        list('a-line', ['x.spam.com', 'x.broad.com', 'x.y.both.com', 'x.innocent.org'], { kind }),
        list('seen', ['spam.com', 'innocent.org'], { family: 'verified' }),
        list('broad', ['broad.com', 'y.both.com']),
        list('abused', ['both.com'], { family: 'telemetry' }),
      ]);
      expect(entries(catalog, 'a.x.spam.com')).toEqual(['seen spam.com']);
      expect(entries(catalog, 'x.y.both.com')).toEqual(['broad y.both.com', 'abused both.com']);
      expect(entries(catalog, 'x.broad.com')).toEqual([]);
      // Nobody can name what it is below.
      expect(catalog.isGuarded('x.innocent.org')).toBe(kind === 'academic');
    },
  );

  it('of a feed clear nothing that a verified feed or two families name; those of the table do', () => {
    const catalog = catalogOf([
      list('relays', ['spam.com', 'broad.com', 'both.com'], { kind: 'relay' }),
      list('seen', ['spam.com', 'relay.net'], { family: 'verified' }),
      list('broad', ['broad.com', 'both.com', 'x.broad.com', 'y.broad.com']),
      list('abused', ['both.com', 'y.broad.com'], { family: 'telemetry' }),
    ]);
    expect(entries(catalog, 'spam.com')).toEqual(['seen spam.com']);
    expect(entries(catalog, 'both.com')).toEqual(['broad both.com', 'abused both.com']);
    expect(entries(catalog, 'x.broad.com')).toEqual([]);
    expect(entries(catalog, 'y.broad.com')).toEqual(['broad y.broad.com', 'abused y.broad.com']);
    expect(catalog.relay(['spam.com'])).toBeUndefined();
    expect(catalog.relay(['both.com'])).toBeUndefined();
    expect(catalog.relay(['broad.com'])).toBeDefined();
    expect(entries(catalog, 'broad.com')).toEqual([]);
    expect(entries(catalog, 'relay.net')).toEqual([]);
  });
});

describe('relays of a list that one stranger writes', () => {
  const STOLEN = ['company.com', 'mail.company.com', 'popular.com', 'uni.edu', 'alias.org'];
  const others = [
    list('protected', ['company.com'], { kind: 'protected', isOwn: true }),
    list('popular', ['popular.com'], { kind: 'popular' }),
    list('universities', ['uni.edu'], { kind: 'academic' }),
  ];
  const relaysIn = (catalog: Catalog) => STOLEN.filter(name => catalog.relay([name]) !== undefined);

  it('are neither protected companies, nor what is theirs, nor names that many use', () => {
    const catalog = catalogOf([...others, list('relays', STOLEN, { kind: 'relay' })]);
    expect(relaysIn(catalog)).toEqual(['alias.org']);
  });

  it('of an operator may be names that many use, but protected ones', () => {
    const catalog = catalogOf([...others, list('relays', STOLEN, { kind: 'relay', isOwn: true })]);
    expect(relaysIn(catalog)).toEqual(['popular.com', 'uni.edu', 'alias.org']);
  });
});

describe('what else a catalog knows', () => {
  const made = () =>
    catalogOf([
      list('bad', ['spammy.com', 'innocent.org', 'uni.org', 'throwaway.com']),
      list('free', ['webmail.com'], { kind: 'free' }),
      list('register', ['uni.org'], { kind: 'academic' }),
    ]);

  it('who is no guest of a disposable host: protected by hand or register, relays, and consumer webmail', () => {
    const catalog = made();
    expect([...catalog.innocentNames()].sort()).toEqual(
      ['added.com', 'big-mail.com', 'innocent.org', 'it.com', 'relay.net', 'uni.org', 'webmail.com'].sort(),
    );
    expect(['uni.org', 'innocent.org', 'spammy.com'].map(name => catalog.isGuarded(name))).toEqual([
      true,
      true,
      false,
    ]);
    expect(['uni.org', 'innocent.org', 'spammy.com'].map(name => catalog.isProtected(name))).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('every listed name that counts', () => {
    const catalog = made();
    expect([...catalog.disposableNames()]).toEqual(['spammy.com', 'throwaway.com']);
    expect(catalog.size).toBe(2);
  });

  it('well-known mailbox domains, by their exact name', () => {
    const catalog = made();
    expect(catalog.mailbox('big-mail.com')).toEqual({
      label: 'Big Mail',
      class: 'consumer_webmail',
      canary: true,
    });
    expect(catalog.mailbox('x.big-mail.com')).toBeUndefined();
    expect(canariesOf(TABLES)).toEqual(new Set(['big-mail.com']));
  });

  it('which protected names are registries', () => {
    const catalog = made();
    expect(['it.com', 'innocent.org', 'spammy.com'].map(name => catalog.isSuffix(name))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('that a name which belongs to nobody is no free provider, no slip of the finger, nor below a relay', () => {
    const catalog = made();
    expect(catalog.isFree(undefined)).toBe(false);
    expect(catalog.typoOf('big-mial.com')).toBe('big-mail.com');
    expect(catalog.typoOf(undefined)).toBeUndefined();
    expect(catalog.relay([])).toBeUndefined();
    expect(catalog.relay(['webmail.com'])).toBeUndefined();
  });

  it('of each feed how much of it counts; the protected names of other kinds do not count as left out', () => {
    const catalog = made();
    const status = catalog.status.map(({ feed, names, dropped, updatedAt }) => [
      feed.id,
      names,
      dropped.protected,
      updatedAt,
    ]);
    expect(status).toEqual([
      ['bad', 2, 2, null],
      ['free', 1, 0, null],
      ['register', 1, 0, null],
    ]);
    const accepted = { ...list('a', ['spam.com']), acceptedAt: 7 };
    expect(catalogOf([accepted]).status[0]?.updatedAt).toBe(7);
  });
});

describe('names that most feeds agree on', () => {
  const named = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, at) => `${prefix}${String((at * 7_919) % count).padStart(6, '0')}.com`);

  it('are five thousand at most, mixed among equals, the same from lists of any order', () => {
    const all = named(6_100, 'd');
    const catalog = catalogOf([list('a', all), list('b', all.slice(0, 1_200))]);
    const both = all.slice(0, 1_200).sort();
    const rest = all.slice(1_200).sort();
    const agreed = catalog.mostAgreed(10_000);
    expect(agreed.slice(0, 1_200).toSorted()).toEqual(both);
    expect(agreed.slice(1_200).toSorted()).toEqual(rest.slice(0, 3_800));
    // By the alphabet every second of two neighbours comes later; among equals in no order about half do.
    const later = agreed.filter((name, at) => at > 0 && name > agreed[at - 1]!).length;
    expect(later / agreed.length).toBeCloseTo(0.5, 1);
    const turned = catalogOf([list('b', all.slice(0, 1_200).reverse()), list('a', all.toReversed())]);
    expect(turned.mostAgreed(10_000)).toEqual(agreed);
  });

  it('leave out what only one feed names where there are enough', () => {
    const all = named(5_500, 'd');
    const catalog = catalogOf([list('a', [...all, 'aaa.com']), list('b', all)]);
    expect(catalog.mostAgreed(10_000).toSorted()).toEqual([...all].sort().slice(0, 5_000));
  });
});

it('is folded in steps of 500 names, so that a server answers in between', () => {
  const yields = (count: number, kind: FeedKind) => {
    const names = Array.from({ length: count }, (_, at) => `d${at}.com`);
    const making = makingCatalog([list('a', names, { kind })], TABLES, 'g');
    let steps = 0;
    while (!making.next().done) steps++;
    return steps;
  };
  const more = (kind: FeedKind, one: number, other: number) => yields(other, kind) - yields(one, kind);
  // Folding, counting feeds, the first by name.
  expect([more('disposable', 1, 499), more('disposable', 1, 500), more('disposable', 1, 1_000)]).toEqual([
    0, 2, 5,
  ]);
  for (const kind of ['free', 'popular'] as const)
    expect([more(kind, 1, 499), more(kind, 1, 500), more(kind, 1, 1_000)]).toEqual([0, 1, 2]);
});
