import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/catalog.ts';
import { lineage } from '../../src/core/domain.ts';
import type { FeedKind, Snapshot } from '../../src/core/feed.ts';
import { makingCatalog } from '../../src/core/folding.ts';
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
  relays: new Map([['relay.net', 'The Relay']]),
  free: { add: new Set(['added.com']), remove: new Set(['company.com']) },
  roles: new Set(['noreply']),
};

function list(
  id: string,
  names: string[],
  facts: { kind?: FeedKind; verified?: boolean; since?: Map<string, string> } = {},
) {
  const { kind = 'disposable', verified = false, since } = facts;
  const feed = { id, kind, verified, licence: 'MIT', origin: id, atLeast: 0 };
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
      list('seen', ['spam.com'], { verified: true, since: new Map([['spam.com', '2025-11-03']]) }),
      list('broad', ['spam.com', 'other.com']),
    ]);
    expect(listed(catalog, 'spam.com')).toEqual({
      hits: [
        { feed: 'seen', entry: 'spam.com', since: '2025-11-03' },
        { feed: 'broad', entry: 'spam.com', since: null },
      ],
      verified: true,
    });
    expect(listed(catalog, 'other.com').verified).toBe(false);
    expect(listed(catalog, 'clean.com')).toEqual({ hits: [], verified: false });
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
    expect(catalog.status[0]).toMatchObject({ names: 1, dropped: { protected: 4 } });
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

  it('ranks names by how many feeds agree, ties by name', () => {
    const catalog = catalogOf([
      list('a', ['b.com', 'a.com', 'z.com', 'innocent.org']),
      list('b', ['z.com', 'a.com', 'innocent.org']),
      list('c', ['z.com', 'innocent.org']),
    ]);
    expect(catalog.mostAgreed(10)).toEqual(['z.com', 'a.com', 'b.com']);
    expect(catalog.mostAgreed(2)).toEqual(['z.com', 'a.com']);
  });
});

it('a university in a register is flagged by a verified feed only', () => {
  const catalog = catalogOf([
    list('register', ['uni-of-x.com', 'sold-uni.com'], { kind: 'academic' }),
    list('broad', ['uni-of-x.com', 'sold-uni.com']),
    list('looked-at', ['sold-uni.com'], { verified: true }),
  ]);
  expect(entries(catalog, 'mail.uni-of-x.com')).toEqual([]);
  expect(entries(catalog, 'sold-uni.com')).toEqual(['broad sold-uni.com', 'looked-at sold-uni.com']);
  expect(catalog.isProtected('uni-of-x.com')).toBe(false);
});

describe('free providers', () => {
  const catalog = catalogOf([
    list('bad', ['spammy.com']),
    list('free', ['webmail.com', 'spammy.com', 'company.com', 'relay.net', 'below.webhost.com'], {
      kind: 'free',
    }),
  ]);

  it.each(['webmail.com', 'big-mail.com', 'added.com'])('%s is one', name => {
    expect(catalog.isFree(name)).toBe(true);
  });
  it.each(['spammy.com', 'company.com', 'relay.net', 'below.webhost.com', 'throwaway.com', 'webmai1.com'])(
    '%s is not',
    name => {
      expect(catalog.isFree(name)).toBe(false);
    },
  );
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
      verified: false,
      licence: 'MIT',
      origin: 'r',
      atLeast: 0,
    };
    const catalog = catalogOf([takeSnapshot(feed, raw)]);
    expect(catalog.relay(['relay.net'])).toEqual({ label: 'The Relay', exact: true });
    expect(catalog.relay(lineage('user.alias.org'))).toEqual({ label: 'Alias', exact: false });
    expect(catalog.relay(['big-mail.com'])).toBeUndefined();
    expect(catalog.isProtected('alias.org')).toBe(true);
  });

  it('of a feed clear nothing that a verified feed names; those of the table do', () => {
    const catalog = catalogOf([
      list('relays', ['spam.com', 'broad.com'], { kind: 'relay' }),
      list('seen', ['spam.com', 'relay.net'], { verified: true }),
      list('broad', ['broad.com']),
    ]);
    expect(entries(catalog, 'spam.com')).toEqual(['seen spam.com']);
    expect(catalog.relay(['spam.com'])).toBeUndefined();
    expect(catalog.relay(['broad.com'])).toBeDefined();
    expect(entries(catalog, 'broad.com')).toEqual([]);
    expect(entries(catalog, 'relay.net')).toEqual([]);
  });
});
