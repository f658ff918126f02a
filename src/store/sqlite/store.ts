/** The embedded store: one SQLite file, written in group commits from a worker thread. */

import { closeSync } from 'node:fs';
import type { MessagePort } from 'node:worker_threads';
import type { HostRecord } from '../../core/guest.ts';
import type { Store } from '../../core/ports.ts';
import { Batcher } from '../batch.ts';
import { OVERRIDE } from '../columns.ts';
import type { OnFormChange } from '../form.ts';
import { gathering } from '../gather.ts';
import { fromBytes, fromLines } from '../lines.ts';
import { provedOnce } from '../proof.ts';
import type { SqliteRow } from '../table.ts';
import { within } from '../wait.ts';
import { type Asking, DEADLINE_MS, NO_DEADLINE } from './asking.ts';
import type { Counter, Records } from './connection.ts';
import type { Copier } from './copier.ts';
import { createCopies, type InThreadOfItsOwn } from './copies.ts';
import { forgetPair } from './pair.ts';
import { DistantThread, LateThread, Thread } from './thread.ts';
import type { WorkerData } from './worker.ts';

type Ask = Asking<Records>['ask'];

/** For a list of hosts: of 10,000 with 19 guests each it takes 1.3 s (2026-11-16), and a service must start with those too. */
const HOSTS_MS = 60_000;

/** 100,000 take 60 ms, and on a machine with ten times too much to do a second: nobody is answered without them. */
const OVERRIDES_MS = 10_000;

/** A rare key among a million decisions: each is looked at, which takes a fraction of this. */
const DECISIONS_MS = 10_000;

/** By which another thread uses the same store: its three threads, each over a port of its own. */
export interface StorePorts {
  readonly counter: MessagePort;
  readonly direct: MessagePort;
  readonly bulk: MessagePort;
}

export interface SqliteStore extends Store {
  /** For one more thread, which joins it with these. */
  share(): Promise<StorePorts>;
}

/** Opens the file at `path` for a server, or throws StoreRefused with a message that names the fix. */
export async function openSqliteStore(
  path: string,
  onDeath: (error: Error) => void,
  onFormChange: OnFormChange = () => {},
  deadlineMs = DEADLINE_MS,
): Promise<SqliteStore> {
  const start = <T extends { close(): void }>(data: Omit<WorkerData, 'path'>) =>
    new Thread<T>({ path, ...data }, onDeath, onFormChange, deadlineMs);
  const direct = start<Records>({ role: 'records' });
  const file = (await direct.up)!;
  const counter = new LateThread(() => start<Counter>({ role: 'counter', file }));
  // Bulk work goes to a thread of its own: a call that needs its key read never waits behind it.
  const bulk = new LateThread(() => start<Records>({ role: 'records', file }));
  let closing: Promise<void> | undefined;

  return {
    ...storeOn({ counter: counter.ask, direct: direct.ask, bulk: bulk.ask }, deadlineMs),
    ...createCopies(path, bulk.ask, apartAt(path, deadlineMs)),
    share: async () => ({
      counter: await counter.connect(),
      direct: direct.connect(),
      bulk: await bulk.connect(),
    }),
    close() {
      // One after the other: the last one out empties the journal (a WAL checkpoint), and two at once each take the
      // other for it. The first one is the last: until then others see that the store is in use.
      closing ??= counter
        .stop()
        .then(() => bulk.stop())
        .then(() => direct.stop())
        .then(() => {
          closeSync(file);
          forgetPair(path);
        });
      return closing;
    },
  };
}

/** The store at `path` that another thread has opened. It stays open when this one leaves. */
export function joinSqliteStore(path: string, ports: StorePorts, deadlineMs = DEADLINE_MS): Store {
  const counter = new DistantThread<Counter>(ports.counter, deadlineMs);
  const direct = new DistantThread<Records>(ports.direct, deadlineMs);
  const bulk = new DistantThread<Records>(ports.bulk, deadlineMs);
  return {
    ...storeOn({ counter: counter.ask, direct: direct.ask, bulk: bulk.ask }, deadlineMs),
    ...createCopies(path, bulk.ask, apartAt(path, deadlineMs)),
    async close() {
      for (const thread of [counter, direct, bulk]) thread.leave();
    },
  };
}

/** A disk for backups that does not answer holds up nobody but the thread that asks it. Where that one dies, a backup failed. */
export function apartAt(path: string, deadlineMs: number): InThreadOfItsOwn {
  return async work => {
    const thread = new Thread<Copier>(
      { path, role: 'copier' },
      () => {},
      () => {},
      deadlineMs,
    );
    try {
      await thread.up;
      return await work(thread.ask);
    } finally {
      await thread.stop();
    }
  };
}

export function storeOn(
  ask: { readonly counter: Asking<Counter>['ask']; readonly direct: Ask; readonly bulk: Ask },
  deadlineMs: number,
): Omit<Store, 'close' | keyof ReturnType<typeof createCopies>> {
  const batcher = new Batcher({
    count: (groups, ms) => ask.counter('spend', [groups], ms),
    atOnce: 1,
    deadlineMs,
  });
  return {
    spend: (spend, revision, waiter) => batcher.spend(spend, revision, waiter),
    isBehind: keyId => batcher.isBehind(keyId),
    ready: provedOnce(() => ask.counter('prove', [])),
    ...records(ask.direct, ask.bulk, deadlineMs),
    ...bulkWork(ask.bulk),
  };
}

/** Keys, their use, overrides and operators: what a call may have to wait for, but for lists of all keys' calls. */
function records(direct: Ask, bulk: Ask, deadlineMs: number) {
  return {
    revision: () => direct('revision', []),
    keyByDigest: gathering(
      async (digests: readonly string[]) => {
        const { keys, revision } = await direct('keysByDigest', [digests]);
        return keys.map(key => ({ key, revision }));
      },
      answer => within(deadlineMs, 'the store', answer),
    ),
    used: (keyId, month) => direct('used', [keyId, month]),
    usedInMonth: month => bulk('usedInMonth', [month]),
    lastUses: () => bulk('lastUses', []),
    usageDays: (sinceDay, keyId) => (keyId === undefined ? bulk : direct)('usageDays', [sinceDay, keyId]),
    createKey: (key, act, isNameUnique = false) => direct('createKey', [key, act, isNameUnique]),
    createFirstKey: (key, act) => direct('createFirstKey', [key, act]),
    updateKey: (key, was, act) => direct('updateKey', [key, was, act]),
    endingKeys: query => bulk('endingKeys', [query]),
    listKeys: () => direct('listKeys', []),
    setOverride: (override, act) => direct('setOverride', [override, act]),
    setOverrides: (overrides, was, act, more = []) =>
      direct('setOverrides', [overrides, was, act, more], NO_DEADLINE),
    removeOverride: (domain, act) => direct('removeOverride', [domain, act]),
    readOverrides: async known =>
      markedOverrides(await direct('readOverrides', [known], OVERRIDES_MS), known),
    changedOverrides: known => direct('changedOverrides', [known]),
    listOverrides: () => direct('listOverrides', []),
    addOperator: (operator, act) => direct('addOperator', [operator, act]),
    revokeOperator: (name, at, act) => direct('revokeOperator', [name, at, act]),
    // A token that was revoked ends, however long bulk work takes.
    listOperators: () => direct('listOperators', []),
  } satisfies Partial<Store>;
}

/** The first line says what the others are: rows, each made an override when it is asked for. */
function markedOverrides(bytes: Uint8Array, known: string | undefined) {
  const lines = fromBytes<unknown>(bytes)[Symbol.iterator]();
  const head = lines.next().value as { readonly revision: number; readonly mark: string };
  const overrides = lines.map(row => OVERRIDE.sqlite.record(row as SqliteRow));
  return { ...head, overrides: head.mark === known ? undefined : overrides };
}

/** Old rows go with what comes, in one question after the other, and those of others between them. */
function forgetting(bulk: Ask) {
  return {
    async flag(flags, sinceDay) {
      await bulk('flag', [flags], NO_DEADLINE);
      while (await bulk('forgetFlags', [sinceDay], NO_DEADLINE));
    },
    async learn(...page) {
      const gone = await bulk('learn', page, NO_DEADLINE);
      while (await bulk('forgetGuests', [gone, page[2]], NO_DEADLINE));
    },
    async swapChangesMark(mark, ...more) {
      const swapped = await bulk('swapChangesMark', [mark, ...more], NO_DEADLINE);
      while (swapped && (await bulk('forgetChanges', [mark.floor], NO_DEADLINE)));
      return swapped;
    },
  } satisfies Partial<Store>;
}

/** Flags, hosts, snapshots and the audit: bulk work. */
function bulkWork(bulk: Ask) {
  const readHosts = async (fewestFlagged: number, most: number): Promise<Iterable<HostRecord>> =>
    fromBytes(await bulk('readHosts', [fewestFlagged, most], HOSTS_MS));
  return {
    ...forgetting(bulk),
    ranking: async (sinceDay, most, reason) => fromLines(await bulk('ranking', [sinceDay, most, reason])),
    listHosts: async (fewestFlagged, most) => [...(await readHosts(fewestFlagged, most))],
    readHosts,
    sharedNames: () => bulk('sharedNames', [], HOSTS_MS),
    established: today => bulk('established', [today], HOSTS_MS),
    keepWhereabouts: (kept, sinceDay) => bulk('keepWhereabouts', [kept, sinceDay], NO_DEADLINE),
    whereabouts: async sinceDay => fromBytes(await bulk('whereabouts', [sinceDay], HOSTS_MS)),
    forgetHost: (name, at, act) => bulk('forgetHost', [name, at, act]),
    lastGuestDay: () => bulk('lastGuestDay', [], NO_DEADLINE),
    sweepMark: () => bulk('sweepMark', [], NO_DEADLINE),
    markSweep: mark => bulk('markSweep', [mark], NO_DEADLINE),
    snapshots: () => bulk('snapshots', []),
    snapshot: (...args) => bulk('snapshot', args, NO_DEADLINE),
    acceptSnapshot: (snapshot, was, act, where = {}) =>
      bulk('acceptSnapshot', [snapshot, was, act, where], NO_DEADLINE),
    pastSnapshots: () => bulk('pastSnapshots', []),
    swapSnapshot: (feed, to, was, act) => bulk('swapSnapshot', [feed, to, was, act], NO_DEADLINE),
    recordAct: act => bulk('recordAct', [act]),
    audit: most => bulk('audit', [most]),
    signingKey: candidate => bulk('signingKey', [candidate], NO_DEADLINE),
    showSign: sign => bulk('showSign', [sign], NO_DEADLINE),
    removeSign: id => bulk('removeSign', [id]),
    listServers: () => bulk('listServers', []),
    feedChecks: () => bulk('feedChecks', []),
    addedFeeds: () => bulk('addedFeeds', []),
    addFeed: (feed, most, act) => bulk('addFeed', [feed, most, act]),
    removeFeed: (name, act) => bulk('removeFeed', [name, act], NO_DEADLINE),
    noteCheck: (check, was, act) => bulk('noteCheck', [check, was, act], NO_DEADLINE),
    keepAsked: (asked, sinceDay) => bulk('keepAsked', [asked, sinceDay], NO_DEADLINE),
    askedNames: () => bulk('askedNames', [], NO_DEADLINE),
    changesMark: () => bulk('changesMark', []),
    writeChanges: (...args) => bulk('writeChanges', args, NO_DEADLINE),
    changesAfter: async (id, most) => JSON.parse(await bulk('changesAfter', [id, most])),
    changesBefore: at => bulk('changesBefore', [at]),
    addTraffic: (slots, now) => bulk('addTraffic', [slots, now], NO_DEADLINE),
    traffic: (span, from) => bulk('traffic', [span, from]),
    writeDecisions: (decisions, now, keptMs) => bulk('writeDecisions', [decisions, now, keptMs], NO_DEADLINE),
    decisions: async query => JSON.parse(await bulk('decisions', [query], DECISIONS_MS)),
    addVerdicts: (verdicts, sinceDay) => bulk('addVerdicts', [verdicts, sinceDay], NO_DEADLINE),
    verdictsSince: day => bulk('verdictsSince', [day]),
    raiseEvent: (event, since) => bulk('raiseEvent', [event, since], NO_DEADLINE),
    lease: name => bulk('lease', [name], NO_DEADLINE),
    // All who share the file are on one machine.
    moment: async () => Date.now(),
    swapLease: (lease, was) => bulk('swapLease', [lease, was], NO_DEADLINE),
  } satisfies Partial<Store>;
}
