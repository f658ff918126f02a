import { describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/core/catalog.ts';
import type { Family, SnapshotHead } from '../../src/core/feed.ts';
import { makingCatalog } from '../../src/core/folding.ts';
import type { HostRecord } from '../../src/core/guest.ts';
import type { KeyRecord } from '../../src/core/key.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import {
  showingHosts,
  shownAct,
  shownDate,
  shownFeeds,
  shownKey,
  shownOverride,
} from '../../src/http/shown.ts';
import { NO_TABLES } from '../support/catalog.ts';
import { groupOfGuests } from '../support/guests.ts';

const AT = Date.UTC(2026, 10, 15, 12, 0, 0, 999);
const DATE = '2026-11-15T12:00:00Z';

test('a moment is shown to the second in UTC, and none as none', () => {
  expect([shownDate(AT), shownDate(0), shownDate(null)]).toEqual([DATE, '1970-01-01T00:00:00Z', null]);
});

describe('a key', () => {
  const key: KeyRecord = {
    id: 'k1',
    name: 'Shop',
    note: 'of the shop',
    digest: 'the digest',
    prefix: 'drk_abcd',
    last4: 'wxyz',
    previousDigest: 'the digest before',
    previousUntil: null,
    former: null,
    quota: 10,
    rate: null,
    origins: ['https://a.com'],
    networks: [],
    createdAt: AT,
    expiresAt: null,
    revokedAt: null,
  };
  const shown = {
    id: 'k1',
    name: 'Shop',
    note: 'of the shop',
    shown_as: 'drk_abcd…wxyz',
    quota: 10,
    rate: null,
    origins: ['https://a.com'],
    networks: [],
    created_at: DATE,
    expires_at: null,
    revoked_at: null,
  };

  test('is shown without its digests, its secret only when it was just made', () => {
    expect(shownKey(key, undefined)).toStrictEqual(shown);
    expect(shownKey(key, 0)).toStrictEqual({ ...shown, used: 0 });
    expect(shownKey(key, undefined, 'drk_secret')).toStrictEqual({ ...shown, key: 'drk_secret' });
  });

  test('is shown with the moment until which the secret before is taken', () => {
    expect(shownKey({ ...key, previousUntil: AT, revokedAt: AT }, undefined)).toStrictEqual({
      ...shown,
      revoked_at: DATE,
      previous_until: DATE,
    });
  });
});

describe('a mail host', () => {
  const host: HostRecord = {
    name: '5.61.1.1',
    flagged: 1,
    innocent: 2,
    shared: false,
    forgotten: false,
    neighbours: [],
    lastDay: '2026-11-15',
    groups: [
      groupOfGuests(1, { entries: 'a.com' }),
      groupOfGuests(2, { listed: false, sinceDay: '2026-11-14' }),
    ],
  };
  const named = ['a.com', 'b.com', 'c.com', 'd.com'];
  const list = (family: Family) =>
    takeSnapshot(
      { id: family, kind: 'disposable', family, licence: 'MIT', origin: 'a', atLeast: 0 },
      { version: '1', names: named },
    );
  const catalog = allAtOnce(makingCatalog([list('broad'), list('telemetry')], NO_TABLES, 'g'));
  const shown = (one: HostRecord) => allAtOnce(showingHosts([one], catalog, '2026-11-15'))[0];
  test.each<[Partial<HostRecord>, string]>([
    [{}, 'undecided'],
    [{ shared: true }, 'shared'],
    [{ forgotten: true }, 'forgotten'],
    [{ forgotten: true, shared: true }, 'forgotten'],
  ])('%j is shown as %s', (facts, state) => {
    expect(shown({ ...host, ...facts })).toEqual({
      host: '5.61.1.1',
      state,
      flagged: 1,
      innocent: 2,
      sum: 0.88,
      last_seen: '2026-11-15',
      neighbours: ['a.com'],
    });
  });

  test('that was learned is shown as a disposable one, with three of its listed guests', () => {
    const learned = { ...host, groups: [groupOfGuests(4, { entries: named.join(' ') })] };
    expect(shown(learned)).toMatchObject({
      state: 'disposable',
      neighbours: ['a.com', 'b.com', 'c.com'],
    });
    expect(allAtOnce(showingHosts([learned], catalog, '2026-11-15', 50))[0]?.neighbours).toEqual(named);
  });

  test('are shown in steps, however many guests they have', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => `a${at}.com`).join(' ');
    const large = { ...host, groups: [groupOfGuests(1_000, { entries: many })] };
    let steps = 0;
    for (const _ of showingHosts([large, large], catalog, '2026-11-15')) steps++;
    expect(steps).toBeGreaterThan(20);
  });
});

test('an override and an act are shown with their moments', () => {
  const override = { domain: 'a.com', action: 'deny', below: true, note: 'n', author: 'me' } as const;
  expect(shownOverride({ ...override, createdAt: AT, expiresAt: null })).toEqual({
    ...override,
    created_at: DATE,
    expires_at: null,
  });
  const act = { who: 'me', via: 'command line', action: 'key.create', subject: 'k1', detail: null } as const;
  expect(shownAct({ ...act, at: AT })).toEqual({ ...act, at: DATE });
});

test('feeds are shown with what was left out of them', () => {
  const feed = {
    id: 'a',
    kind: 'disposable',
    family: 'verified',
    licence: 'MIT',
    origin: 'a list',
    atLeast: 5,
  };
  const dropped = { malformed: 1, suffix: 2, specialUse: 3, duplicate: 4, protected: 5 };
  const status = { feed, version: '1', names: 9, dropped, updatedAt: AT };
  const shown = {
    feed: 'a',
    kind: 'disposable',
    family: 'verified',
    verified: true,
    licence: 'MIT',
    origin: 'a list',
    version: '1',
    names: 9,
    dropped: { malformed: 1, suffix: 2, special_use: 3, duplicate: 4, protected: 5 },
    updated_at: DATE,
    tried_at: DATE,
    checked_at: DATE,
    own: false,
    age_seconds: 60,
    added: 2,
    removed: 1,
    problem: null,
    fallback: null,
    waiting: [],
    rejected_in_use: [],
    can_roll_back: true,
    held: false,
    digest: 'd',
    next: null,
  };
  const never = {
    tried_at: null,
    checked_at: null,
    age_seconds: null,
    added: 0,
    removed: 0,
    can_roll_back: false,
    held: true,
    digest: null,
    next: null,
  };
  const check = {
    ...{ feed: 'a', triedAt: AT, checkedAt: AT, added: 2, removed: 1, problem: null },
    ...{ waiting: null, trouble: null, approved: null, rejected: null, tag: null, fallback: null },
  };
  const failed = { ...check, feed: 'c', checkedAt: null, problem: 'no network', waiting: ['x.com'] };
  const broad = { ...status, feed: { ...feed, id: 'b', family: 'broad' }, updatedAt: null };
  const head = (feed: string, acceptedAt: number): SnapshotHead => ({
    ...{ feed, version: '1', digest: 'd', names: 9, acceptedAt },
  });
  const stored = {
    checks: [check, failed],
    inUse: [head('a', AT), head('new', AT)],
    past: [head('a', AT - 1), head('d', AT), head('b', AT)],
    added: ['a', 'mine', 'new'].map(name => ({ name, kind: 'disposable' as const })),
  };
  const none = { digest: null, next: null };
  const inStore = { version: '1', names: 9, updated_at: DATE };
  const catalog = { generation: 'g', size: 9, panelSize: 3, status: [status, broad] };
  expect(shownFeeds(catalog as unknown as Catalog, stored, AT + 60_000)).toEqual({
    snapshot: 'g',
    domains: 9,
    panel: 3,
    freshness: { status: 'fresh', checked_at: DATE, failing: ['c'] },
    feeds: [shown, { ...shown, feed: 'b', family: 'broad', verified: false, updated_at: null, ...never }],
    missing: [
      {
        feed: 'c',
        tried_at: DATE,
        problem: 'no network',
        waiting: ['x.com'],
        rejected_in_use: [],
        can_roll_back: false,
        held: false,
        ...none,
      },
      {
        feed: 'd',
        tried_at: null,
        problem: null,
        waiting: [],
        rejected_in_use: [],
        can_roll_back: false,
        held: true,
        ...none,
      },
      {
        ...{
          feed: 'mine',
          tried_at: null,
          problem: null,
          waiting: [],
          rejected_in_use: [],
          can_roll_back: false,
          held: false,
        },
        ...none,
      },
      {
        ...{
          feed: 'new',
          tried_at: null,
          problem: null,
          waiting: [],
          rejected_in_use: [],
          can_roll_back: true,
          held: false,
        },
        ...{ digest: 'd', next: inStore },
      },
    ],
  });
  // Rolled back, or updated, a moment ago: the server still has the version before.
  const nextOf = (inUse: readonly SnapshotHead[]) =>
    shownFeeds(catalog as unknown as Catalog, { ...stored, inUse }, AT).feeds[0]!.next;
  expect(nextOf([head('a', AT - 1)])).toEqual(inStore);
  expect(nextOf([])).toEqual({ version: null, names: null, updated_at: null });
});
