/** When the service updates its lists by itself: one server at a time, whatever becomes of the others. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { LEASE_MS } from '../src/core/lease.ts';
import type { Store } from '../src/core/ports.ts';
import { tellOfUpdates } from '../src/observe-updates.ts';
import { hasten, PERIODS, type ScheduleParts, scheduleUpdates } from '../src/schedule.ts';
import type { Updated } from '../src/update.ts';
import { temporaryFolder } from './support/service.ts';
import { storeAt } from './support/store.ts';

const DAY = PERIODS.daily;
const version = { version: '1', names: 7 };
const updated = (outcome: Updated['outcome'], feed = 'castle'): Updated => ({
  ...{ feed, outcome, before: version, after: outcome === 'failed' ? null : version },
  ...{
    dropped: null,
    problems: outcome === 'failed' ? ['no network'] : [],
    turnover: null,
    flips: null,
    waiting: null,
    fallback: null,
  },
});

const eventually = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 90_000, interval: 5 });

let stores: Store[];
let path: string;
const ends: (() => void | Promise<void>)[] = [];
beforeAll(async () => {
  path = join(
    temporaryFolder(end => void ends.push(end)),
    'domain-risk.db',
  );
  const atEnd = (end: () => void | Promise<void>) => void ends.unshift(end);
  stores = [await storeAt(path, atEnd), await storeAt(path, atEnd)];
});
afterAll(async () => {
  for (const end of ends) await end();
});

let now: number;
let begun: number;
let logged: string[];
beforeEach(() => {
  const db = new DatabaseSync(path);
  db.exec('DELETE FROM lease');
  db.close();
  now = Date.UTC(2026, 10, 16);
  begun = 0;
  logged = [];
});

/** Looks all the time; what it asks of the store takes turns with what the test asks. */
function start(store: ScheduleParts['store'], parts: Partial<ScheduleParts> = {}) {
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  const schedule = scheduleUpdates({
    ...{ store, everyMs: DAY, clock: () => now, chance: () => 0.5 },
    ...{ firstMs: 1, lookMs: 1, renewMs: 1 },
    tell: tellOfUpdates(log, () => now),
    update: async () => {
      begun++;
      return [updated('accepted')];
    },
    ...parts,
  });
  onTestFinished(() => schedule.close());
  return schedule;
}

/** Some looks further. */
async function looked(store: Store, times = 4): Promise<void> {
  const spy = vi.spyOn(store, 'lease');
  await eventually(() => expect(spy.mock.calls.length).toBeGreaterThanOrEqual(times));
  spy.mockRestore();
}

test('the first start updates, then once a day over all servers of one store', async () => {
  // Four servers, two on each.
  for (const store of [...stores, ...stores]) start(store);
  for (let day = 1; day <= 4; day++) {
    await eventually(() => expect(begun).toBe(day));
    for (const store of stores) await looked(store);
    expect(begun).toBe(day);
    now += DAY;
  }
});

test('while one is at it, however long that takes, no other begins', async () => {
  const [one, other] = stores as [Store, Store];
  const { promise, resolve } = Promise.withResolvers<Updated[]>();
  start(one, { update: () => promise });
  await eventually(async () => expect((await one.lease('feeds'))?.holder).toBeTypeOf('string'));
  start(other);
  for (let step = 0; step < 5; step++) {
    now += LEASE_MS / 2;
    await eventually(async () => expect((await one.lease('feeds'))?.until).toBe(now + LEASE_MS));
    await looked(other);
  }
  expect(begun).toBe(0);
  resolve([updated('unchanged')]);
  await eventually(async () => expect((await one.lease('feeds'))?.dueAt).toBe(now + DAY));
  await looked(other);
  expect(begun).toBe(0);
});

test('an operator who is waited for has the next update begin right after the one that is under way', async () => {
  const [one, other] = stores as [Store, Store];
  const { promise, resolve } = Promise.withResolvers<Updated[]>();
  start(one, {
    update: async stop => {
      if (++begun > 1) return [updated('accepted')];
      const done = await promise;
      stop.throwIfAborted();
      return done;
    },
  });
  await eventually(async () => expect((await one.lease('feeds'))?.holder).toBeTypeOf('string'));
  now += 1;
  await hasten(other);
  await eventually(async () => expect((await one.lease('feeds'))?.until).toBe(now + LEASE_MS));
  expect(begun).toBe(1);
  resolve([updated('unchanged')]);
  await eventually(async () => expect((await one.lease('feeds'))?.dueAt).toBe(now + DAY));
  expect([begun, logged.some(line => line.includes('given up'))]).toEqual([2, false]);
});

test('whoever dies is taken over, and one that was only stopped gives up when it sees that', async () => {
  const [dead, other] = stores as [Store, Store];
  let isGivenUp = false;
  const stopped = { ...dead, swapLease: vi.fn(dead.swapLease) };
  start(stopped, {
    update: stop =>
      new Promise((_, reject) => {
        // It stands still from here on.
        stopped.swapLease.mockImplementation(async () => Promise.reject(new Error('stands still')));
        stop.addEventListener('abort', () => {
          isGivenUp = true;
          reject(new Error('given up'));
        });
      }),
  });
  await eventually(() => expect(stopped.swapLease.mock.calls.length).toBeGreaterThan(1));
  start(other);
  await looked(other);
  expect(begun).toBe(0);
  now += LEASE_MS;
  await eventually(() => expect(begun).toBe(1));
  stopped.swapLease.mockImplementation(dead.swapLease);
  await eventually(() => expect(isGivenUp).toBe(true));
});

test('a server that ends in the middle leaves the update to the next one, at once', async () => {
  const [ending, other] = stores as [Store, Store];
  const schedule = start(ending, {
    update: stop =>
      new Promise((_, reject) => stop.addEventListener('abort', () => reject(new Error('given up')))),
  });
  await eventually(async () => expect((await other.lease('feeds'))?.holder).toBeTypeOf('string'));
  await schedule.close();
  start(other);
  await eventually(() => expect(begun).toBe(1));
  expect(logged.join()).not.toContain('given up');
});

test('without internet it is tried four times a day, and told once a day', async () => {
  const [store] = stores as [Store];
  start(store, {
    update: async () => {
      begun++;
      return [updated('failed'), updated('failed', 'fakefilter')];
    },
  });
  for (let quarter = 1; quarter <= 9; quarter++) {
    await eventually(() => expect(begun).toBe(quarter));
    await looked(store);
    expect(begun).toBe(quarter);
    now += DAY / 4;
  }
  expect(logged).toHaveLength(3);
  expect(JSON.parse(logged[0]!)).toMatchObject({
    level: 40,
    msg: 'feeds not updated: castle failed, fakefilter failed',
    problems: { castle: 'no network' },
  });
});

test('a store that fails, or an update that does, is told once and tried again', async () => {
  const [store] = stores as [Store];
  let isBroken = true;
  start(store, {
    update: async () => {
      begun++;
      if (isBroken) throw new Error('broken');
      return [updated('accepted')];
    },
  });
  await eventually(() => expect(begun).toBe(1));
  now += DAY / 4;
  await eventually(() => expect(begun).toBe(2));
  isBroken = false;
  now += DAY / 4;
  await eventually(() => expect(begun).toBe(3));
  await looked(store);
  expect(logged.filter(line => line.includes('the feeds could not be updated'))).toHaveLength(1);
  expect(logged.at(-1)).toContain('the feeds were checked');
});

test('a fault of ours with one list is told in the log with its stack', () => {
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  const fault = new TypeError('not a function');
  tellOfUpdates(log, () => now).updated([{ ...updated('failed'), fault }]);
  expect(JSON.parse(logged[0]!).err.stack).toContain('schedule.test.ts');
});

test('a list that is held back is told in the log, beside what was updated', () => {
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  tellOfUpdates(log, () => now).updated([updated('accepted'), updated('waiting', 'fakefilter')]);
  expect(logged.map(line => JSON.parse(line).msg)).toEqual([
    'the feeds were checked',
    'feeds not updated: fakefilter waiting',
  ]);
});

test('where all lists are rolled back or fail, the log does not tell that they were checked', () => {
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  tellOfUpdates(log, () => now).updated([updated('held'), updated('failed', 'fakefilter')]);
  expect(logged.map(line => JSON.parse(line).msg)).toEqual(['feeds not updated: fakefilter failed']);
});
