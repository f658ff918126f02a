/** The embedded store: one SQLite file, written in group commits from a worker thread. */

import { closeSync } from 'node:fs';
import type { MessagePort } from 'node:worker_threads';
import type { Store } from '../../core/ports.ts';
import { Batcher } from '../batch.ts';
import type { OnFormChange } from '../form.ts';
import { provedOnce } from '../proof.ts';
import { type Asking, DEADLINE_MS } from './asking.ts';
import type { Counter, Records } from './connection.ts';
import type { Copier } from './copier.ts';
import { createCopies, type InThreadOfItsOwn } from './copies.ts';
import { forgetPair } from './pair.ts';
import { type Ask, bulkWork, records } from './questions.ts';
import { DistantThread, LateThread, Thread } from './thread.ts';
import type { WorkerData } from './worker.ts';

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
