/** The embedded store: one SQLite file, written in group commits from a worker thread. */

import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { type Spend, type Spent, type Store, StoreUnavailable } from '../core/ports.ts';
import { checkIntegrity, openDatabase, StoreRefused } from './open.ts';
import type { SpendGroup, SpendResult } from './spender.ts';
import type { Clerk, Counter, Question, Reply, WorkerData } from './worker.ts';

/** Beyond this the caller has its 500 and the disk may take as long as it likes. */
const DEADLINE_MS = 900;
/** For work that no caller waits for. */
const NO_DEADLINE = undefined;

type Op<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R ? { args: A; result: Awaited<R> } : never;
};

class Thread<T extends { close(): void }> {
  readonly #worker: Worker;
  readonly #waiting = new Map<
    number,
    { resolve(value: never): void; reject(error: Error): void; progress?: Progress }
  >();
  #next = 0;

  constructor(data: WorkerData, onDeath: (error: Error) => void) {
    const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
    this.#worker = new Worker(file, { workerData: data });
    this.#worker.on('message', (reply: Reply) => this.#take(reply));
    this.#worker.on('error', error => {
      for (const call of this.#waiting.values()) call.reject(new StoreUnavailable('the store thread died'));
      this.#waiting.clear();
      onDeath(error as Error);
    });
  }

  #take(reply: Reply): void {
    const call = this.#waiting.get(reply.id);
    if (!call) return;
    if ('done' in reply) {
      call.progress?.(reply.done, reply.total);
      return;
    }
    this.#waiting.delete(reply.id);
    if ('error' in reply) call.reject(new StoreUnavailable(reply.error));
    else call.resolve(reply.value as never);
  }

  ask<K extends keyof T & string>(
    op: K,
    args: Op<T>[K]['args'],
    deadline: number | undefined = DEADLINE_MS,
    progress?: Progress,
  ): Promise<Op<T>[K]['result']> {
    const id = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<Op<T>[K]['result']>();
    this.#waiting.set(id, progress ? { resolve, reject, progress } : { resolve, reject });
    this.#worker.postMessage({ id, op, args } satisfies Question);
    if (deadline === undefined) return promise;
    const timer = setTimeout(() => {
      this.#waiting.delete(id);
      reject(new StoreUnavailable(`the store did not answer ${op} within ${deadline} ms`));
    }, deadline);
    return promise.finally(() => clearTimeout(timer));
  }

  async stop(): Promise<void> {
    await this.ask('close', [] as Op<T>['close']['args']).catch(() => {});
    await this.#worker.terminate();
  }
}

type Progress = (done: number, total: number) => void;

interface PendingGroup extends Omit<SpendGroup, 'calls'> {
  readonly waiters: { resolve(spent: Spent): void; reject(error: Error): void }[];
}

/**
 * A commit costs about 250 µs of processor time whatever it holds (two threads to wake, a transaction, an fsync;
 * measured 2026-11-15), a call inside it 6 µs. So under load commits begin at least this far apart; a call that
 * finds the store at rest is counted at once.
 */
const COMMIT_SPACING_MS = 1;

/** Calls that arrive while a commit is under way share the next one. */
class Batcher {
  readonly #counter: Thread<Counter>;
  #pending = new Map<string, PendingGroup>();
  #busy = false;
  #lastFlush = 0;

  constructor(counter: Thread<Counter>) {
    this.#counter = counter;
  }

  spend(spend: Spend, revision: number): Promise<Spent> {
    const { promise, resolve, reject } = Promise.withResolvers<Spent>();
    const name = `${spend.keyId} ${spend.month} ${revision}`;
    const group = this.#pending.get(name);
    if (group) group.waiters.push({ resolve, reject });
    else this.#pending.set(name, { ...spend, revision, waiters: [{ resolve, reject }] });
    if (!this.#busy) {
      this.#busy = true;
      this.#schedule();
    }
    return promise;
  }

  #schedule(): void {
    // At the earliest after the poll phase, so that all calls that the kernel had ready go into one commit.
    if (performance.now() - this.#lastFlush >= COMMIT_SPACING_MS) setImmediate(() => this.#flush());
    else setTimeout(() => this.#flush(), COMMIT_SPACING_MS);
  }

  async #flush(): Promise<void> {
    this.#lastFlush = performance.now();
    const groups = [...this.#pending.values()];
    this.#pending = new Map();
    try {
      const results = await this.#counter.ask('spend', [
        groups.map(({ waiters, ...group }) => ({ ...group, calls: waiters.length })),
      ]);
      for (const [i, group] of groups.entries()) settle(group, results[i]!);
    } catch (error) {
      for (const group of groups) for (const waiter of group.waiters) waiter.reject(error as Error);
    }
    if (this.#pending.size > 0) this.#schedule();
    else this.#busy = false;
  }
}

/** The first callers get what was granted, each with the count as it stood after its own call. */
function settle(group: PendingGroup, result: SpendResult): void {
  if (result === 'changed') {
    for (const waiter of group.waiters) waiter.resolve({ outcome: 'changed' });
    return;
  }
  const before = result.used - result.granted;
  for (const [i, waiter] of group.waiters.entries()) {
    waiter.resolve(
      i < result.granted
        ? { outcome: 'granted', used: before + i + 1 }
        : { outcome: 'exhausted', used: result.used },
    );
  }
}

/** Opens the file at `path`, or throws StoreRefused with a message that names the fix. */
export async function openSqliteStore(path: string, onDeath: (error: Error) => void): Promise<Store> {
  const db = openDatabase(path);
  try {
    checkIntegrity(db, path);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
  const counter = new Thread<Counter>({ path, role: 'counter' }, onDeath);
  const clerk = new Thread<Clerk>({ path, role: 'clerk' }, onDeath);
  const batcher = new Batcher(counter);
  await clerk.ask('revision', [], 10_000);

  return {
    spend: (spend, revision) => batcher.spend(spend, revision),
    revision: () => clerk.ask('revision', []),
    keyByDigest: digest => clerk.ask('keyByDigest', [digest]),
    used: (keyId, month) => clerk.ask('used', [keyId, month]),
    createKey: key => clerk.ask('createKey', [key]),
    createFirstKey: key => clerk.ask('createFirstKey', [key]),
    updateKey: key => clerk.ask('updateKey', [key]),
    listKeys: () => clerk.ask('listKeys', []),
    setOverride: override => clerk.ask('setOverride', [override]),
    removeOverride: domain => clerk.ask('removeOverride', [domain]),
    listOverrides: () => clerk.ask('listOverrides', []),
    flag: (flags, sinceDay) => clerk.ask('flag', [flags, sinceDay], NO_DEADLINE),
    ranking: (sinceDay, most, reason) => clerk.ask('ranking', [sinceDay, most, reason]),
    async backup(target, progress) {
      if (existsSync(target)) throw new StoreRefused(`${target} exists already: name a new file`);
      // Made here and not by SQLite, so that nobody else can read it while it is being written.
      await (await open(target, 'wx', 0o600)).close();
      await clerk.ask('backup', [target], NO_DEADLINE, progress);
    },
    async restore(source) {
      // Opening it as a store checks that it is one, whole, and of a version that this program knows.
      const copy = openDatabase(source);
      try {
        checkIntegrity(copy, source);
      } finally {
        copy.close();
      }
      await clerk.ask('restore', [source], NO_DEADLINE);
    },
    async close() {
      await Promise.all([counter.stop(), clerk.stop()]);
    },
  };
}
