/** What is made of long lists, in a thread of its own: here of short ones, with nothing left to this thread. */

import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Catalog } from '../src/core/catalog.ts';
import type { Feed } from '../src/core/feed.ts';
import { CHANGES_LEASE } from '../src/core/listing-change.ts';
import { takeSnapshot, textOf } from '../src/core/snapshot.ts';
import { PACKING } from '../src/feeds/pack.ts';
import { FEED_IDS } from '../src/feeds/sources.ts';
import { filterHere } from '../src/make.ts';
import { openSqliteStore, type SqliteStore } from '../src/store/sqlite/store.ts';
import { createMaker } from '../src/workers/maker.ts';
import { ACT } from './support/act.ts';
import { catalogOf } from './support/catalog.ts';
import { eventually } from './support/scale.ts';
import { temporaryFolder } from './support/service.ts';

const NOW = Date.UTC(2026, 10, 17);
const OWN = 'ours';
let before: Catalog;
beforeAll(async () => {
  before = await catalogOf(['first.com', 'a.second.net'], { verified: ['sure.org'] });
});

/** A store that only other threads may read lists of, and write changes to. */
async function world(large?: number) {
  const path = `${temporaryFolder()}/domain-risk.db`;
  const opened = await openSqliteStore(path, error => {
    throw error;
  });
  const told: string[] = [];
  const here = vi.fn(async () => Promise.reject(new Error('in this thread')));
  const shared = vi.fn(opened.share);
  const store: SqliteStore = { ...opened, share: shared, snapshot: here, writeChanges: here };
  const config = { database: { kind: 'sqlite', path } as const, feedsOff: FEED_IDS };
  const onError = (error: unknown) => told.push((error as Error).message);
  const maker = createMaker({ config, store, onError, large });
  onTestFinished(async () => {
    maker.close();
    await opened.close();
  });
  return { store: opened, maker, told, shared };
}

async function accept(store: SqliteStore, names: readonly string[], body?: string): Promise<void> {
  const added = { name: OWN, place: '/list', kind: 'disposable', format: 'lines' } as const;
  await store.addFeed({ ...added, verified: true, addedAt: NOW }, 50, ACT);
  const feed: Feed = {
    ...{ id: OWN, kind: 'disposable', family: 'verified', licence: 'own', origin: '/list', atLeast: 1 },
    isOwn: true,
  };
  const snapshot = takeSnapshot(feed, { version: '1', names });
  const { digest } = snapshot;
  const head = { feed: OWN, version: '1', digest, names: names.length, acceptedAt: NOW };
  await store.acceptSnapshot({ ...head, body: body ?? (await PACKING.pack(textOf(snapshot))) }, null, ACT);
}

test('the next catalog is made, and what it changed is written, by threads', async () => {
  const { store, maker, told } = await world(1);
  await accept(store, ['new.com', 'x.second.net']);
  const next = (await maker.next(before, new Map(), 2))!;
  expect([...next.disposableNames()]).toEqual(['new.com', 'x.second.net']);
  expect(next.status).toMatchObject([{ feed: { id: OWN, family: 'verified' }, names: 2, updatedAt: NOW }]);
  const was = { generation: before.generation, floor: 10, last: 10 };
  await store.swapChangesMark(was, undefined);
  const lease = { name: CHANGES_LEASE, holder: 'me', until: NOW, dueAt: 0 };
  await store.swapLease(lease, undefined);
  expect(await maker.tell({ before, after: next, was, now: NOW, holder: 'other' })).toBe(false);
  expect(await maker.tell({ before, after: next, was, now: NOW, holder: 'me' })).toBe(true);
  expect(await store.changesMark()).toEqual({ generation: next.generation, floor: 10, last: 15 });
  const changes = (await store.changesAfter(10, 10)).map(({ domain, change }) => `${change} ${domain}`);
  const short = ['cleared first.com', 'cleared sure.org', 'flagged new.com'];
  expect(changes).toEqual([...short, 'cleared a.second.net', 'flagged x.second.net']);
  expect(told).toEqual([]);
});

test('of 50,000 names and more; one that cannot be read is told of, once', async () => {
  const { store, maker, told } = await world();
  await accept(store, ['new.com'], 'bm8gZ3ppcA==');
  const unreadable = new Map<string, string>();
  await expect(maker.next(before, unreadable, 49_000)).rejects.toThrow('in this thread');
  await maker.next(before, unreadable, 50_000);
  expect(told).toEqual([`the stored snapshot of ${OWN} cannot be used: incorrect header check`]);
  expect([...unreadable.keys()]).toEqual([OWN]);
});

test('a filter is the same that would be made here, of which no name is looked at', async () => {
  const { maker } = await world(1);
  const { privateKey } = generateKeyPairSync('ed25519');
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  const denied = { action: 'deny', below: true, note: null, author: null, createdAt: 0 } as const;
  const override = { ...denied, domain: 'denied.com', expiresAt: null };
  const of = { catalog: before, overrides: new Map([[override.domain, override]]) };
  const file = await filterHere(of, NOW, secret);
  expect(file.names).toBe(2);
  const looked = vi.spyOn(before, 'disposableNames');
  expect(await maker.filter(of, NOW, secret)).toEqual(file);
  expect(looked).not.toHaveBeenCalled();
});

test('a thread is connected to the store in one turn and started in another', async () => {
  const { maker, shared } = await world(1);
  const { promise: begun, resolve: begin } = Promise.withResolvers<boolean>();
  let isLater = false;
  const share = shared.getMockImplementation()!;
  shared.mockImplementation(async () => {
    const ports = await share();
    process.once('worker', () => begin(isLater));
    setImmediate(() => {
      isLater = true;
    });
    return ports;
  });
  await maker.next(before, new Map(), 1);
  expect(await begun).toBe(true);
});

test('what is under way when a service ends is given up, and nothing begins any more', async () => {
  const { maker, shared } = await world(1);
  const next = expect(maker.next(before, new Map(), 1)).rejects.toThrow('given up');
  await eventually('a thread begins', () => shared.mock.settledResults[0]?.type === 'fulfilled');
  maker.close();
  await next;
  await expect(maker.next(before, new Map(), 1)).rejects.toThrow('given up');
});
