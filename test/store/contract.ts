/** What every store must do, as a suite over "open one": each store runs it, none may weaken it. */

import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAdmit } from '../../src/admit.ts';
import type { AddedFeed } from '../../src/core/added-feed.ts';
import { MOST_READ } from '../../src/core/asked.ts';
import type { Act, Action } from '../../src/core/audit.ts';
import {
  DECISIONS_AT_ONCE,
  type Decision,
  type DecisionQuery,
  FORGOTTEN_AT_ONCE,
} from '../../src/core/decision.ts';
import { newLastSecret } from '../../src/core/door.ts';
import type { AcceptedSnapshot } from '../../src/core/feed.ts';
import type { FeedCheck } from '../../src/core/freshness.ts';
import { type Guest, LEARNING, UPDATE_LAG_DAYS } from '../../src/core/guest.ts';
import { othersIn } from '../../src/core/history.ts';
import { digestOf, type KeyRecord, secretFrom } from '../../src/core/key.ts';
import { BEFORE_ALL_KEYS, type KeysQuery, type KeyUses } from '../../src/core/key-store.ts';
import type { Lease } from '../../src/core/lease.ts';
import type { Accepting } from '../../src/core/list-store.ts';
import { CHANGES_LEASE, type NumberedChange } from '../../src/core/listing-change.ts';
import { NO_VERDICTS } from '../../src/core/mix.ts';
import type { Override } from '../../src/core/override.ts';
import { type Spent, type Store, StoreUnavailable } from '../../src/core/ports.ts';
import { MAX_QUOTA, resetAt } from '../../src/core/quota.ts';
import type { Flag } from '../../src/core/ranking.ts';
import { ALIVE_MS } from '../../src/core/server.ts';
import { NO_TRAFFIC, slotsAt } from '../../src/core/traffic.ts';
import { sumOf } from '../../src/core/weights.ts';
import { WHEREABOUTS } from '../../src/core/whereabouts.ts';
import { createOperate, newKey } from '../../src/operate.ts';
import { ACT } from '../support/act.ts';
import type { Servers } from '../support/emptied.ts';
import { guestOf } from '../support/guests.ts';
import { full as isFull } from '../support/scale.ts';
import { passOne, spendOne } from '../support/spend.ts';

/** Makes an empty place for a store; what it gives opens it, several times if wanted. All closes itself. */
export type MakePlace = () => Promise<() => Promise<Store>>;

export const MONTH = '2026-11';
export const DAY = '2026-11-15';
const NOW = Date.UTC(2026, 10, 15);

export function someKey(limits: Partial<KeyRecord> = {}): KeyRecord {
  return { ...newKey({ name: 'test' }, NOW).key, ...limits };
}

export function flagOf(flag: Partial<Flag> = {}): Flag {
  return {
    day: '2026-11-15',
    domain: 'a.example',
    keyId: 'key_1',
    listed: false,
    reason: 'undeliverable',
    score: 90,
    ...flag,
  };
}

function spendMany(store: Store, calls: number, keyId: string, quota: number | null, revision: number) {
  return Promise.all(
    Array.from({ length: calls }, () => spendOne(store, { keyId, day: DAY, quota }, revision)),
  );
}

const readAll = async (store: Store, query: Partial<KeysQuery> = {}) => [
  ...(await store.readKeys({ month: MONTH, sinceDay: DAY, after: BEFORE_ALL_KEYS, most: 9, ...query })),
];

const usedBy = (spent: readonly Spent[], outcome: 'granted' | 'exhausted') =>
  spent.flatMap(one => (one.outcome === outcome ? [one.used] : [])).sort((a, b) => a - b);

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

/** `servers` are three on one store that has nothing in it; they stay open. */
export function storeContract(makePlace: MakePlace, servers: Servers): void {
  const empty = async () => (await servers())[0];

  async function withKey(limits: Partial<KeyRecord> = {}) {
    const store = await empty();
    const key = someKey(limits);
    await store.createKey(key, ACT);
    return { store, key, revision: await store.revision() };
  }

  describe('counting', () => {
    test.each([0, 1, 7, 250])(
      'a quota of %i admits exactly that many of four times as many calls',
      async n => {
        const { store, key, revision } = await withKey({ quota: n });
        const spent = await spendMany(store, 4 * n + 4, key.id, n, revision);
        expect(usedBy(spent, 'granted')).toEqual(upTo(n));
        expect(usedBy(spent, 'exhausted')).toEqual(Array(3 * n + 4).fill(n));
        expect(await store.used(key.id, MONTH)).toBe(n);
      },
    );

    test('an unlimited key is counted all the same', async () => {
      const { store, key, revision } = await withKey();
      const spent = await spendMany(store, 300, key.id, null, revision);
      expect(usedBy(spent, 'granted')).toEqual(upTo(300));
      expect(await store.used(key.id, MONTH)).toBe(300);
    });

    test('three servers on one store share one quota exactly, from the first call of the month on', async () => {
      const stores = await servers();
      const key = someKey({ quota: 401 });
      await stores[0].createKey(key, ACT);
      const revision = await stores[1].revision();
      const spent = await Promise.all(stores.map(store => spendMany(store, 400, key.id, 401, revision)));
      expect(usedBy(spent.flat(), 'granted')).toEqual(upTo(401));
      expect(spent.flat().every(one => one.outcome !== 'changed')).toBe(true);
      for (const store of stores) expect(await store.used(key.id, MONTH)).toBe(401);
    });

    test('calls of many keys in one moment are each counted for their own key', async () => {
      const store = await empty();
      const keys = upTo(20).map(quota => someKey({ quota }));
      for (const key of keys) await store.createKey(key, ACT);
      const revision = await store.revision();
      const spent = await Promise.all(keys.map(key => spendMany(store, 25, key.id, key.quota, revision)));
      for (const [i, key] of keys.entries()) {
        expect(usedBy(spent[i]!, 'granted')).toEqual(upTo(key.quota!));
        expect(await store.used(key.id, MONTH)).toBe(key.quota);
      }
    });

    test('a call with several names is counted whole or not at all, and smaller ones still fit behind it', async () => {
      const { store, key, revision } = await withKey({ quota: 10 });
      const several = (names: number, quota: number | null = 10) =>
        spendOne(store, { keyId: key.id, day: DAY, quota, names }, revision);
      expect(await several(11)).toEqual({ outcome: 'exhausted', used: 0 });
      expect(await several(6)).toEqual({ outcome: 'granted', used: 6 });
      expect(await several(5)).toEqual({ outcome: 'exhausted', used: 6 });
      expect(await several(3)).toEqual({ outcome: 'granted', used: 9 });
      expect(await several(2)).toEqual({ outcome: 'exhausted', used: 9 });
      expect(await several(1)).toEqual({ outcome: 'granted', used: 10 });
      expect(await several(1)).toEqual({ outcome: 'exhausted', used: 10 });
      expect(await store.used(key.id, MONTH)).toBe(10);
      expect(await several(1_000, null)).toEqual({ outcome: 'granted', used: 1_010 });
      expect(await store.usageDays(DAY, key.id)).toEqual([{ keyId: key.id, day: DAY, used: 1_010 }]);
    });

    test('calls with one and with several names at once, from three servers, fill a quota exactly', async () => {
      const stores = await servers();
      const key = someKey({ quota: 1_003 });
      await stores[0].createKey(key, ACT);
      const revision = await stores[1].revision();
      const calls = stores.flatMap(store =>
        Array.from({ length: 150 }, async (_, at) => {
          const names = [1, 2, 7, 30][at % 4]!;
          const spent = await spendOne(store, { keyId: key.id, day: DAY, quota: 1_003, names }, revision);
          return { names, spent };
        }),
      );
      const all = await Promise.all(calls);
      const granted = all.filter(({ spent }) => spent.outcome === 'granted');
      // Each has the count after its own names, and none of these overlap.
      const taken = granted
        .flatMap(({ names, spent }) => upTo(names).map(one => usedBy([spent], 'granted')[0]! - names + one))
        .sort((a, b) => a - b);
      expect(taken).toEqual(upTo(1_003));
      expect(all.every(({ spent }) => spent.outcome !== 'changed')).toBe(true);
      expect(await stores[2].used(key.id, MONTH)).toBe(1_003);
    });

    test('a quota lowered or raised in the middle of the month keeps what was used', async () => {
      const { store, key, revision } = await withKey({ quota: 10 });
      await spendMany(store, 6, key.id, 10, revision);
      const [lowered] = await spendMany(store, 1, key.id, 4, revision);
      expect(lowered).toEqual({ outcome: 'exhausted', used: 6 });
      const raised = await spendMany(store, 5, key.id, 8, revision);
      expect(usedBy(raised, 'granted')).toEqual([7, 8]);
      expect(await store.used(key.id, MONTH)).toBe(8);
    });

    test('the largest quota is kept and counted against without overflow', async () => {
      const { store, key, revision } = await withKey({ quota: MAX_QUOTA });
      const [spent] = await spendMany(store, 1, key.id, MAX_QUOTA, revision);
      expect(spent).toEqual({ outcome: 'granted', used: 1 });
      const { key: kept } = await store.keyByDigest(key.digest);
      expect(kept?.quota).toBe(MAX_QUOTA);
    });

    test('a quota below zero or above the largest is not stored', async () => {
      const store = await empty();
      for (const quota of [-1, MAX_QUOTA + 1]) {
        await expect(store.createKey(someKey({ quota }), ACT)).rejects.toThrow();
      }
      expect(await store.listKeys()).toEqual([]);
    });

    test('what was counted before is still there after closing and opening again', async () => {
      const open = await makePlace();
      const first = await open();
      const key = someKey();
      await first.createKey(key, ACT);
      await spendMany(first, 5, key.id, null, await first.revision());
      await first.close();
      const second = await open();
      expect(await second.used(key.id, MONTH)).toBe(5);
      expect(await second.listKeys()).toEqual([key]);
    });
  });

  describe('revisions', () => {
    const override: Override = {
      domain: 'a.example',
      action: 'deny',
      below: false,
      note: null,
      author: null,
      createdAt: NOW,
      expiresAt: null,
    };

    test('every change of a key or an override refuses calls that were judged before it, uncounted', async () => {
      const { store, key } = await withKey();
      const changes = [
        () => store.updateKey({ ...key, name: 'renamed' }, key, ACT),
        () => store.createKey(someKey(), ACT),
        () => store.setOverride(override, ACT),
        () => store.removeOverride(override.domain, ACT),
      ];
      for (const change of changes) {
        const before = await store.revision();
        await change();
        const after = await store.revision();
        expect(after).toBeGreaterThan(before);
        expect(await spendMany(store, 2, key.id, null, before)).toEqual(
          Array(2).fill({ outcome: 'changed' }),
        );
      }
      expect(await store.used(key.id, MONTH)).toBe(0);
    });

    test('a change by one server is seen by the next call of another', async () => {
      const [one, other] = await servers();
      const key = someKey();
      await one.createKey(key, ACT);
      const before = await other.revision();
      await one.updateKey({ ...key, revokedAt: NOW }, key, ACT);
      const [spent] = await spendMany(other, 1, key.id, null, before);
      expect(spent).toEqual({ outcome: 'changed' });
      expect((await other.keyByDigest(key.digest)).key?.revokedAt).toBe(NOW);
    });

    test('calls go on while an operator sets one override after the other', async () => {
      const store = await empty();
      const { key, secret } = newKey({ name: 'test' }, NOW);
      await store.createKey(key, ACT);
      const admit = createAdmit({ store, clock: () => NOW });
      let isChanging = true;
      const calls = { counted: 0, late: 0 };
      const caller = async () => {
        while (isChanging) {
          const caller = {
            authorization: `Bearer ${secret}`,
            origin: undefined,
            address: '127.0.0.1',
            lastSecret: newLastSecret(),
          };
          await passOne(admit, caller).then(
            answer => {
              expect(answer).toHaveProperty('allowance');
              calls.counted++;
            },
            error => {
              expect(error).toBeInstanceOf(StoreUnavailable);
              calls.late++;
            },
          );
        }
      };
      const callers = Promise.all([caller(), caller(), caller(), caller()]);
      for (let i = 0; i < 100; i++) await store.setOverride({ ...override, domain: `d${i}.example` }, ACT);
      isChanging = false;
      await callers;
      // One in sixteen failed when a call was judged five times at most, whatever the time (2026-11-15).
      expect(calls.late).toBeLessThan(1 + calls.counted / 32);
      const used = await store.used(key.id, MONTH);
      expect(used - calls.counted).toBeGreaterThanOrEqual(0);
      expect(used - calls.counted).toBeLessThanOrEqual(calls.late);
    });

    test('of calls judged before and after a change, in one moment, only the later are counted', async () => {
      const { store, key, revision } = await withKey({ quota: 50 });
      await store.setOverride(override, ACT);
      const now = await store.revision();
      const [old, fresh] = await Promise.all([
        spendMany(store, 30, key.id, 50, revision),
        spendMany(store, 30, key.id, 50, now),
      ]);
      expect(old.every(one => one.outcome === 'changed')).toBe(true);
      expect(usedBy(fresh, 'granted')).toEqual(upTo(30));
      expect(await store.used(key.id, MONTH)).toBe(30);
    });
  });

  describe('months', () => {
    /** The last moments before and the first after a month's end, leap years and centuries included. */
    const borders = [
      [2026, 11, '2026-11', '2026-12'],
      [2026, 12, '2026-12', '2027-01'],
      [2027, 2, '2027-02', '2027-03'],
      [2028, 2, '2028-02', '2028-03'],
      [2100, 2, '2100-02', '2100-03'],
      [2400, 2, '2400-02', '2400-03'],
    ] as const;

    test.each(borders)(
      '%i-%i ends at midnight UTC: the next call is in the new row',
      async (y, m, old, next) => {
        const end = Date.UTC(y, m, 1);
        const store = await empty();
        const { key, secret } = newKey({ name: 'test', quota: 2 }, NOW);
        await store.createKey(key, ACT);
        let now = end - 1;
        const admit = createAdmit({ store, clock: () => now });
        const spend = () =>
          passOne(admit, {
            authorization: `Bearer ${secret}`,
            origin: undefined,
            address: '127.0.0.1',
            lastSecret: newLastSecret(),
          });

        const last = await spend();
        if (!('allowance' in last)) throw new Error('refused');
        expect(last.allowance).toMatchObject({ used: 1, remaining: 1, month: { name: old, end } });
        expect(resetAt(last.allowance.month)).toBe(`${next}-01T00:00:00Z`);
        now = end;
        const first = await spend();
        if (!('allowance' in first)) throw new Error('refused');
        expect(first.allowance).toMatchObject({ used: 1, remaining: 1, month: { name: next, start: end } });
        // A clock that is set back counts in the old row again, on top of what stands there.
        now = end - 1;
        await spend();
        expect(await spend()).toMatchObject({ refused: 'quota_exceeded', retryAfter: 1 });
        expect([await store.used(key.id, old), await store.used(key.id, next)]).toEqual([2, 1]);
      },
    );

    test('however the clock jumps, each counted call is in exactly one row and no row decreases', async () => {
      const store = await empty();
      const moments = fc.array(fc.integer({ min: Date.UTC(2027, 11, 28), max: Date.UTC(2028, 2, 3) }), {
        minLength: 1,
        maxLength: 25,
      });
      await fc.assert(
        fc.asyncProperty(moments, async times => {
          const { key, secret } = newKey({ name: 'test', quota: 6 }, NOW);
          await store.createKey(key, ACT);
          let now = 0;
          const admit = createAdmit({ store, clock: () => now });
          const counted = new Map<string, number>();
          for (const time of times) {
            now = time;
            const month = new Date(time).toISOString().slice(0, 7);
            const expected = (counted.get(month) ?? 0) + 1;
            const result = await passOne(admit, {
              authorization: `Bearer ${secret}`,
              origin: undefined,
              address: '127.0.0.1',
              lastSecret: newLastSecret(),
            });
            if ('refused' in result) expect([result.refused, expected]).toEqual(['quota_exceeded', 7]);
            else counted.set(month, expected);
            for (const [name, calls] of counted) expect(await store.used(key.id, name)).toBe(calls);
          }
        }),
        { numRuns: 15 },
      );
    });
  });

  describe('failures', () => {
    test('a mistake of ours is told as what it is, with its stack, and the store goes on', async () => {
      const { store, key, revision } = await withKey();
      const noFlags = undefined as unknown as readonly Flag[];
      const mistake: unknown = await store.flag(noFlags, DAY).catch(error => error);
      expect(mistake).toBeInstanceOf(TypeError);
      expect((mistake as Error).stack).toMatch(/^ +at .*\/(?:src\/store\/postgres|\.program)\//m);
      // A statement that the tables do not allow is no sign that they cannot be reached.
      const twice: unknown = await store.createKey(key, ACT).catch(error => error);
      expect(twice).toBeInstanceOf(Error);
      expect(twice).not.toBeInstanceOf(StoreUnavailable);
      expect(await store.listKeys()).toEqual([key]);
      const [spent] = await spendMany(store, 1, key.id, null, revision);
      expect(spent).toEqual({ outcome: 'granted', used: 1 });
    });

    test('a store that is closed is unavailable', async () => {
      const open = await makePlace();
      const store = await open();
      await store.close();
      await expect(store.listKeys()).rejects.toThrow(StoreUnavailable);
      await expect(store.ready()).rejects.toThrow(StoreUnavailable);
    });
  });

  describe('keys', () => {
    const full = (): KeyRecord => ({
      ...someKey(),
      name: 'Müller & "Söhne" \u{1f511}',
      note: 'ask Ann; \'"$1? \u{1f511}',
      previousDigest: digestOf(secretFrom(randomBytes(32))),
      previousUntil: NOW + 5,
      quota: 0,
      rate: 3,
      origins: ['https://app.example.com', 'https://*.example.org'],
      networks: ['192.0.2.0/24', '2001:db8::/32'],
      expiresAt: NOW + 9,
      revokedAt: NOW + 7,
    });

    test('come back as they were stored, by their digest and by the one before a rotation', async () => {
      const store = await empty();
      const keys = [someKey({ createdAt: NOW - 1 }), full()];
      for (const key of keys) await store.createKey(key, ACT);
      const revision = await store.revision();
      expect(await store.keyByDigest(keys[0]!.digest)).toEqual({ key: keys[0], revision });
      expect(await store.keyByDigest(keys[1]!.digest)).toEqual({ key: keys[1], revision });
      expect(await store.keyByDigest(keys[1]!.previousDigest!)).toEqual({ key: keys[1], revision });
      expect(await store.keyByDigest(digestOf('nobody'))).toEqual({ key: undefined, revision });
      expect(await store.listKeys()).toEqual(keys);
      // At once they are read together.
      const digests = keys.flatMap(key => [key.digest, digestOf('nobody'), key.previousDigest ?? key.digest]);
      const found = await Promise.all([...digests, ...digests].map(digest => store.keyByDigest(digest)));
      const [one, other] = keys.map(key => ({ key, revision }));
      const each = [one, { key: undefined, revision }, one, other, { key: undefined, revision }, other];
      expect(found).toEqual([...each, ...each]);
    });

    test('are replaced whole by their id, and nothing is made up for an unknown one', async () => {
      const store = await empty();
      const key = someKey();
      await store.createKey(key, ACT);
      const changed = { ...full(), id: key.id };
      expect(await store.updateKey(changed, key, ACT)).toBe(true);
      expect(await store.listKeys()).toEqual([changed]);
      const unknown = someKey();
      expect(await store.updateKey({ ...unknown, quota: 5 }, unknown, ACT)).toBe(false);
      expect(await store.listKeys()).toEqual([changed]);
    });

    test('of two operators at once none undoes what the other did', async () => {
      const fresh = { digest: digestOf('fresh'), prefix: 'drk_new1', last4: 'new4' };
      const changes: [string, (key: KeyRecord) => Partial<KeyRecord>][] = [
        ['rotated', key => ({ ...fresh, previousDigest: key.digest, previousUntil: NOW + 1 })],
        ['a quota', () => ({ quota: 7 })],
        ['a note', () => ({ note: 'later' })],
        ['no note', () => ({ note: null })],
        ['origins', () => ({ origins: ['https://a.example.com', 'https://b.example.com'] })],
        ['no networks', () => ({ networks: [] })],
        ['no end', () => ({ expiresAt: null })],
      ];
      const store = await empty();
      for (const [what, edit] of changes) {
        const key = { ...full(), revokedAt: null };
        await store.createKey(key, ACT);
        const changed = { ...key, ...edit(key) };
        expect([what, await store.updateKey(changed, key, ACT)]).toEqual([what, true]);
        const name = `late: ${what}`;
        expect([what, await store.updateKey({ ...key, name }, key, ACT)]).toEqual([what, false]);
        expect(await store.listKeys()).toContainEqual(changed);
        expect(await store.updateKey({ ...changed, name }, changed, ACT)).toBe(true);
      }
    });

    test('of two that get the same new name at once one gets it; that of a revoked key is free', async () => {
      const store = await empty();
      const keys = ['a', 'b', 'c'].map(name => someKey({ name }));
      for (const key of keys) await store.createKey(key, ACT);
      const renamed = keys.map(key => ({ ...key, name: 'same' }));
      const done = await Promise.all(keys.map((key, at) => store.updateKey(renamed[at]!, key, ACT)));
      expect(done.filter(Boolean)).toHaveLength(1);
      const first = done.indexOf(true);
      const other = (first + 1) % 3;
      await store.updateKey({ ...renamed[first]!, revokedAt: NOW }, renamed[first]!, ACT);
      expect(await store.updateKey(renamed[other]!, keys[other]!, ACT)).toBe(true);
    });

    test('are found one by one, by their id or by a name that people take for theirs, live ones only by name', async () => {
      const [store, other] = await servers();
      // The sign for kelvin, wide letters and an umlaut of two signs are what people read in them.
      const names = [
        'Kelvin',
        '\u212aelvin',
        'ｋｅｌｖｉｎ',
        'M\u00fcller',
        'MU\u0308LLER',
        'Muller',
        'm\u00fcller 2',
      ];
      const keys = names.map((name, at) => someKey({ name, createdAt: NOW + at }));
      const gone = someKey({ name: 'kelvin', revokedAt: NOW });
      for (const key of [...keys, gone]) await store.createKey(key, ACT);
      for (const key of [...keys, gone]) expect(await other.keyById(key.id)).toEqual(key);
      for (const id of ['key_none', '', 'key_\0', '\ud800']) {
        expect(await other.keyById(id)).toBeUndefined();
        expect(await other.keyIdsOf(id)).toEqual([]);
      }
      expect(await other.keyIdsOf(keys[1]!.id)).toEqual([keys[1]!.id]);
      const twin = someKey({ name: names[4]!, revokedAt: NOW });
      await store.createKey(twin, ACT);
      expect((await other.keyIdsOf(names[4]!)).toSorted()).toEqual([keys[4]!.id, twin.id].toSorted());
      expect(await other.keyIdsOf('KELVIN')).toEqual([]);
      expect(await other.keyIdsOf('kelvin')).toEqual([gone.id]);
      // Named like the id of another, which is told alone.
      await store.createKey(someKey({ name: gone.id }), ACT);
      expect(await other.keyIdsOf(gone.id)).toEqual([gone.id]);
      const some = [keys[0]!, gone];
      expect(await other.keyNames([...some.map(({ id }) => id), 'key_none'])).toEqual(
        new Map(some.map(({ id, name }) => [id, name])),
      );
      const named = async (name: string) =>
        (await other.keysNamed(name)).toSorted((a, b) => a.createdAt - b.createdAt);
      expect(await named('KELVIN')).toEqual(keys.slice(0, 3));
      expect(await named('m\u00fcller')).toEqual(keys.slice(3, 5));
      expect(await named('muller')).toEqual([keys[5]]);
      expect(await named('mull_r')).toEqual([]);
    });

    test('are read page by page, the oldest first, each once, also those of one moment', async () => {
      const store = await empty();
      const keys = Array.from({ length: 5 }, (_, at) => ({ ...full(), createdAt: NOW + (at % 2) }));
      const parts = keys.map(key => ({ ...key, previousDigest: null }));
      for (const key of parts) await store.createKey(key, ACT);
      const sorted = parts.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
      const unused = (key: KeyRecord) => ({ key, used: 0, lastUsedAt: null, days: {} });
      expect(await readAll(store)).toEqual(sorted.map(unused));
      const read: KeyRecord[] = [];
      for (let after: KeysQuery['after'] | undefined = BEFORE_ALL_KEYS; after; ) {
        const page: KeyUses[] = await readAll(store, { after, most: 2 });
        expect(page.length).toBeLessThanOrEqual(2);
        read.push(...page.map(({ key }) => key));
        after = page.at(-1)?.key;
      }
      expect(read).toEqual(sorted);
    });

    test('of two that get names at once which people take for the same one gets it, whether new or renamed', async () => {
      const stores = await servers();
      for (const pair of [
        ['Web', 'web'],
        ['\u00dcbung', 'u\u0308bung'],
        ['kelvin', '\u212aelvin'],
      ]) {
        const [one, other] = pair.map(name => someKey({ name }));
        const create = [one!, other!].map((key, at) => stores[at]!.createKey(key, ACT, true));
        expect((await Promise.all(create)).filter(Boolean)).toHaveLength(1);
        const keys = [someKey({ name: `first ${one!.id}` }), someKey({ name: `other ${one!.id}` })];
        for (const key of keys) await stores[0].createKey(key, ACT);
        const renamed = keys.map((key, at) => ({ ...key, name: `${pair[at]} again` }));
        const rename = keys.map((key, at) => stores[at]!.updateKey(renamed[at]!, key, ACT));
        const done = await Promise.all(rename);
        expect(done.filter(Boolean)).toHaveLength(1);
        // Its own name in other letters is nobody else's.
        const first = renamed[done.indexOf(true)]!;
        expect(await stores[2].updateKey({ ...first, name: first.name.toUpperCase() }, first, ACT)).toBe(
          true,
        );
      }
    });

    test('a revoked key stays revoked, whatever a slower operator writes over it', async () => {
      const { store, key } = await withKey();
      const revoked = { ...key, revokedAt: NOW };
      expect(await store.updateKey(revoked, key, ACT)).toBe(true);
      for (const was of [key, revoked])
        expect(await store.updateKey({ ...key, quota: 5 }, was, ACT)).toBe(false);
      expect(await store.listKeys()).toEqual([revoked]);
    });

    test('a secret belongs to one key only', async () => {
      const store = await empty();
      const key = someKey();
      await store.createKey(key, ACT);
      await expect(store.createKey(someKey({ digest: key.digest }), ACT)).rejects.toThrow();
      expect(await store.listKeys()).toEqual([key]);
    });

    test('a rotation keeps the count: it belongs to the identity, not to the secret', async () => {
      const { store, key, revision } = await withKey({ quota: 5 });
      await spendMany(store, 3, key.id, 5, revision);
      const rotated = { ...key, digest: digestOf(secretFrom(randomBytes(32))) };
      await store.updateKey(rotated, key, ACT);
      expect((await store.keyByDigest(key.digest)).key).toBeUndefined();
      const found = await store.keyByDigest(rotated.digest);
      const spent = await spendMany(store, 5, found.key!.id, 5, found.revision);
      expect(usedBy(spent, 'granted')).toEqual([4, 5]);
    });

    test('of several servers that start together on an empty store, one makes the first key', async () => {
      const open = await makePlace();
      const stores = await Promise.all([open(), open(), open()]);
      const made = await Promise.all(stores.map(store => store.createFirstKey(someKey(), ACT)));
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await stores[0].listKeys()).toHaveLength(1);
      expect(await stores[1].createFirstKey(someKey(), ACT)).toBe(false);
    });

    test('no first key is made where there is any key, a revoked one included', async () => {
      const { store, key } = await withKey({ revokedAt: NOW });
      expect(await store.createFirstKey(someKey(), ACT)).toBe(false);
      expect(await store.listKeys()).toEqual([key]);
    });
  });

  describe('overrides', () => {
    const override: Override = {
      domain: 'partner.example.org',
      action: 'allow',
      below: true,
      note: 'our "supplier"',
      author: 'op',
      createdAt: NOW,
      expiresAt: NOW + 5,
    };

    test('are listed by name, replaced by a new word on the same name, and removed once', async () => {
      const store = await empty();
      const other: Override = { ...override, domain: 'a.example', action: 'role', note: null, author: null };
      await store.setOverride(override, ACT);
      await store.setOverride(other, ACT);
      const revision = await store.revision();
      const listed = await store.listOverrides();
      expect([[...listed.overrides], listed.revision]).toEqual([[other, override], revision]);
      const again: Override = { ...override, action: 'deny', below: false, expiresAt: null };
      await store.setOverride(again, ACT);
      expect([...(await store.listOverrides()).overrides]).toEqual([other, again]);
      expect(await store.removeOverride(other.domain, ACT)).toBe(true);
      expect(await store.removeOverride(other.domain, ACT)).toBe(false);
      expect([...(await store.listOverrides()).overrides]).toEqual([again]);
    });

    test('are read with their mark, which every change of one of them changes and a change of a key does not', async () => {
      const store = await empty();
      const marks: string[] = [];
      const read = async (known: string | undefined) => {
        const { overrides, mark, revision } = await store.readOverrides(known);
        expect(revision).toBe(await store.revision());
        if (mark !== marks.at(-1)) marks.push(mark);
        return overrides && [...overrides].sort((a, b) => (a.domain < b.domain ? -1 : 1));
      };
      expect([await read(undefined), await read(marks[0])]).toEqual([[], undefined]);
      const odd = {
        ...override,
        domain: 'a.example',
        below: false,
        note: 'a "\\ b\u2028ü😀',
        expiresAt: null,
      };
      await store.setOverride(override, ACT);
      expect(await read(marks[0])).toEqual([override]);
      expect(await store.setOverrides([odd], marks[1]!, ACT)).toBe(true);
      expect(await read(marks[1])).toEqual([odd, override]);
      await store.createKey(someKey(), ACT);
      expect([await read(marks[2]), marks.length]).toEqual([undefined, 3]);
      await store.setOverride({ ...odd, action: 'deny' }, ACT);
      await store.removeOverride('no.example', ACT);
      expect(await read(marks[2])).toEqual([{ ...odd, action: 'deny' }, override]);
      await store.removeOverride(odd.domain, ACT);
      expect([await read(marks[3]), await read(marks[0])]).toEqual([[override], [override]]);
      expect(new Set(marks).size).toBe(5);
    });

    test('those that changed since a mark are told, with those that are gone, as long as somebody knows', async () => {
      const store = await empty();
      const markNow = async () => (await store.readOverrides(undefined)).mark;
      const since = async (known: string) => {
        const changed = await store.changedOverrides(known);
        if (!changed) return undefined;
        expect([changed.revision, changed.mark]).toEqual([await store.revision(), await markNow()]);
        return [changed.overrides.map(({ domain }) => domain).sort(), changed.gone.toSorted()];
      };
      const of = (domain: string, more: Partial<Override> = {}) => ({ ...override, domain, ...more });
      const first = await markNow();
      expect([await since(first), await since('nobody')]).toEqual([[[], []], undefined]);
      await store.setOverride(of('a.com'), ACT);
      const second = await markNow();
      await store.setOverride(of('b.com'), ACT);
      await store.removeOverride('a.com', ACT);
      await store.setOverride(of('b.com', { action: 'deny' }), ACT);
      expect([await since(first), await since(second)]).toEqual([
        [['b.com'], ['a.com']],
        [['b.com'], ['a.com']],
      ]);
      expect((await store.changedOverrides(second))?.overrides).toEqual([of('b.com', { action: 'deny' })]);
      const third = await markNow();
      await store.createKey(someKey(), ACT);
      expect(await since(third)).toEqual([[], []]);
      const many = (count: number, at: number) => upTo(count).map(n => of(`${at + n}.com`));
      await store.setOverrides(many(300, 0), third, ACT);
      const fourth = await markNow();
      expect((await since(third))?.[0]).toHaveLength(300);
      await store.setOverrides(many(1_200, 1_000), fourth, ACT);
      const last = await markNow();
      expect([await since(third), await since(fourth), await since(last)]).toEqual([
        undefined,
        undefined,
        [[], []],
      ]);
      await store.setOverride(of('c.com'), ACT);
      expect(await since(last)).toEqual([['c.com'], []]);
    });

    test('whoever follows what has changed has what is there, whatever was changed by whom in between', async () => {
      const stores = await servers();
      const of = (at: number, action: Override['action']): Override => ({
        ...{ domain: `n${at}.com`, action, below: false, note: null, author: null },
        ...{ createdAt: 1, expiresAt: null },
      });
      const name = fc.nat({ max: 1_400 });
      const action = fc.constantFrom('allow' as const, 'deny' as const, 'role' as const);
      const change = fc.oneof(
        { weight: 4, arbitrary: fc.record({ at: name, action }) },
        { weight: 2, arbitrary: fc.record({ at: name }) },
        { weight: 3, arbitrary: fc.record({ from: name, count: fc.nat({ max: 1_200 }), action }) },
      );
      const followed = fc.array(fc.record({ by: fc.nat({ max: 2 }), change, isLooked: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      });
      let told = 0;
      await fc.assert(
        fc.asyncProperty(followed, async steps => {
          let mark: string | undefined;
          let held = new Map<string, Override>();
          const follow = async () => {
            const changed = mark === undefined ? undefined : await stores[0].changedOverrides(mark);
            for (const override of changed?.overrides ?? []) held.set(override.domain, override);
            for (const domain of changed?.gone ?? []) held.delete(domain);
            if (changed) told++;
            else {
              const all = await stores[0].readOverrides(undefined);
              held = new Map(Array.from(all.overrides!, override => [override.domain, override]));
              mark = all.mark;
            }
            mark = changed?.mark ?? mark;
            const { overrides } = await stores[1].listOverrides();
            const sorted = [...held.values()].sort((a, b) => (a.domain < b.domain ? -1 : 1));
            expect(sorted).toEqual([...overrides]);
          };
          await follow();
          for (const { by, change: it, isLooked } of steps) {
            const store = stores[by as 0 | 1 | 2];
            if ('count' in it) {
              const many = upTo(it.count).map(at => of(it.from + at, it.action));
              await store.setOverrides(many, (await store.readOverrides(undefined)).mark, ACT);
            } else if ('action' in it) await store.setOverride(of(it.at, it.action), ACT);
            else await store.removeOverride(`n${it.at}.com`, ACT);
            if (isLooked) await follow();
          }
          await follow();
        }),
        { numRuns: isFull ? 100 : 4 },
      );
      expect(told).toBeGreaterThan(0);
    });

    test('none of many that were changed and made together is left out, however they are portioned', async () => {
      const store = await empty();
      const markNow = async () => (await store.readOverrides(undefined)).mark;
      const of = (at: number, more: Partial<Override> = {}) => ({
        ...override,
        domain: `n${at}.com`,
        ...more,
      });
      for (const [changed, made] of [
        [900, 400],
        [1_000, 0],
        [0, 1_000],
        [999, 2],
        [500, 500],
      ] as const) {
        await store.setOverrides(
          upTo(changed).map(at => of(at)),
          await markNow(),
          ACT,
        );
        const mark = await markNow();
        const all = [...upTo(changed), ...upTo(made).map(at => 10_000 * (changed + 1) + at)];
        await store.setOverrides(
          all.map(at => of(at, { action: 'deny' })),
          mark,
          ACT,
        );
        await store.setOverride(of(-1), ACT);
        const since = await store.changedOverrides(mark);
        expect([undefined, all.length + 1]).toContain(since?.overrides.length);
      }
    });
  });

  describe('ranking', () => {
    const SINCE = '2026-10-17';
    const listed = (flag: Partial<Flag>) =>
      flagOf({ listed: true, reason: 'disposable', score: 100, ...flag });
    async function ranked(flags: readonly Flag[], reason?: string, most = 100) {
      const store = await empty();
      await store.flag(flags, SINCE);
      return [...(await store.ranking(SINCE, most, reason))];
    }

    test('one key counts once per domain and day, however often it asks', async () => {
      const store = await empty();
      const flags = Array(5_000).fill(listed({ domain: 'm.example' }));
      for (let i = 0; i < 4; i++) await store.flag(flags, SINCE);
      await store.flag([listed({ domain: 'm.example', day: '2026-11-14' })], SINCE);
      await store.flag([listed({ domain: 'm.example', keyId: 'key_2' })], SINCE);
      expect([...(await store.ranking(SINCE, 10, undefined))]).toEqual([
        {
          domain: 'm.example',
          times: 3,
          listed: true,
          reason: 'disposable',
          score: 100,
          lastDay: '2026-11-15',
        },
      ]);
    });

    test('an unlisted name appears only when two keys flagged it, a listed one at once', async () => {
      const rows = await ranked([
        flagOf({ domain: 'one-key.example', day: '2026-11-13' }),
        flagOf({ domain: 'one-key.example', day: '2026-11-14' }),
        flagOf({ domain: 'two-keys.example', keyId: 'key_1' }),
        flagOf({ domain: 'two-keys.example', keyId: 'key_2' }),
        listed({ domain: 'listed.example' }),
      ]);
      expect(rows.map(row => [row.domain, row.listed])).toEqual([
        ['two-keys.example', false],
        ['listed.example', true],
      ]);
    });

    test('keys of one customer, by their names, count as one: what only it asks for does not show', async () => {
      const store = await empty();
      const names = ['acme/production', 'Acme/staging', 'acme', 'https://a.example', 'https://b.example'];
      const keys = names.map(name => someKey({ name }));
      for (const key of keys) await store.createKey(key, ACT);
      const [production, staging, plain, site, other] = keys.map(({ id }) => id);
      const by = (domain: string, ...ids: (string | undefined)[]) =>
        ids.map(keyId => flagOf({ domain, keyId: keyId! }));
      await store.flag(by('private.example', production, staging), SINCE);
      await store.flag(by('private.example', staging), SINCE);
      await store.flag(by('met.example', production, staging, plain, site, other), SINCE);
      const rows = [...(await store.ranking(SINCE, 10, undefined))];
      expect(rows.map(({ domain, times }) => [domain, times])).toEqual([['met.example', 4]]);
    });

    test('a name that a list decided once is not hidden because it was flagged unlisted later', async () => {
      const rows = await ranked([
        listed({ domain: 'm.example', day: '2026-11-13' }),
        flagOf({ domain: 'm.example', day: '2026-11-14' }),
      ]);
      expect(rows).toEqual([
        {
          domain: 'm.example',
          times: 2,
          listed: true,
          reason: 'undeliverable',
          score: 90,
          lastDay: '2026-11-14',
        },
      ]);
    });

    test('is ordered by times, then score, then name', async () => {
      const rows = await ranked([
        listed({ domain: 'b.example', score: 90 }),
        listed({ domain: 'c.example', score: 100 }),
        listed({ domain: 'a.example', score: 90 }),
        listed({ domain: 'often.example', score: 80, keyId: 'key_1' }),
        listed({ domain: 'often.example', score: 80, keyId: 'key_2' }),
      ]);
      expect(rows.map(row => row.domain)).toEqual(['often.example', 'c.example', 'a.example', 'b.example']);
    });

    test('shows the last verdict that was given, and filters by it', async () => {
      const flags = [
        listed({ domain: 'm.example', day: '2026-11-14', score: 95, reason: 'disposable' }),
        listed({ domain: 'm.example', day: '2026-11-15', score: 60, reason: 'role_account' }),
        listed({ domain: 'n.example', day: '2026-11-15', score: 91 }),
        listed({ domain: 'n.example', day: '2026-11-15', score: 93 }),
      ];
      expect(await ranked(flags, 'role_account')).toEqual([
        {
          domain: 'm.example',
          times: 2,
          listed: true,
          reason: 'role_account',
          score: 60,
          lastDay: '2026-11-15',
        },
      ]);
      expect(await ranked(flags, 'disposable')).toEqual([
        {
          domain: 'n.example',
          times: 1,
          listed: true,
          reason: 'disposable',
          score: 93,
          lastDay: '2026-11-15',
        },
      ]);
    });

    test('gives at most as many as asked for', async () => {
      const flags = upTo(20).map(i => listed({ domain: `d${i}.example` }));
      expect(await ranked(flags, undefined, 7)).toHaveLength(7);
    });

    test('days before the window neither count nor stay', async () => {
      const store = await empty();
      const old = listed({ domain: 'old.example', day: '2026-10-16' });
      const edge = listed({ domain: 'edge.example', day: '2026-10-17' });
      const late = listed({ domain: 'late.example', day: '2026-11-14' });
      await store.flag([old, edge, edge, late], '2026-10-16');
      expect([...(await store.ranking(SINCE, 10, undefined))]).toMatchObject([
        { domain: 'edge.example', times: 1 },
        { domain: 'late.example', times: 1 },
      ]);
      await store.flag([edge], SINCE);
      expect([...(await store.ranking('2000-01-01', 10, undefined))]).toMatchObject([
        { domain: 'edge.example' },
        { domain: 'late.example' },
      ]);
    });
  });

  describe('what was learned of mail hosts', () => {
    const DAY = '2026-11-15';
    const SINCE = '2026-08-17';
    const guests = (count: number, facts: Partial<Guest> = {}, prefix = 'd'): Guest[] =>
      upTo(count).map(at => {
        const domain = `${prefix}${at - 1}.com`;
        return guestOf({ host: 'mx.box.net', domain, entry: domain, day: DAY, ...facts });
      });
    async function learning() {
      const store = await empty();
      const learn = (rows: readonly Guest[], shared: string[] = [], day = DAY, since = SINCE) =>
        store.learn(rows, shared, day, since);
      const counts = async () =>
        (await store.listHosts(1, 100)).map(({ name, flagged, innocent }) => [name, flagged, innocent]);
      return { store, learn, counts };
    }

    test('guests are counted once per host, and by their last sighting', async () => {
      const { store, learn, counts } = await learning();
      await learn([...guests(5), ...guests(5), ...guests(3, { entry: null }, 'i')]);
      await learn(guests(5));
      expect(await counts()).toEqual([['mx.box.net', 5, 3]]);
      await learn([...guests(2, { entry: null }), ...guests(1, {}, 'i')]);
      expect(await counts()).toEqual([['mx.box.net', 4, 4]]);
      expect(await store.listHosts(1, 10)).toMatchObject([
        {
          shared: false,
          forgotten: false,
          neighbours: ['d2.com', 'd3.com', 'd4.com', 'i0.com'],
          lastDay: DAY,
        },
      ]);
    });

    test.each<
      [
        ...[string, here: number[], elsewhere: number[], again: number, expected: string],
        ...[listedOn?: number, looked?: number[]],
      ]
    >([
      ['goes on where it was seen nowhere else', [1, 5], [], 20, '1 3 7'],
      ['begins anew where it was, for less than a month', [1, 5], [9], 20, '20 1 4'],
      ['does so each time', [1, 5, 15], [9, 16], 20, '20 1 4'],
      ['begins anew where it was elsewhere and here on one day', [1, 5], [5], 20, '20 1 4'],
      ['and on the day on which it comes back', [1, 5], [20], 20, '20 1 4'],
      ['goes on where it was looked at here only', [1, 5], [], 20, '1 3 7', -100, [5, 20]],
      ['begins anew also where it was elsewhere on that day too', [1, 5], [9, 20], 20, '20 1 4'],
      ['stays where that was after a month', [1, 5, 31], [32], 40, '1 4 7'],
      ['does not where it came back after one only', [1, 5], [9], 40, '40 1 4'],
      ['has the days before it was listed, where it was nowhere else', [1, 5, 12], [], 40, '1 4 7', 12],
      ['has not where it was elsewhere since, and here not yet', [1, 5], [12], 40, '40 1 4', 10],
      ['nor where that was long after', [1, 5], [60], 65, '65 1 4', 60],
      ['nor where it was in the first month of the lists', [1, 5, 60], [62], 70, '70 1 4', 60],
      ['stays where that was after it', [1, 5, 60], [91], 95, '1 4 7', 60],
    ])('a listed guest %s', async (_, here, elsewhere, again, expected, listedOn = -100, looked = []) => {
      const { store, learn } = await learning();
      const dayOf = (day: number) => new Date(Date.UTC(2026, 9, day)).toISOString().slice(0, 10);
      const guest = (day: number, keys: number) => {
        const seen = { day: dayOf(day), sinceDay: dayOf(day), days: 1, swept: 0 as const };
        // As lookups have it, a week before the day of the list.
        const listed = { keys, earnedBy: dayOf(listedOn - UPDATE_LAG_DAYS) };
        return guests(1, day < listedOn ? { ...seen, entry: null, keys: null } : { ...seen, ...listed });
      };
      const look = (day: number, ...at: string[]) =>
        store.learn([], [], dayOf(day), SINCE, [{ domain: 'd0.com', registered: null, day: dayOf(day), at }]);
      const days = [...here, ...elsewhere, again].sort((a, b) => a - b);
      for (const day of new Set(days)) {
        // A stranger to it, and an unlisted one, are none the worse.
        const others = [
          ...guests(1, { day: dayOf(1), days: 1 }, 's'),
          ...guests(1, { day: dayOf(1), entry: null }, 'i'),
        ];
        if (day === 1) await learn(others, [], dayOf(day));
        if (elsewhere.includes(day)) await look(day, 'mx.another.net');
        if (looked.includes(day)) await look(day, 'mx.another.net', 'mx.box.net');
        const keys = day === again ? 0b0100 : 0b0011;
        if (here.includes(day) || day === again) await learn(guest(day, keys), [], dayOf(day));
      }
      const groups = (await store.listHosts(1, 1))[0]!.groups;
      const one = groups.find(({ entries }) => entries === 'd0.com')!;
      const [since, count, keys] = expected.split(' ');
      expect([one.sinceDay, one.days, one.keys]).toEqual([dayOf(Number(since)), Number(count), Number(keys)]);
      expect(groups.find(({ entries }) => entries === 's0.com')!.sinceDay).toBe('2026-01-01');
    });

    test('a guest that lists come to name begins anew where it was at another host since', async () => {
      const { store, learn } = await learning();
      const unlisted = { entry: null, keys: null, days: 1 };
      const seen = (domain: string, host: string, day: string, facts: Partial<Guest> = unlisted) =>
        learn([guestOf({ entry: domain, ...facts, host, domain, day, sinceDay: day })], [], day);
      for (const domain of ['moved.com', 'stayed.com', 'web.com'])
        await seen(domain, 'mx.box.net', '2026-11-01');
      await seen('moved.com', 'mx.home.net', '2026-11-05');
      // A name below it is somewhere else, it is not.
      await seen('web.com', 'own@5.61.1.1', '2026-11-05', { ...unlisted, registered: '*.web.com' });
      await seen('other.com', 'mx.home.net', '2026-11-05');
      for (const domain of ['moved.com', 'stayed.com', 'web.com', 'other.com'])
        await seen(domain, 'mx.box.net', '2026-11-09', { days: 1 });
      const { groups } = (await store.listHosts(3, 1))[0]!;
      const stays = groups.map(({ entries, sinceDay, days }) => `${entries} ${sinceDay} ${days}`);
      expect(stays.sort()).toEqual(['moved.com other.com 2026-11-09 1', 'stayed.com web.com 2026-11-01 2']);
    });

    test('a guest that lists named for a day has what it was before, though it was elsewhere on that day', async () => {
      const { store, learn } = await learning();
      const seen = (day: string, facts: Pick<Guest, 'entry'> & Partial<Guest>) =>
        learn(
          [guestOf({ host: 'mx.box.net', domain: 'firm.com', day, sinceDay: day, days: 1, ...facts })],
          [],
          day,
        );
      const [unlisted, listed] = [{ entry: null, keys: null }, { entry: 'firm.com' }];
      for (const day of ['2026-09-01', '2026-10-01', '2026-11-01']) await seen(day, unlisted);
      const look = { domain: 'firm.com', registered: null, day: '2026-11-05', at: ['mx.other.net'] };
      await store.learn([], [], '2026-11-05', SINCE, [look]);
      await seen('2026-11-09', unlisted);
      expect(await store.established('2026-11-09')).toContain('mx.box.net firm.com ');
      // Where they name it again, it was elsewhere.
      await seen('2026-11-10', listed);
      expect((await store.listHosts(1, 1))[0]!.groups).toMatchObject([{ sinceDay: '2026-11-10', days: 1 }]);
      await seen('2026-11-11', listed);
      await seen('2026-11-12', unlisted);
      expect(await store.established('2026-11-12')).toContain('mx.box.net firm.com ');
    });

    test('a domain has forty places of its own beside those of names below it', async () => {
      const { store, learn } = await learning();
      const most = LEARNING.mostHostsOfOne;
      const at = (host: string, day: string, registered: string | null) =>
        guestOf({
          host,
          domain: 'shop.net',
          entry: null,
          keys: null,
          registered,
          day,
          sinceDay: day,
          days: 1,
        });
      for (const day of ['2026-10-01', '2026-10-20', '2026-11-09']) {
        // By which name it came first does not matter.
        for (const name of ['*.shop.net', null, '*.shop.net'])
          await learn([at('z.own.net', day, name)], [], day);
        const below = upTo(2 * most).map(each => at(`mx${each}.net`, day, '*.shop.net'));
        await learn(below, [], day);
      }
      const lines = (await store.established('2026-11-15')).split('\n');
      expect(lines).toHaveLength(most + 1);
      expect(lines).toContain('z.own.net shop.net ');
    });

    test.each<[string, here: string[], elsewhere: string, expected: string]>([
      ['stays though others below it are elsewhere', ['1 a', '5 a', '9 a'], '7 b', 'a 1 9 3 1'],
      ['begins anew where it was itself', ['1 a', '5 a', '9 a'], '7 a', 'a 9 9 1 1'],
      ['has nothing of others at its host', ['1 a', '5 b', '9 a b', '11 b a', '12 b'], '', 'a 1 11 3 1'],
      ['makes room for another once it was elsewhere', ['1 a', '5 a', '9 b'], '7 a', 'b 9 9 1 2'],
      ['and once it was not seen for a fortnight', ['1 a', '14 b', '15 b', '20 a b'], '', 'b 15 20 2 2'],
    ])('a listed name below a suffix %s', async (_, here, elsewhere, expected) => {
      const { store, learn } = await learning();
      const dayOf = (day: string) => `2026-11-${day.padStart(2, '0')}`;
      const domain = '*.gr.com';
      const guest = (day: string, name: string) => {
        const entry = `${name}.gr.com`;
        const seen = { day: dayOf(day), sinceDay: dayOf(day), days: 1, keys: name === 'a' ? 1 : 2 };
        return guestOf({ host: 'mx.box.net', domain, entry, registered: entry, ...seen });
      };
      const [left, who] = elsewhere.split(' ');
      for (const [day, ...names] of here.map(one => one.split(' ') as [string, ...string[]])) {
        if (left && Number(left) < Number(day))
          await store.learn([], [], dayOf(left), SINCE, [
            { domain, registered: `${who}.gr.com`, day: dayOf(left), at: [] },
          ]);
        await learn(
          names.map(name => guest(day, name)),
          [],
          dayOf(day),
        );
      }
      const [name, since, last, days, keys] = expected.split(' ');
      const stay = { sinceDay: dayOf(since!), lastDay: dayOf(last!), days: Number(days), keys: Number(keys) };
      expect((await store.listHosts(1, 1))[0]!.groups).toMatchObject([
        { entries: `${name}.gr.com`, ...stay },
      ]);
    });

    test.each([
      ['one server is at a new day and another is not yet', ['15', '16', '15', '16', '15', '16'], 2, '16'],
      ['it is seen on three days', ['14', '15', '15', '16'], 3, '16'],
      ['a clock was days ahead', ['14', '29', '15', '16'], 3, '16'],
    ])('the days on which a guest was seen are counted, where %s', async (_, days, count, last) => {
      const { store, learn } = await learning();
      for (const [at, one] of days.entries()) {
        const day = `2026-11-${one}`;
        await learn(guests(1, { day, sinceDay: day, days: 1, keys: 1 << at }), [], day);
      }
      const [host] = await store.listHosts(1, 1);
      expect(host!.groups).toMatchObject([
        { days: count, sinceDay: `2026-11-${days[0]}`, lastDay: `2026-11-${last}` },
      ]);
      expect(host!.groups[0]!.keys).toBe(2 ** days.length - 1);
    });

    test('the last day is told on which any guest was seen', async () => {
      const { store, learn } = await learning();
      expect(await store.lastGuestDay()).toBe(null);
      await learn([...guests(1), ...guests(1, { day: '2026-11-09' }, 'i')]);
      expect(await store.lastGuestDay()).toBe(DAY);
    });

    test('a guest keeps by whose host it came to an address', async () => {
      const { store, learn } = await learning();
      const vias = async () => (await store.listHosts(1, 1))[0]!.groups.map(({ via }) => via);
      await learn(guests(1));
      expect(await vias()).toEqual(['']);
      await learn(guests(1, { via: 'box.net' }));
      await learn(guests(1, { via: 'later.net', day: '2026-11-16' }), [], '2026-11-16');
      expect(await vias()).toEqual(['box.net']);
    });

    test('guests keep what counts from their first sighting on, and are told in groups that weigh the same', async () => {
      const { store, learn } = await learning();
      const fresh = { sinceDay: DAY, days: 1, swept: 0, earned: false } as const;
      const unlisted = {
        entry: null,
        corroborated: null,
        keys: null,
        earnedBy: null,
        earned: false,
      } as const;
      await learn([
        ...guests(3, { ...fresh, keys: 0b0001 }),
        ...guests(2, { ...fresh, ...unlisted }, 'i'),
        ...guests(2, { sinceDay: '2026-08-17', days: 9, corroborated: false, keys: 0 }, 's'),
      ]);
      // Seen by other keys on the same day, and by a sweep on the next: it was asked for first.
      await learn(guests(3, { ...fresh, keys: 0b0110 }));
      const next = { day: '2026-11-16', sinceDay: '2026-11-16', days: 1, swept: 1, earned: false } as const;
      await learn(guests(1, { ...next, keys: 0 }), [], '2026-11-16');
      // One of the unlisted is listed now, the other was seen again.
      await learn(guests(1, { ...next, keys: 0 }, 'i'), [], '2026-11-16');
      await learn(guests(2, { ...next, ...unlisted, swept: 2 }, 'i').slice(1));
      const groups = async () =>
        (await store.listHosts(1, 1))[0]!.groups
          .map(({ listed, corroborated, earned, swept, keys, sinceDay, days, count }) =>
            [listed, corroborated, earned, swept, keys, sinceDay, days, count].join(' '),
          )
          .sort();
      expect(await groups()).toEqual([
        `false false false 0 0 ${DAY} 2 1`,
        `true false false 2 0 2026-08-17 4 2`,
        `true true false 0 7 ${DAY} 1 2`,
        `true true false 1 0 ${DAY} 2 1`,
        `true true false 1 7 ${DAY} 2 1`,
      ]);
      // Every one that is listed, by the name in the lists.
      const entries = async () =>
        (await store.listHosts(1, 1))[0]!.groups
          .map(one => `${one.listed} ${one.count} ${one.entries}`)
          .sort();
      expect(await entries()).toEqual([
        'false 1 ',
        'true 1 d0.com',
        'true 1 i0.com',
        'true 2 d1.com d2.com',
        'true 2 s0.com s1.com',
      ]);
      // Of what is no longer listed no key is kept.
      await learn(guests(3, { ...next, ...unlisted }));
      await learn(guests(1, { ...next, day: '2026-11-18', keys: 0b1000 }), [], '2026-11-18');
      expect(await groups()).toContain(`true true false 1 8 ${DAY} 3 1`);
      // The first sweep says that it was there before; a day before the last one is not counted again.
      await learn(guests(1, { ...next, sinceDay: '2026-10-16', keys: 0 }));
      expect(await groups()).toContain(`true true false 1 8 2026-10-16 3 1`);
    });

    test('guests that are unlisted are told by their names where they were seen on three days, and nobody else is', async () => {
      const { store, learn } = await learning();
      const unlisted = { entry: null, corroborated: null, keys: null, earnedBy: null } as const;
      await learn([
        ...guests(2),
        ...guests(2, { ...unlisted, days: 3 }, 'seen'),
        ...guests(1, { ...unlisted, days: 30 }, 'often'),
        ...guests(1, { ...unlisted, days: 2 }, 'twice'),
        ...guests(1, { ...unlisted, days: null }, 'before'),
      ]);
      const [host] = await store.listHosts(1, 1);
      expect(host!.groups.map(({ entries }) => entries).sort()).toEqual([
        ...['', '', 'd0.com d1.com', 'often0.com seen0.com seen1.com'],
      ]);
      expect(host!.neighbours).toEqual(['d0.com', 'd1.com']);
    });

    test.each([
      ['seen by fresh lists on the last day that counts', 2, DAY, true],
      ['not on the day after', 2, '2026-11-16', false],
      ['not by lists that were left alone', 0, DAY, false],
      ['not by a sweep', 1, DAY, false],
    ] as const)(
      'a guest has earned it by being here before it was listed: %s',
      async (_, swept, sinceDay, earned) => {
        const { store, learn } = await learning();
        await learn(
          guests(1, { entry: null, sinceDay, swept, keys: null, corroborated: null, earned: false }),
        );
        const listed = { day: '2026-11-24', sinceDay: '2026-11-24', earned: false, earnedBy: DAY };
        for (let again = 0; again < 2; again++) {
          await learn(guests(1, listed), [], '2026-11-24');
          expect((await store.listHosts(1, 1))[0]!.groups).toMatchObject([{ earned, swept, sinceDay }]);
        }
        await learn(
          guests(1, { ...listed, domain: 'never-seen.com', entry: 'never-seen.com', host: 'mx.other.net' }),
        );
        expect(
          (await store.listHosts(1, 2)).find(({ name }) => name === 'mx.other.net')!.groups,
        ).toMatchObject([{ earned: false }]);
      },
    );

    test('a listed name that an earlier version kept under its whole domain counts once', async () => {
      const { store, learn } = await learning();
      const entry = 'a.shared.net';
      await learn(['shared.net', '*.shared.net'].flatMap(domain => guests(1, { domain, entry })));
      expect((await store.listHosts(1, 1))[0]!.groups.map(({ count }) => count)).toEqual([1]);
    });

    test('hosts can be read one by one, each made when it is asked for, and again', async () => {
      const { store, learn } = await learning();
      await learn(['a', 'b', 'c'].flatMap((host, at) => guests(3 + at, { host })));
      const read = await store.readHosts(4, 10);
      const all = [...read];
      expect(all).toEqual(await store.listHosts(4, 10));
      expect(all.map(({ name }) => name)).toEqual(['c', 'b']);
      const again = [...read];
      expect(again).toEqual(all);
      expect(again[0]).not.toBe(all[0]);
      expect([...(await store.readHosts(100, 10))]).toEqual([]);
    });

    test('hosts are shown from a number on, the most first, at most so many hosts', async () => {
      const { store, learn } = await learning();
      for (const [host, count] of [
        ['a', 3],
        ['b', 9],
        ['c', 6],
      ] as const)
        await learn(guests(count, { host }));
      expect((await store.listHosts(4, 10)).map(({ name }) => name)).toEqual(['b', 'c']);
      expect((await store.listHosts(1, 1)).map(({ name }) => name)).toEqual(['b']);
    });

    test('listed guests of one host are bounded, others are not; those that are there are still refreshed', async () => {
      const { store, learn, counts } = await learning();
      const most = LEARNING.mostGuests;
      await learn([...guests(most + 500), ...guests(most + 500, { entry: null }, 'i')]);
      // Whoever is not kept is never established.
      await learn(guests(most + 500, { host: 'mx.quiet.net', entry: null }));
      await learn(guests(1, { host: 'mx.quiet.net' }, 'listed'));
      expect(await counts()).toEqual([
        ['mx.box.net', most, most + 500],
        ['mx.quiet.net', 1, most + 500],
      ]);
      await learn(guests(1, { day: '2026-11-16' }), [], '2026-11-16');
      expect((await store.listHosts(1, 1))[0]).toMatchObject({ flagged: most, lastDay: '2026-11-16' });
    });

    test('innocent guests beside many listed ones are all counted', async () => {
      const { store, learn } = await learning();
      const innocents = guests(2_100, { entry: null, corroborated: null, keys: null }, 'i');
      await learn(guests(100, { keys: 0xffff }));
      await learn(innocents.slice(0, 1_500));
      await learn(innocents.slice(1_500));
      const [host] = await store.listHosts(1, 1);
      expect(host).toMatchObject({ flagged: 100, innocent: 2_100 });
      expect(sumOf(host!, DAY)).toBeLessThan(0);
    });

    test('a domain is a guest at forty hosts: where it was seen by several, on most days, and last', async () => {
      const { store, learn } = await learning();
      const most = LEARNING.mostHostsOfOne;
      const at = (hosts: readonly string[], facts: Partial<Guest> = {}) =>
        hosts.map(host =>
          guestOf({
            host,
            domain: 'd.com',
            entry: 'd.com',
            day: DAY,
            days: 1,
            keys: 0b1,
            swept: 0,
            ...facts,
          }),
        );
      const named = (prefix: string, count: number) => upTo(count).map(each => `${prefix}${each}.net`);
      const hosts = async () => (await store.listHosts(1, 100)).map(({ name }) => name).sort();
      const steady = named('steady', 3);
      for (const day of ['2026-11-12', '2026-11-13', '2026-11-14']) await learn(at(steady, { day }), [], day);
      await learn(at(['two-keys.net'], { day: '2026-11-01', keys: 0b11 }));
      await learn(at(['swept.net'], { day: '2026-11-01', swept: 1 }));
      await learn(at(named('old', most), { day: '2026-11-02' }));
      const kept = [...steady, 'swept.net', 'two-keys.net'];
      expect((await hosts()).filter(host => !host.startsWith('old'))).toEqual(kept);
      expect(await hosts()).toHaveLength(most);
      // What is met today takes the place of what was met once, long ago: who moves is learned where he is.
      await learn(at([...named('new', most), '*.new.net']));
      expect(await hosts()).toHaveLength(most);
      const now = await hosts();
      expect(now.filter(host => host.startsWith('old'))).toEqual([]);
      expect(now).toEqual(expect.arrayContaining([...kept, '*.new.net']));
      // Others are none the worse.
      await learn(guests(2, { host: 'old1.net' }, 'other'));
      expect(await hosts()).toHaveLength(most + 1);
    });

    test('below a suffix each registered name is a guest at forty hosts, and all of them at a thousand, one before a second', async () => {
      const { store, learn } = await learning();
      const { mostHostsOfOne: most, mostHostsOfSuffix } = LEARNING;
      const at = (registered: string, count: number, facts: Partial<Guest> = {}) =>
        upTo(count).map(each => {
          const [host, domain] = [`${registered}.h${each}.net`, 'gr.com'];
          return guestOf({ host, domain, entry: null, day: DAY, days: 1, swept: 2, registered, ...facts });
        });
      const days = ['2026-10-01', '2026-10-02', '2026-10-03'];
      const seen = async (guests: (day: string) => Guest[]) => {
        for (const day of days) await learn(guests(day), [], day);
      };
      const kept = async () => {
        const lines = (await store.established('2026-12-01')).split('\n').filter(line => line !== '');
        return Object.groupBy(lines, line => line.split('.')[0]!);
      };
      const crowd = upTo(mostHostsOfSuffix / most).map(each => `crowd${each}`);
      await seen(day => at('evil', most + 5, { day, sinceDay: day }));
      // With as many for all, whoever had those had nobody else established there.
      await seen(day => at('firma', 3, { day, sinceDay: day }));
      expect(Object.entries(await kept()).map(([name, lines]) => [name, lines!.length])).toEqual([
        ['evil', most],
        ['firma', 3],
      ]);
      await seen(day => crowd.flatMap(name => at(name, most, { day, sinceDay: day })));
      await seen(day => at('praxis', 3, { day, sinceDay: day }));
      const all = await kept();
      expect(Object.values(all).flat()).toHaveLength(mostHostsOfSuffix);
      expect([all.firma?.length, all.praxis?.length]).toEqual([3, 3]);
    });

    test('tells who was seen on three days or more, a month apart, at hosts and at own hosts, and which keys ask for listed names below', async () => {
      const { store, learn } = await learning();
      const old = '2026-10-01';
      const firm = (domain: string, host: string, facts: Partial<Guest> = {}) =>
        guestOf({ host, domain, entry: null, day: DAY, sinceDay: old, days: 3, ...facts });
      const farm = (host: string, facts: Partial<Guest> = {}) =>
        guestOf({
          ...{ host, domain: '*.farm.net', entry: 'a.farm.net', day: DAY, sinceDay: old },
          ...{ keys: 0b101, ...facts },
        });
      await learn([
        ...['mx.box.net', '*.box.net'].flatMap(host => [firm('b.com', host), firm('a.com', host)]),
        firm('a.com', '5.61.1.1', { via: 'box.net' }),
        firm('z.com', 'a.net'),
        firm('young.com', 'mx.box.net', { sinceDay: '2026-10-17' }),
        firm('seldom.com', 'mx.box.net', { days: 2 }),
        firm('farm.net', 'own@5.61.1.2'),
        firm('farm.net', 'own@5.61.1.3'),
        farm('own@5.61.1.2'),
        farm('mx.box.net', { days: 3 }),
        farm('*.box.net', { corroborated: false }),
        guestOf({ host: 'mx.box.net', domain: 'burn.com', entry: 'burn.com', day: DAY, sinceDay: old }),
      ]);
      expect(await store.established('2026-11-15')).toBe(
        [
          '*.box.net a.com b.com ',
          'a.net z.com ',
          'mx.box.net a.com b.com ',
          'own@farm.net *.farm.net=5 farm.net ',
        ].join('\n'),
      );
    });

    test('where there are more hosts than are read, those come first that several have seen', async () => {
      const { store, learn } = await learning();
      const seen = (host: string, ...facts: Partial<Guest>[]) =>
        facts.map((each, at) => {
          const domain = `${host}-${at}.com`;
          return guestOf({ host, domain, entry: domain, day: DAY, swept: 0, ...each });
        });
      const alone = { keys: 0b100 };
      await learn([
        ...seen('a-crowd.net', alone, alone, alone, alone, alone, alone),
        ...seen('b-crowd.net', alone, alone, alone, alone, alone, alone),
        ...seen('keys.net', { keys: 0b1 }, { keys: 0b10 }, { keys: 0b100 }),
        ...seen('together.net', { keys: 0b11 }, { keys: 0b11 }, { keys: 0b11 }, { keys: 0b11 }),
        ...seen('swept.net', { keys: 0, swept: 1 }, { keys: 0, swept: 1 }, { keys: 0, swept: 1 }),
      ]);
      const read = async (most: number) => (await store.listHosts(2, most)).map(({ name }) => name);
      expect(await read(1)).toEqual(['together.net']);
      expect(await read(2)).toEqual(['together.net', 'swept.net']);
      expect(await read(3)).toEqual(['together.net', 'keys.net', 'swept.net']);
      expect(await read(4)).toEqual(['a-crowd.net', 'together.net', 'keys.net', 'swept.net']);
      expect(await read(5)).toEqual(['a-crowd.net', 'b-crowd.net', 'together.net', 'keys.net', 'swept.net']);
    });

    test('a forgotten host takes no guests until that is undone', async () => {
      const { store, learn, counts } = await learning();
      await learn(guests(20));
      expect(await store.forgetHost('mx.box.net', 1, ACT)).toBe(true);
      await learn(guests(20));
      expect(await store.listHosts(1, 10)).toMatchObject([
        { name: 'mx.box.net', flagged: 0, forgotten: true },
      ]);
      expect(await store.forgetHost('mx.box.net', null, ACT)).toBe(true);
      expect(await store.listHosts(1, 10)).toEqual([]);
      await learn(guests(20));
      expect(await counts()).toEqual([['mx.box.net', 20, 0]]);
      expect(await store.forgetHost('mx.other.net', 1, ACT)).toBe(false);
    });

    test('a forgotten host is read before all others, however many there are', async () => {
      const { store, learn } = await learning();
      await learn(guests(3).map(guest => ({ ...guest, host: 'mx.taken-out.net' })));
      expect(await store.forgetHost('mx.taken-out.net', 1, ACT)).toBe(true);
      await learn(guests(20));
      expect(await store.listHosts(1, 1)).toMatchObject([{ name: 'mx.taken-out.net', forgotten: true }]);
      const both = await store.listHosts(1, 2);
      expect(both.map(({ name }) => name)).toEqual(['mx.box.net', 'mx.taken-out.net']);
    });

    test('all that must not be learned is told, whether it has guests or not, but hosts of their own', async () => {
      const { store, learn } = await learning();
      expect(await store.sharedNames()).toBe('');
      await learn(guests(2), ['mx.box.net', '*.box.net', '5.61.1.1', 'own@5.61.1.1', '2a00:1::1']);
      const names = (await store.sharedNames()).split(' ').sort();
      expect(names).toEqual(['*.box.net', '2a00:1::1', '5.61.1.1', 'mx.box.net']);
    });

    test('that a host is shared lasts until an operator undoes it, and its guests stay', async () => {
      const { store, learn } = await learning();
      await learn(guests(20), ['mx.box.net']);
      expect(await store.listHosts(1, 10)).toMatchObject([{ name: 'mx.box.net', flagged: 20, shared: true }]);
      expect(await store.forgetHost('mx.box.net', null, ACT)).toBe(true);
      expect(await store.listHosts(1, 10)).toMatchObject([
        { name: 'mx.box.net', flagged: 20, shared: false },
      ]);
      await learn([], ['mx.box.net']);
      expect(await store.listHosts(1, 10)).toMatchObject([{ shared: true }]);
    });

    test('guests and hosts are forgotten when they were not seen for long', async () => {
      const { store, learn, counts } = await learning();
      const on = (day: string, since: string, rows: readonly Guest[], shared: string[] = []) =>
        learn(rows, shared, day, since);
      await on('2026-08-01', '2026-05-03', guests(600, { day: '2026-08-01' }));
      await on('2026-11-14', '2026-08-16', guests(2, { day: '2026-11-14' }, 'late'));
      await on(DAY, SINCE, guests(2, { day: DAY }, 'late'), ['5.61.1.1', 'mx.box.net']);
      expect(await counts()).toEqual([['mx.box.net', 2, 0]]);
      // That it must not be learned lasts no longer than a guest does who says so.
      const shared = async () => (await store.listHosts(1, 10)).map(host => [host.flagged, host.shared]);
      for (const day of ['2027-02-01', '2027-02-02']) await on(day, SINCE, guests(2, { day }, 'late'));
      expect(await shared()).toEqual([[2, true]]);
      for (const day of ['2027-03-01', '2027-03-02']) await on(day, '2026-12-01', guests(2, { day }, 'late'));
      expect(await shared()).toEqual([[2, false]]);
      expect(await store.forgetHost('5.61.1.1', 1, ACT)).toBe(false);
      const other = (day: string) => guests(1, { host: 'mx.other.net', entry: null, day });
      for (const day of ['2028-01-01', '2028-01-02']) await on(day, '2027-10-03', other(day));
      expect(await counts()).toEqual([]);
      expect(await store.forgetHost('mx.box.net', 1, ACT)).toBe(false);
    });

    test('one day of a clock that is far ahead makes nobody forgotten', async () => {
      const { store, learn, counts } = await learning();
      await learn(guests(20), ['mx.box.net', '5.61.1.1']);
      const other = (day: string) => guests(1, { host: 'mx.other.net', day });
      for (let flush = 0; flush < 3; flush++)
        await learn(other('2027-09-11'), [], '2027-09-11', '2027-06-13');
      await learn(other('2026-11-16'), [], '2026-11-16', '2026-08-18');
      expect(await counts()).toEqual([
        ['mx.box.net', 20, 0],
        ['mx.other.net', 1, 0],
      ]);
      expect((await store.sharedNames()).split(' ').sort()).toEqual(['5.61.1.1', 'mx.box.net']);
    });

    test('nor does it where only shared hosts are known', async () => {
      const { store, learn } = await learning();
      await learn([], ['5.61.1.1']);
      await learn([], [], '2027-09-11', '2027-06-13');
      expect(await store.sharedNames()).toBe('5.61.1.1');
    });

    test('several servers learn of one host at a time and its counts are those of its guests', async () => {
      const stores = await servers();
      await Promise.all(
        stores.map((store, at) =>
          store.learn(
            [...guests(300), ...guests(100, { entry: null }, `i${at}-`)].reverse(),
            ['mx.s.net'],
            DAY,
            SINCE,
          ),
        ),
      );
      expect(await stores[0].listHosts(1, 10)).toMatchObject([{ flagged: 300, innocent: 300 }]);
    });

    test('where a host is, is what was said last, and when it was met does not go back', async () => {
      const store = await empty();
      const all = async (since = SINCE) =>
        [...(await store.whereabouts(since))].sort((x, y) => (x.host < y.host ? -1 : 1));
      const box = { host: 'mx.box.net', below: 'box.net', addresses: '5.61.1.1 2a00:1::1', day: DAY };
      const none = { host: 'none.box.net', below: 'box.net', addresses: '', day: '2026-11-14' };
      await store.keepWhereabouts([box, none], SINCE);
      expect([await all(), await all(DAY)]).toEqual([[box, none], [box]]);
      const moved = { ...box, addresses: '5.61.1.2', day: '2026-11-01' };
      await store.keepWhereabouts([moved, { ...none, day: '2026-11-16' }], SINCE);
      expect(await all()).toEqual([
        { ...moved, day: DAY },
        { ...none, day: '2026-11-16' },
      ]);
      // A clock may have jumped: a second day has to say the same.
      await store.keepWhereabouts([{ ...none, day: '2027-11-16' }], '2027-10-17');
      expect(await all()).toHaveLength(2);
      await store.keepWhereabouts([], '2027-10-18');
      expect(await all()).toEqual([{ ...none, day: '2027-11-16' }]);
    });

    test('where hosts are is kept of so many below one domain, and in all, that were met last', async () => {
      const store = await empty();
      const { most, mostBelowOne } = WHEREABOUTS;
      const at = (host: string, below: string, day = DAY) => ({ host, below, addresses: '5.61.1.1', day });
      const hosts = async () => [...(await store.whereabouts(SINCE))].map(({ host }) => host);
      const old = upTo(10).map(n => at(`old${n}.box.net`, 'box.net', '2026-11-14'));
      await store.keepWhereabouts(old, SINCE);
      await store.keepWhereabouts(
        upTo(mostBelowOne - 1).map(n => at(`mx${n}.box.net`, 'box.net')),
        SINCE,
      );
      const left = await hosts();
      expect([left.length, left.filter(host => host.startsWith('old')).length]).toEqual([mostBelowOne, 1]);
      await store.keepWhereabouts(
        upTo(most).map(n => at(`mx.d${n}.net`, `d${n}.net`, '2026-11-16')),
        SINCE,
      );
      expect((await hosts()).filter(host => !host.startsWith('mx.d'))).toEqual([]);
      expect(await hosts()).toHaveLength(most);
    });

    test('of where hosts are, what one party makes goes: many below one domain, met on one day, that are nowhere', async () => {
      const store = await empty();
      const { most, mostBelowOne } = WHEREABOUTS;
      const at = (host: string, below: string, addresses: string, day = DAY) => ({
        ...{ host, below, addresses, day },
      });
      const hosts = async () => new Set([...(await store.whereabouts(SINCE))].map(({ host }) => host));
      const known = at('zz.box.net', 'box.net', '5.61.1.1');
      for (const day of ['2026-11-14', DAY]) await store.keepWhereabouts([{ ...known, day }], SINCE);
      // By the alphabet all of these are before it, and as young.
      const beside = upTo(mostBelowOne).map(n => at(`mx${n}.box.net`, 'box.net', '5.61.1.1'));
      await store.keepWhereabouts([...beside, at('zz.once.net', 'once.net', '5.61.1.1')], SINCE);
      expect(await hosts()).toContain('zz.box.net');
      const paid = upTo(most / mostBelowOne).flatMap(domain =>
        upTo(mostBelowOne).map(n => at(`a${n}.d${domain}.net`, `d${domain}.net`, '5.61.1.2')),
      );
      await store.keepWhereabouts(paid, SINCE);
      expect([...(await hosts())]).toEqual(expect.arrayContaining(['zz.box.net', 'zz.once.net']));
      await store.keepWhereabouts(
        upTo(most).map(n => at(`a.dead${n}.net`, `?${n}`, '', '2026-11-16')),
        SINCE,
      );
      const left = await hosts();
      expect(left.size).toBe(most);
      expect([...left].filter(host => host.startsWith('a.dead'))).toEqual([]);
    });

    test('the mark of the sweep is the last one that was set', async () => {
      const store = await empty();
      expect(await store.sweepMark()).toBeUndefined();
      const mark = {
        generation: 'abc',
        last: '1 x.com',
        endedAt: null,
        firstEndedAt: null,
        dead: null,
      };
      await store.markSweep(mark);
      expect(await store.sweepMark()).toEqual(mark);
      const next = {
        ...mark,
        last: '1 y.com',
        endedAt: 7,
        firstEndedAt: 7,
        dead: 'AQIDBA==',
      };
      await store.markSweep(next);
      expect(await store.sweepMark()).toEqual(next);
    });
  });

  test('the key that filters are signed with is the first one that anybody made, whoever comes at once', async () => {
    const [one, other] = await servers();
    const stores = [one, other] as const;
    const [first, ...rest] = await Promise.all(
      Array.from({ length: 6 }, (_, at) => stores[at % 2]!.signingKey(`key-${at}`)),
    );
    expect(first).toMatch(/^key-\d$/);
    expect(rest).toEqual(rest.map(() => first));
    expect(await stores[0].signingKey('later')).toBe(first);
  });

  describe('days', () => {
    test('each counted call is in the row of its day, and the days of a month add up to its count', async () => {
      const { store, key, revision } = await withKey({ quota: 10 });
      const other = someKey();
      await store.createKey(other, ACT);
      const now = await store.revision();
      expect(now).not.toBe(revision);
      const spend = (keyId: string, day: string, quota: number | null) =>
        spendOne(store, { keyId, day, quota }, now);
      for (const day of ['2026-10-31', '2026-11-01', '2026-11-01', '2026-11-15'])
        await spend(key.id, day, 10);
      // At once and more than is left: what is refused is on no day.
      await Promise.all(Array.from({ length: 20 }, () => spend(key.id, '2026-11-15', 10)));
      await Promise.all(Array.from({ length: 5 }, () => spend(other.id, '2026-11-15', null)));
      const days = [
        { keyId: key.id, day: '2026-11-01', used: 2 },
        { keyId: key.id, day: '2026-11-15', used: 8 },
      ];
      expect(await store.usageDays('2026-11-01', key.id)).toEqual(days);
      expect(await store.used(key.id, '2026-11')).toBe(10);
      expect(await store.usageDays('2026-10-31', key.id)).toHaveLength(3);
      expect(await store.usageDays('2026-11-16', key.id)).toEqual([]);
      const uses = await readAll(store, { month: '2026-11', sinceDay: '2026-11-01' });
      expect(uses.map(({ key: { id }, used, days: byDay }) => [id, used, byDay])).toEqual(
        [
          [key.id, 10, { '2026-11-01': 2, '2026-11-15': 8 }],
          [other.id, 5, { '2026-11-15': 5 }],
        ].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      );
    });

    test('calls on both sides of midnight that come together are all counted', async () => {
      const { store, key, revision } = await withKey();
      const days = ['2026-11-14', '2026-11-15', '2026-11-30', '2026-12-01'];
      await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          spendOne(store, { keyId: key.id, day: days[i % 4]!, quota: null }, revision),
        ),
      );
      expect([await store.used(key.id, '2026-11'), await store.used(key.id, '2026-12')]).toEqual([30, 10]);
      const counted = await store.usageDays('2026-11-01', key.id);
      expect(counted.reduce((sum, { used }) => sum + used, 0)).toBe(40);
      expect(counted.find(({ day }) => day === '2026-12-01')?.used).toBe(10);
    });

    test('days that nobody can ask for any more are forgotten, the count of their month is not', async () => {
      // A store of its own: one that has forgotten them on this day already does not look again.
      const store = await (await makePlace())();
      const key = someKey();
      await store.createKey(key, ACT);
      const revision = await store.revision();
      for (const day of ['2026-10-16', '2026-10-17', '2026-11-14'])
        await spendOne(store, { keyId: key.id, day, quota: null }, revision);
      await store.flag([flagOf({})], '2026-10-17');
      expect((await store.usageDays('2026-01-01', key.id)).map(({ day }) => day)).toEqual([
        '2026-10-17',
        '2026-11-14',
      ]);
      expect(await store.used(key.id, '2026-10')).toBe(2);
    });

    test('a clock that jumped takes neither days nor flags away until a second day says the same', async () => {
      const { store, key, revision } = await withKey();
      const live = async (day: string, sinceDay: string) => {
        await spendOne(store, { keyId: key.id, day, quota: null }, revision);
        await store.flag([flagOf({ listed: true, day })], sinceDay);
        const [ranked] = await store.ranking('2026-01-01', 10, undefined);
        return [(await store.usageDays('2026-01-01', key.id)).length, ranked!.times];
      };
      expect(await live('2026-11-15', '2026-10-17')).toEqual([1, 1]);
      expect(await live('2027-11-16', '2027-10-18')).toEqual([2, 2]);
      expect(await live('2026-11-16', '2026-10-18')).toEqual([3, 3]);
      expect(await live('2027-11-17', '2027-10-19')).toEqual([2, 2]);
    });
  });

  describe('the audit', () => {
    const act = (action: Action, subject: string, at: number): Act => ({
      ...{ at, who: 'anna', via: '192.0.2.7', action, subject },
      detail: `<b>${subject}</b>`,
    });

    test('tells of every change, the newest first, and of nothing that did not happen', async () => {
      const store = await empty();
      const key = someKey();
      const override: Override = {
        ...{ domain: 'a.example', action: 'deny' as const, below: false, note: null, author: null },
        ...{ createdAt: 1, expiresAt: null },
      };
      await store.learn(
        [guestOf({ host: 'mx.box.net', domain: 'a.com', entry: 'a.com', day: DAY })],
        [],
        DAY,
        '2026-05-01',
      );
      const acts = [
        act('key.create', key.id, 10),
        act('key.update', key.id, 11),
        act('override.set', 'a.example', 12),
        act('override.remove', 'a.example', 12),
        act('host.forget', 'mx.box.net', 13),
        act('feed.update', 'castle', 14),
        act('feed.remove', 'castle', 15),
      ];
      const did = [...acts];
      const next = () => did.shift()!;
      await store.createFirstKey(key, next());
      await store.updateKey({ ...key, quota: 5 }, key, next());
      await store.setOverride(override, next());
      await store.removeOverride('a.example', next());
      await store.forgetHost('mx.box.net', 1, next());
      await store.acceptSnapshot(someSnapshot(), null, next());
      await store.swapSnapshot('castle', null, someSnapshot().digest, next());

      const never = act('key.revoke', 'never', 99);
      expect(await store.createFirstKey(someKey(), never)).toBe(false);
      expect(await store.updateKey({ ...key, quota: 6 }, key, never)).toBe(false);
      expect(await store.removeOverride('a.example', never)).toBe(false);
      expect(await store.forgetHost('mx.none.net', 1, never)).toBe(false);
      expect(await store.acceptSnapshot(someSnapshot(), 'another', never)).toBe(false);
      expect(await store.swapSnapshot('castle', null, 'another', never)).toBe(false);
      await expect(store.createKey(key, never)).rejects.toThrow();

      const told = acts
        .map(one => (one.action === 'override.remove' ? { ...one, detail: `deny → ${one.detail}` } : one))
        .reverse();
      expect(await store.audit(100)).toEqual(told);
      expect(await store.audit(2)).toEqual(told.slice(0, 2));
    });

    test('has what stood in the place of an override, whoever set it, however it came there', async () => {
      const [store, other] = await servers();
      const word = { domain: 'a.com', below: true, note: 'ask "Ann"', author: 'ann', expiresAt: null };
      const imported: Override = { ...word, action: 'deny', createdAt: 1 };
      const { mark } = await store.readOverrides(undefined);
      await store.setOverrides([imported], mark, ACT);
      await other.setOverride(
        { ...imported, action: 'allow', note: null, author: null },
        { ...ACT, detail: 'allow' },
      );
      await store.removeOverride('a.com', ACT);
      expect((await store.audit(2)).map(({ detail }) => detail)).toEqual([
        'allow, with subdomains',
        'deny, with subdomains, note "ask \\"Ann\\"", by ann → allow',
      ]);
    });
  });

  describe('names and last uses of keys', () => {
    test('a name that must be unique is given once, however many ask for it at once, and again after a revocation', async () => {
      const [one, other] = await servers();
      const stores = [one, other] as const;
      const keys = Array.from({ length: 6 }, () => someKey({ name: 'web' }));
      const made = await Promise.all(keys.map((key, at) => stores[at % 2]!.createKey(key, ACT, true)));
      expect(made.filter(Boolean)).toHaveLength(1);
      const [key] = await stores[0].listKeys();
      expect(await stores[0].audit(9)).toHaveLength(1);
      // Those who do not ask for that are as before.
      expect(await stores[0].createKey(someKey({ name: 'web' }), ACT)).toBe(true);
      for (const one of await stores[0].listKeys())
        await stores[0].updateKey({ ...one, revokedAt: 5 }, one, ACT);
      expect(await stores[1].createKey(someKey({ name: key!.name }), ACT, true)).toBe(true);
    });

    test('the last use of a key is known, and counting is all that it takes', async () => {
      const { store, key } = await withKey();
      const other = someKey();
      await store.createKey(other, ACT);
      const lastUses = async () => new Map((await readAll(store)).map(one => [one.key.id, one.lastUsedAt]));
      expect([...(await lastUses()).values()]).toEqual([null, null]);
      const before = Date.now();
      const revision = await store.revision();
      await spendOne(store, { keyId: key.id, day: DAY, quota: null }, revision);
      await spendOne(store, { keyId: key.id, day: '2026-10-31', quota: null }, revision);
      await spendOne(store, { keyId: other.id, day: DAY, quota: 0 }, revision);
      const uses = await lastUses();
      expect(uses.get(other.id)).toBeNull();
      expect(uses.get(key.id)).toBeGreaterThanOrEqual(before - 5);
      expect(uses.get(key.id)).toBeLessThanOrEqual(Date.now() + 5);
    });
  });

  describe('operators', () => {
    test('one name is one operator until revoked, every change is audited, and all servers see it', async () => {
      const [one, other] = await servers();
      const ada = { name: 'Ada', digest: 'a', createdAt: 1, revokedAt: null };
      const act = (action: Action) => ({ ...ACT, action, subject: 'Ada' });
      expect(await one.addOperator(ada, act('operator.add'))).toBe(true);
      for (const name of ['Ada', 'ada', 'ＡＤＡ'])
        expect(await other.addOperator({ ...ada, name, digest: 'b' }, act('operator.add'))).toBe(false);
      expect(await other.listOperators()).toEqual([ada]);
      expect(await other.revokeOperator('Bob', 5, act('operator.revoke'))).toBe(false);
      expect(await other.revokeOperator('Ada', 5, act('operator.revoke'))).toBe(true);
      expect(await one.revokeOperator('Ada', 6, act('operator.revoke'))).toBe(false);
      expect(await one.listOperators()).toEqual([{ ...ada, revokedAt: 5 }]);
      expect(await one.addOperator({ ...ada, digest: 'c' }, act('operator.add'))).toBe(true);
      expect(await other.listOperators()).toEqual([{ ...ada, digest: 'c' }]);
      expect(await one.audit(9)).toHaveLength(3);
    });
  });

  describe('decisions', () => {
    const decided = (at: number, domain: string, keyId = 'key_1'): Decision => ({
      ...{ at, keyId, domain, score: 90, reason: 'disposable', snapshot: 'aa67', degraded: at % 2 === 1 },
    });

    test('are found by domain, key and time, the newest first and page by page, and go when they are too old', async () => {
      const [one, other] = await servers();
      await one.writeDecisions([decided(1, 'a.com'), decided(2, 'b.com', 'key_2')], 10, 10);
      await other.writeDecisions([decided(3, 'a.com', 'key_2'), decided(4, 'c.com')], 10, 10);
      await one.writeDecisions([], 10, 10);
      const found = async (query: Partial<DecisionQuery>) =>
        (await one.decisions({ since: 0, most: 10, ...query })).map(({ at }) => at);
      expect(await found({})).toEqual([4, 3, 2, 1]);
      const [newest] = await one.decisions({ since: 0, most: 1 });
      const { id, ...rest } = newest!;
      expect(rest).toEqual(decided(4, 'c.com'));
      expect(await found({ before: id, most: 2 })).toEqual([3, 2]);
      expect(await found({ domain: 'a.com' })).toEqual([3, 1]);
      expect(await found({ keyIds: ['key_2', 'key_3'] })).toEqual([3, 2]);
      expect(await found({ keyIds: [] })).toEqual([]);
      expect(await found({ since: 3, domain: 'a.com', keyIds: ['key_2'] })).toEqual([3]);
      await other.writeDecisions([decided(5, 'd.com')], 10, 7);
      expect(await found({})).toEqual([5, 4, 3]);
    });

    test('of many that are too old some go at a time, and it is told that more have to', async () => {
      const store = await empty();
      const old = Array.from({ length: FORGOTTEN_AT_ONCE + 1 }, (_, at) => decided(at, 'old.com'));
      for (let at = 0; at < old.length; at += DECISIONS_AT_ONCE)
        expect(await store.writeDecisions(old.slice(at, at + DECISIONS_AT_ONCE), 9_000, 9_000)).toBe(false);
      expect(await store.writeDecisions([decided(9_000, 'new.com')], 9_000, 1_000)).toBe(true);
      expect(await store.writeDecisions([], 9_000, 1_000)).toBe(false);
      expect((await store.decisions({ since: 0, most: 9 })).map(({ at }) => at)).toEqual([9_000]);
    });

    test('stay when the clock jumps, until a second day says the same', async () => {
      const store = await empty();
      const month = 30 * 86_400_000;
      const now = Date.UTC(2026, 10, 16);
      await store.writeDecisions([decided(now, 'a.com')], now, month);
      const ahead = now + 2 * month;
      await store.writeDecisions([decided(ahead, 'b.com')], ahead, month);
      await store.writeDecisions([decided(ahead + 1, 'b.com')], ahead + 1, month);
      expect(await store.decisions({ since: 0, most: 9 })).toHaveLength(3);
      await store.writeDecisions([], ahead + 1.1 * 86_400_000, month);
      expect(await store.decisions({ since: 0, most: 9 })).toHaveLength(2);
    });
  });

  describe('events', () => {
    test('are looked for among keys of whose quota or time not much is left, a few at a time', async () => {
      const store = await empty();
      const key = (id: string, limits: Partial<KeyRecord>) =>
        someKey({ id, digest: id, name: id, ...limits });
      const keys = [
        key('a', { quota: 5 }),
        key('b', { quota: 5 }),
        key('c', { quota: null }),
        key('d', { quota: 0 }),
        key('e', { expiresAt: 100 }),
        key('f', { expiresAt: 101 }),
        key('g', { expiresAt: 100, revokedAt: 50 }),
      ];
      for (const one of keys) await store.createKey(one, ACT);
      const revision = await store.revision();
      await spendMany(store, 4, 'a', 5, revision);
      await spendMany(store, 3, 'b', 5, revision);
      await spendMany(store, 9, 'c', null, revision);
      const query = { month: MONTH, share: 0.8, expiresBy: 100 };
      const ending = await store.endingKeys({ ...query, after: '' });
      expect(ending).toEqual([
        { key: keys[0], used: 4 },
        { key: keys[4], used: 0 },
      ]);
      expect(await store.endingKeys({ ...query, after: 'a' })).toEqual(ending.slice(1));
      expect(await store.endingKeys({ ...query, month: '2026-10', after: 'e' })).toEqual([]);
    });

    test('are raised once, by whoever comes first, and once more when they are forgotten', async () => {
      const [one, other] = await servers();
      const event = { id: 'feed.stale a 5', kind: 'feed.stale', subject: 'a', at: 10 } as const;
      const raised = await Promise.all([one, other, one].map(store => store.raiseEvent(event, 0)));
      expect(raised.filter(Boolean)).toHaveLength(1);
      expect(await other.raiseEvent({ ...event, at: 20 }, 10)).toBe(false);
      expect(await other.raiseEvent({ ...event, at: 20 }, 11)).toBe(true);
    });
  });

  describe('signs of life', () => {
    test('every server sees who else is there, by the clock of the store, until it leaves or is silent', async () => {
      const [one, other] = await servers();
      const sign = (id: string) => ({
        id,
        version: '1.2.3',
        host: 'a.example',
        startedAt: id === 'a' ? 1 : 2,
      });
      expect(await one.listServers()).toEqual([]);
      await one.showSign(sign('b'));
      await one.showSign(sign('b'));
      await other.showSign(sign('a'));
      const seen = await one.listServers();
      expect(seen).toEqual(['a', 'b'].map(id => ({ ...sign(id), seenAt: expect.any(Number) })));
      for (const { seenAt } of seen) expect(Math.abs(Date.now() - seenAt)).toBeLessThan(ALIVE_MS);
      await other.removeSign('a');
      expect((await other.listServers()).map(({ id }) => id)).toEqual(['b']);
    });
  });

  describe('snapshots of feeds', () => {
    test('the last accepted one of each feed is there, whole, for every server', async () => {
      const [one, other] = await servers();
      expect(await one.snapshots()).toEqual([]);
      expect(await one.snapshot('castle')).toBeUndefined();
      const first = someSnapshot({ body: 'x'.repeat(2 ** 20) });
      expect(await one.acceptSnapshot(first, null, ACT)).toBe(true);
      expect(await other.snapshot('castle')).toEqual(first);
      const second = someSnapshot({ digest: 'second', version: '2', names: 8, acceptedAt: 9 });
      expect(await other.acceptSnapshot(second, first.digest, ACT)).toBe(true);
      await one.acceptSnapshot(someSnapshot({ feed: 'another' }), null, ACT);
      const { body, ...head } = second;
      expect(await one.snapshots()).toEqual([{ feed: 'another', ...headOf(someSnapshot()) }, head]);
      expect((await one.snapshot('castle'))?.body).toBe(body);
      expect(await one.swapSnapshot('castle', null, second.digest, ACT)).toBe(true);
      expect((await other.snapshots()).map(({ feed }) => feed)).toEqual(['another']);
    });

    test('versions that a clock that was ahead has dated are those before the next, in their order', async () => {
      const store = await empty();
      const version = (acceptedAt: number) => someSnapshot({ digest: `d${acceptedAt}`, acceptedAt });
      const heads = async () =>
        (await store.pastSnapshots()).map(({ acceptedAt, digest }) => [acceptedAt, digest]);
      let was: string | null = null;
      for (const at of [100, 1_000, 1_001, 200]) {
        expect(await store.acceptSnapshot(version(at), was, ACT)).toBe(true);
        was = `d${at}`;
      }
      expect(await heads()).toEqual([
        [198, 'd1000'],
        [199, 'd1001'],
      ]);
    });

    test('the last three versions of each feed are kept, and there is a way between them', async () => {
      const store = await empty();
      const version = (acceptedAt: number, feed = 'castle') =>
        someSnapshot({ feed, digest: `d${acceptedAt}`, acceptedAt, body: `body ${acceptedAt}` });
      let was: string | null = null;
      for (const at of [1, 2, 3, 4]) {
        expect(await store.acceptSnapshot(version(at), was, ACT)).toBe(true);
        was = `d${at}`;
      }
      await store.acceptSnapshot(version(9, 'another'), null, ACT);
      const heads = async () => (await store.pastSnapshots()).map(({ acceptedAt }) => acceptedAt);
      expect(await store.pastSnapshots()).toEqual(
        [2, 3].map(at => ({ feed: 'castle', ...headOf(version(at)) })),
      );
      const acts = (await store.audit(100)).length;
      for (const [to, before] of [
        [version(3), 'd3'],
        [version(1), 'd4'],
        [{ ...version(3), digest: 'other' }, 'd4'],
      ] as const)
        expect(await store.swapSnapshot('castle', to, before, ACT)).toBe(false);
      expect(await store.audit(100)).toHaveLength(acts);

      expect(await store.swapSnapshot('castle', version(3), 'd4', ACT)).toBe(true);
      expect(await store.snapshot('castle')).toEqual(version(3));
      expect(await heads()).toEqual([2, 4]);
      // Between the read and the write of an update an operator went back.
      expect(await store.acceptSnapshot(version(5), 'd3', ACT, { unlessHeld: true })).toBe(false);
      expect(await store.swapSnapshot('castle', null, 'd3', ACT)).toBe(true);
      expect(await store.acceptSnapshot(version(5), null, ACT, { unlessHeld: true })).toBe(false);
      expect([await store.snapshot('castle'), await heads()]).toEqual([undefined, [2, 3, 4]]);
      expect([await store.snapshot('castle', 3), await store.snapshot('castle', 9)]).toEqual([
        ...[version(3), undefined],
      ]);
      expect(await store.swapSnapshot('castle', version(4), null, ACT)).toBe(true);
      expect([await store.snapshot('castle'), await heads()]).toEqual([version(4), [2, 3]]);
      await store.acceptSnapshot(version(5), 'd4', ACT);
      expect(await heads()).toEqual([3, 4]);
      // What was gone back from is left behind by the next version.
      expect(await store.swapSnapshot('castle', version(4), 'd5', ACT)).toBe(true);
      await store.acceptSnapshot(version(6), 'd4', ACT);
      expect(await heads()).toEqual([3, 4]);
      // The same once more is the newest then, and none to go back to.
      expect(await store.swapSnapshot('castle', version(4), 'd6', ACT)).toBe(true);
      await store.acceptSnapshot({ ...version(7), digest: 'd4' }, 'd4', ACT);
      expect([(await store.snapshot('castle'))?.acceptedAt, await heads()]).toEqual([7, [3]]);
    });

    test('one is accepted with what is noted of it in one step, unless an operator or another list came between', async () => {
      const store = await empty();
      const check = (approved: readonly string[] | null): FeedCheck => ({
        ...{ feed: 'castle', triedAt: 1, checkedAt: 1, added: 0, removed: 0, problem: null, trouble: null },
        ...{ waiting: null, approved, rejected: null, tag: null, fallback: null },
      });
      const accept = (where: Accepting) => store.acceptSnapshot(someSnapshot(), null, ACT, where);
      await store.acceptSnapshot(someSnapshot({ feed: 'another', digest: 'd1' }), null, ACT);
      const others = othersIn(await store.snapshots(), 'castle');
      await store.noteCheck(check(['a.com']));
      const acts = (await store.audit(100)).length;
      for (const [was, beside] of [
        [check(['b.com']), others],
        [null, others],
        [check(['a.com']), ''],
        [check(['a.com']), 'another d2'],
      ] as const)
        expect(await accept({ others: beside, check: { was, next: check(null) } })).toBe(false);
      expect([await store.snapshot('castle'), await store.feedChecks()]).toEqual([
        undefined,
        [check(['a.com'])],
      ]);
      expect(await store.audit(100)).toHaveLength(acts);
      expect(await accept({ others, check: { was: check(['a.com']), next: check(null) } })).toBe(true);
      expect(await store.feedChecks()).toEqual([check(null)]);
      expect(othersIn(await store.snapshots(), 'castle')).toBe(others);
    });

    test('of two updaters at once one wins, and the other learns of it', async () => {
      const [one, other] = await servers();
      const stores = [one, other] as const;
      const first = someSnapshot();
      await stores[0].acceptSnapshot(first, null, ACT);
      const accepted = await Promise.all(
        stores.map((store, at) =>
          store.acceptSnapshot(someSnapshot({ digest: `by ${at}` }), first.digest, ACT),
        ),
      );
      expect(accepted.sort()).toEqual([false, true]);
      expect(await stores[0].audit(10)).toHaveLength(2);
    });
  });

  describe('many overrides at once', () => {
    test('take the place of those of the same names, with one act and those of what they replaced, and raise the revision', async () => {
      const store = await empty();
      const of = (at: number, action: Override['action'] = 'deny'): Override => ({
        ...{ domain: `n${at}.com`, action, below: at % 2 === 0, note: at % 3 ? null : 'a, "b"' },
        ...{ author: 'op', createdAt: 5, expiresAt: at % 5 ? null : 9 },
      });
      const mark = async () => (await store.readOverrides(undefined)).mark;
      await store.setOverrides([of(3, 'allow'), of(9999, 'role')], await mark(), ACT);
      const before = await store.revision();
      const acts = (await store.audit(100)).length;
      const replaced = ['n3.com', 'n9999.com'].map(subject => ({ ...ACT, subject, detail: 'was allow' }));
      await store.setOverrides(
        upTo(2_500).map(at => of(at)),
        await mark(),
        ACT,
        replaced,
      );
      expect(await store.revision()).toBeGreaterThan(before);
      expect(await store.audit(100)).toHaveLength(acts + 3);
      expect((await store.audit(3)).toReversed()).toEqual([...replaced, ACT]);
      const overrides = [...(await store.listOverrides()).overrides];
      const byName = new Map(overrides.map(one => [one.domain, one]));
      expect(byName.size).toBe(2_501);
      for (const at of [1, 2, 3, 5, 2_500]) expect(byName.get(`n${at}.com`)).toEqual(of(at));
      expect(byName.get('n9999.com')).toEqual(of(9999, 'role'));
    });

    const word = { below: false, note: null, author: 'op', expiresAt: null } as const;
    const denied = (domain: string, author = 'op') => ({ ...word, domain, author, action: 'deny' as const });
    const importing = (store: Store, domains: readonly string[], author?: string) =>
      createOperate({ store, clock: () => NOW }).importOverrides(
        domains.map(domain => denied(domain, author)),
        'ours.csv',
        ACT,
        { dryRun: false, replaceAll: false },
      );

    test('are not set where another override came since they were decided; keys are nothing to them', async () => {
      const [store, other] = await servers();
      const { mark } = await store.readOverrides(undefined);
      const created = (domain: string) => ({ ...denied(domain), createdAt: NOW });
      await other.createKey(someKey(), ACT);
      expect(await store.setOverrides([created('a.com')], mark, ACT)).toBe(true);
      const [revision, acts] = [await store.revision(), (await store.audit(10)).length];
      expect(await store.setOverrides([created('b.com')], mark, ACT, [ACT])).toBe(false);
      expect([await store.revision(), (await store.audit(10)).length]).toEqual([revision, acts]);
      expect([...(await other.listOverrides()).overrides]).toEqual([created('a.com')]);
    });

    test('imports at once, on one store, each tell what they really added and replaced', async () => {
      const stores = await servers();
      const outcomes = await Promise.all(
        stores.map((store, at) => importing(store, ['both.com', `own${at}.com`], `op${at}`)),
      );
      const done = outcomes.flatMap(one => ('problem' in one ? [] : one));
      expect(done.map(({ added }) => added).sort()).toEqual([1, 1, 2]);
      // The second replaced what the first had written, and the third what the second had.
      const steps = done.flatMap(({ replaced }) => replaced);
      const overrides = [...(await stores[0].listOverrides()).overrides];
      expect(overrides.map(({ domain }) => domain)).toEqual(['both.com', 'own0.com', 'own1.com', 'own2.com']);
      const last = steps.find(({ now }) => now === `deny, by ${overrides[0]!.author}`)!;
      expect(steps).toContainEqual(expect.objectContaining({ now: last.was }));
      const told = (await stores[0].audit(10)).filter(({ action }) => action === 'override.set');
      expect(told.map(({ detail }) => detail).sort()).toEqual(
        steps.map(({ was, now }) => `${was} → ${now}`).sort(),
      );
    });

    test('an import that others keep getting in the way of changes nothing, and says so', async () => {
      const [store, other] = await servers();
      let changes = 0;
      const busy: Store = {
        ...store,
        async readOverrides(known) {
          const read = await store.readOverrides(known);
          await other.setOverride({ ...denied(`n${changes++}.com`), createdAt: NOW }, ACT);
          return read;
        },
      };
      const outcome = await importing(busy, ['a.com']);
      expect(outcome).toEqual({ problem: 'contended', detail: expect.stringContaining('try again') });
      expect([...(await store.listOverrides()).overrides]).toHaveLength(changes);
    });
  });

  describe('what became of feeds', () => {
    test('the last word about each is there for every server', async () => {
      const [one, other] = await servers();
      const tried = { feed: 'b', triedAt: 7, checkedAt: 6, added: 5, removed: 4, problem: 'no network' };
      const check = {
        ...tried,
        waiting: ['a.com', 'b.com'],
        trouble: 'waiting' as const,
        approved: null,
        rejected: null,
        tag: null,
        fallback: null,
      };
      await one.noteCheck({ ...check, checkedAt: null });
      await one.noteCheck({ ...check, feed: 'a', problem: null });
      await other.noteCheck(check);
      expect(await one.feedChecks()).toEqual([{ ...check, feed: 'a', problem: null }, check]);
      const decided = { ...check, waiting: null, approved: ['a.com', 'b.com'], rejected: ['c.com'] };
      const tag = { address: 'x', etag: '"1"', modified: null, digest: 'd', wholeAt: 7 };
      const act = { ...ACT, action: 'feed.reject', subject: 'b' } as const;
      for (const was of [null, { ...check, triedAt: 6 }])
        expect(await one.noteCheck({ ...decided, tag }, was, act)).toBe(false);
      expect(await one.noteCheck({ ...decided, tag }, check, act)).toBe(true);
      const fresh = { ...decided, tag, feed: 'c' };
      expect([await one.noteCheck(fresh, null), await one.noteCheck(fresh, null)]).toEqual([true, false]);
      expect(await one.noteCheck(fresh, fresh)).toBe(true);
      expect((await other.feedChecks())[1]).toEqual({ ...decided, tag });
      expect((await other.audit(1))[0]).toMatchObject({ action: 'feed.reject', subject: 'b' });
    });

    test('what servers were asked is kept day by day, and forgotten in time', async () => {
      const [one, other] = await servers();
      const asked = (day: string, server: string, names = 'a.com !b.com') => ({ day, server, names });
      await one.keepAsked(asked('2026-11-01', 's'), '2026-10-20');
      await one.keepAsked(asked('2026-11-02', 's'), '2026-10-20');
      await other.keepAsked(asked('2026-11-02', 't'), '2026-10-20');
      await other.keepAsked(asked('2026-11-02', 't', 'c.com'), '2026-11-02');
      expect(await one.askedNames()).toEqual([asked('2026-11-02', 's'), asked('2026-11-02', 't', 'c.com')]);
      // However many servers there are, neither a day nor one of them is left out for another.
      for (const day of ['2026-11-03', '2026-11-04'])
        for (const server of 'abcdefghij') await one.keepAsked(asked(day, server), '2026-11-03');
      const all = (day: string) => [...'abcdefghij'].map(server => asked(day, server));
      expect(await one.askedNames()).toEqual([...all('2026-11-04'), ...all('2026-11-03')]);
      // However little the others have, what can be read is read.
      const many = (count: number) => 'abc.com '.repeat(count).trimEnd();
      await one.keepAsked(asked('2026-11-04', 'a', many(MOST_READ / 10)), '2026-11-03');
      const sizes = async () => (await one.askedNames()).map(({ names }) => names.split(' ').length);
      expect((await sizes()).slice(0, 3)).toEqual([MOST_READ / 10, 2, 2]);
      // What is more is cut between names, of each the same share.
      for (const server of 'ab')
        await one.keepAsked(asked('2026-11-04', server, many(MOST_READ / 8)), '2026-11-03');
      const [half, same, little] = await sizes();
      expect([half, little]).toEqual([same, 1]);
      expect(Math.abs(half! - MOST_READ / 16)).toBeLessThan(10);
      const cut = (await one.askedNames()).slice(0, 3).map(({ names }) => names.split(' ').at(-1));
      expect(cut).toEqual(['abc.com', 'abc.com', 'a.com']);
      // A clock that jumped takes nothing away until a second day says the same.
      const days = async () => [...new Set((await one.askedNames()).map(({ day }) => day))];
      await one.keepAsked(asked('2027-03-01', 'a'), '2027-02-15');
      expect(await days()).toEqual(['2027-03-01', '2026-11-04', '2026-11-03']);
      await one.keepAsked(asked('2027-03-02', 'a'), '2027-02-16');
      expect(await days()).toEqual(['2027-03-02', '2027-03-01']);
    });
  });

  describe("the operator's own feeds", () => {
    const own = (name: string): AddedFeed => ({
      ...{ name, place: '/lists/a.csv', kind: 'protected', format: 'csv', verified: false, addedAt: 5 },
    });

    test('are kept under one name each, up to so many, and leave with all that belongs to them', async () => {
      const [one, other] = await servers();
      const add = { ...ACT, action: 'feed.add', subject: 'b' } as const;
      expect(await one.addFeed(own('b'), 2, add)).toBe(true);
      expect(await other.addFeed({ ...own('b'), place: '/other' }, 2, add)).toBe(false);
      expect(await other.addFeed({ ...own('a'), verified: true }, 2, add)).toBe(true);
      expect(await one.addFeed(own('c'), 2, add)).toBe(false);
      expect(await one.addedFeeds()).toEqual([{ ...own('a'), verified: true }, own('b')]);
      const version = { feed: 'b', version: '1', digest: 'd', names: 1, acceptedAt: 1, body: 'x' };
      expect(await one.acceptSnapshot(version, null, ACT)).toBe(true);
      expect(await one.acceptSnapshot({ ...version, digest: 'e', acceptedAt: 2 }, 'd', ACT)).toBe(true);
      const again = { ...version, digest: 'f', acceptedAt: 3 };
      const { addedAt } = own('b');
      expect(await one.acceptSnapshot(again, 'e', ACT, { addedAt: addedAt - 1 })).toBe(false);
      expect(await other.acceptSnapshot(again, 'e', ACT, { addedAt })).toBe(true);
      const untouched = {
        problem: null,
        waiting: null,
        trouble: 'waiting' as const,
        approved: null,
        rejected: null,
        tag: null,
        fallback: null,
      };
      await one.noteCheck({ feed: 'b', triedAt: 1, checkedAt: 1, added: 1, removed: 0, ...untouched });

      const remove = { ...ACT, action: 'feed.remove', subject: 'b' } as const;
      expect(await other.removeFeed('b', remove)).toBe(true);
      expect(await one.removeFeed('b', remove)).toBe(false);
      expect(await one.addedFeeds()).toEqual([{ ...own('a'), verified: true }]);
      expect([await one.snapshots(), await one.pastSnapshots(), await one.feedChecks()]).toEqual([
        [],
        [],
        [],
      ]);
      const acts = (await one.audit(10)).map(({ action }) => action);
      expect(acts.filter(action => action === 'feed.add')).toHaveLength(2);
      expect(acts.filter(action => action === 'feed.remove')).toHaveLength(1);
    });
  });

  describe('changes for callers', () => {
    test('are seen by their numbers once a mark reaches them, and forgotten below its floor', async () => {
      const [one, other] = await servers();
      const change = (id: number, domain = `n${id}.com`): NumberedChange => ({
        ...{ id, domain, change: id % 2 ? 'flagged' : 'cleared', at: 10 * id, feeds: ['castle', 'b'] },
      });
      expect([await one.changesMark(), await one.changesBefore(99)]).toEqual([undefined, 0]);
      // Nobody writes who has not got the lease.
      expect(await one.writeChanges([change(9)], '', 'me')).toBe(false);
      const lease = { name: CHANGES_LEASE, holder: 'me', until: 1, dueAt: 0 };
      await one.swapLease(lease, undefined);
      expect(await one.writeChanges([change(1), change(2, 'half.com')], '', 'me')).toBe(true);
      expect(await one.writeChanges([change(9)], '', 'other')).toBe(false);
      expect(await one.writeChanges([change(9)], 'another', 'me')).toBe(false);
      const first = { generation: 'g1', floor: 0, last: 2 };
      const swapped = [one, other].map(store => store.swapChangesMark(first, undefined));
      expect((await Promise.all(swapped)).sort()).toEqual([false, true]);
      expect(await other.writeChanges([change(2), change(3)], '', 'me')).toBe(false);
      expect(await other.writeChanges([change(2), change(3), change(4)], 'g1', 'me')).toBe(true);
      expect(await one.changesMark()).toEqual(first);
      expect(await one.changesAfter(0, 10)).toEqual([1, 2, 3, 4].map(id => change(id)));
      expect(await one.changesAfter(1, 2)).toEqual([change(2), change(3)]);
      expect([await one.changesBefore(30), await one.changesBefore(31)]).toEqual([2, 3]);
      expect([await one.changesBefore(10), await one.changesBefore(41)]).toEqual([0, 4]);
      // By a clock that was behind, which hides nothing before it.
      await one.writeChanges([{ ...change(4), at: 1 }], 'g1', 'me');
      expect([await one.changesBefore(30), await one.changesBefore(31)]).toEqual([2, 4]);
      await one.writeChanges([change(4)], 'g1', 'me');
      const next = { generation: 'g2', floor: 2, last: 4 };
      for (const was of [undefined, { ...first, generation: 'g' }, { ...first, last: 1 }])
        expect(await other.swapChangesMark(next, was)).toBe(false);
      expect(await other.swapChangesMark(next, first, 'other')).toBe(false);
      expect(await other.swapChangesMark(next, first, 'me')).toBe(true);
      expect([await one.changesMark(), await one.changesAfter(0, 10)]).toEqual([
        next,
        [change(2), change(3), change(4)],
      ]);
    });
  });

  describe('traffic', () => {
    test('of all servers is added up, by minute for two hours and by hour for 32 days', async () => {
      const [one, other] = await servers();
      const now = Date.UTC(2026, 10, 16, 12, 30);
      const some = { ...NO_TRAFFIC, calls: 2, flagged: 1, t12: 2 };
      const [minute, hour] = slotsAt(now, some);
      await Promise.all([one.addTraffic([minute!, hour!], now), other.addTraffic([minute!, hour!], now)]);
      const twice = { calls: 4, flagged: 2, t12: 4, t0: 0, refused: 0 };
      expect(await one.traffic(60_000, now)).toEqual([expect.objectContaining({ at: now, ...twice })]);
      expect(await one.traffic(60_000, now + 1)).toEqual([]);
      const inTwoHours = now + 2 * 3_600_000 + 1;
      await one.addTraffic(slotsAt(inTwoHours, some), inTwoHours);
      expect((await other.traffic(60_000, 0)).map(({ at }) => at)).toEqual([inTwoHours - 1]);
      expect((await other.traffic(3_600_000, 0)).map(({ calls }) => calls)).toEqual([4, 2]);
      const inAMonth = now + 33 * 86_400_000;
      await one.addTraffic(slotsAt(inAMonth, some), inAMonth);
      // It may be the clock that jumped: a second day has to say the same.
      expect((await other.traffic(3_600_000, 0)).map(({ calls }) => calls)).toEqual([4, 2, 2]);
      const aDayLater = inAMonth + 25 * 3_600_000;
      await one.addTraffic(slotsAt(aDayLater, some), aDayLater);
      expect((await other.traffic(3_600_000, 0)).map(({ calls }) => calls)).toEqual([2, 2]);
    });
  });

  describe('verdicts of keys', () => {
    test('of all servers are added up by key and day, and those of old days go', async () => {
      const [one, other] = await servers();
      const of = (keyId: string, day: string, safe: number) => ({ ...NO_VERDICTS, keyId, day, safe });
      const rows = [of('key_2', '2026-11-15', 1), of('key_1', '2026-11-15', 2)];
      await Promise.all([one.addVerdicts(rows, '2026-10-17'), other.addVerdicts(rows, '2026-10-17')]);
      await one.addVerdicts([{ ...of('key_1', '2026-11-16', 1), degraded: 1 }], '2026-10-17');
      const both = [
        { ...NO_VERDICTS, keyId: 'key_1', safe: 5, degraded: 1 },
        { ...NO_VERDICTS, keyId: 'key_2', safe: 2 },
      ];
      expect(await other.verdictsSince('2026-11-15', ['key_1', 'key_2'])).toEqual(both);
      expect(await other.verdictsSince('2026-11-16', ['key_1', 'key_3'])).toEqual([{ ...both[0], safe: 1 }]);
      await other.addVerdicts([of('key_1', '2026-11-16', 1)], '2026-11-16');
      expect(await one.verdictsSince('', ['key_1'])).toEqual([{ ...both[0], safe: 2 }]);
      // A clock that jumped takes nothing away until a second day says the same.
      const safe = async () => (await one.verdictsSince('', ['key_1']))[0]!.safe;
      await one.addVerdicts([of('key_1', '2027-03-01', 1)], '2027-01-31');
      expect(await safe()).toBe(3);
      await one.addVerdicts([of('key_1', '2027-03-02', 1)], '2027-02-01');
      expect(await safe()).toBe(2);
    });
  });

  describe('leases', () => {
    test('of many servers at once one gets it, and only who knows it as it is can change it', async () => {
      const [one, other] = await servers();
      const stores = [one, other] as const;
      const by = (holder: string | null, until = 5): Lease => ({ name: 'feeds', holder, until, dueAt: 7 });
      expect(await stores[0].lease('feeds')).toBeUndefined();
      expect(Math.abs((await stores[0].moment()) - Date.now())).toBeLessThan(60_000);
      const asked = ['a', 'b', 'c', 'd'].map((name, at) => stores[at % 2]!.swapLease(by(name), undefined));
      const got = await Promise.all(asked);
      expect(got.filter(Boolean)).toHaveLength(1);
      const winner = by(['a', 'b', 'c', 'd'][got.indexOf(true)]!);
      expect(await stores[1].lease('feeds')).toEqual(winner);
      for (const was of [
        { ...winner, holder: null },
        { ...winner, until: 6 },
        { ...winner, dueAt: 8 },
      ])
        expect(await stores[0].swapLease(by('e'), was)).toBe(false);
      expect(await stores[0].swapLease(by(null, 0), winner)).toBe(true);
      expect(await stores[1].swapLease(by('e', 9), by(null, 0))).toBe(true);
      expect(await stores[0].lease('feeds')).toEqual(by('e', 9));
      expect(await stores[0].lease('another')).toBeUndefined();
    });
  });
}

function headOf({ body: _body, feed: _feed, ...head }: AcceptedSnapshot) {
  return head;
}

function someSnapshot(parts: Partial<AcceptedSnapshot> = {}): AcceptedSnapshot {
  return {
    ...{ feed: 'castle', version: '1', digest: 'first', names: 7, acceptedAt: 5, body: 'names' },
    ...parts,
  };
}
