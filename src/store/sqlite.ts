/** The embedded store: one SQLite file, written in group commits from a worker thread. */

import { existsSync } from 'node:fs';
import { chmod, copyFile, open, rename, rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { type Store, StoreUnavailable } from '../core/ports.ts';
import { Batcher } from './batch.ts';
import { fromLines } from './lines.ts';
import { examine, isMarked, openDatabase } from './open.ts';
import { provedOnce } from './proof.ts';
import { StoreRefused } from './refused.ts';
import { waitAtMost } from './wait.ts';
import type { Clerk, Counter, Question, Reply, WorkerData } from './worker.ts';

/** Beyond this the caller has its 500 and the disk may take as long as it likes. */
const DEADLINE_MS = 900;
/** For work that no caller waits for. */
const NO_DEADLINE = null;

type Op<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R ? { args: A; result: Awaited<R> } : never;
};

class Thread<T extends { close(): void }> {
  /** Waited for before it is asked anything, so that its start is not taken for a slow answer. */
  readonly up: Promise<void>;
  readonly #isUp: () => void;
  readonly #worker: Worker;
  readonly #waiting = new Map<
    number,
    { resolve(value: never): void; reject(error: Error): void; progress?: Progress }
  >();
  #next = 0;

  constructor(data: WorkerData, onDeath: (error: Error) => void) {
    const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.up = promise;
    this.#isUp = resolve;
    this.#worker = new Worker(file, { workerData: data });
    this.#worker.on('message', (reply: Reply) => this.#take(reply));
    const end = (why: string) => {
      reject(new StoreUnavailable(why));
      for (const call of this.#waiting.values()) call.reject(new StoreUnavailable(why));
      this.#waiting.clear();
    };
    this.#worker.on('exit', () => end('the store is closed'));
    this.#worker.on('error', error => {
      end('the store thread died');
      onDeath(error as Error);
    });
  }

  #take(reply: Reply): void {
    if ('isUp' in reply) return this.#isUp();
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
    deadline: number | null = DEADLINE_MS,
    progress?: Progress,
  ): Promise<Op<T>[K]['result']> {
    const id = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<Op<T>[K]['result']>();
    this.#waiting.set(id, progress ? { resolve, reject, progress } : { resolve, reject });
    this.#worker.postMessage({ id, op, args } satisfies Question);
    if (deadline === null) return promise;
    const wait = waitAtMost(deadline, () => {
      this.#waiting.delete(id);
      reject(new StoreUnavailable(`the store did not answer ${op} within ${Math.round(deadline)} ms`));
    });
    return promise.finally(wait.end);
  }

  async stop(): Promise<void> {
    await this.ask('close', [] as Op<T>['close']['args']).catch(() => {});
    await this.#worker.terminate();
  }
}

type Progress = (done: number, total: number) => void;

/** Made here and not by SQLite, so that nobody else can read it while it is being written. */
async function makeFile(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StoreRefused(
      code === 'EEXIST'
        ? `${path} exists already: remove it if no other backup is writing it`
        : `cannot write ${path} (${code}): name a file in a directory that exists and that this user can write to`,
    );
  }
}

/** A thread that its first work starts: each costs 0.1 s and most commands need only one (November 2026). */
class LateThread<T extends { close(): void }> {
  readonly #start: () => Thread<T>;
  #thread: Thread<T> | undefined;
  #isClosed = false;

  constructor(start: () => Thread<T>) {
    this.#start = start;
  }

  readonly ask: Thread<T>['ask'] = async (op, args, deadline, progress) => {
    if (this.#isClosed) throw new StoreUnavailable('the store is closed');
    this.#thread ??= this.#start();
    await this.#thread.up;
    return this.#thread.ask(op, args, deadline, progress);
  };

  async stop(): Promise<void> {
    this.#isClosed = true;
    // Work that waits for its start comes before its end.
    await this.#thread?.up.catch(() => {});
    await this.#thread?.stop();
  }
}

/** Opens the file at `path`, or throws StoreRefused with a message that names the fix. */
export async function openSqliteStore(path: string, onDeath: (error: Error) => void): Promise<Store> {
  if (existsSync(path)) examine(path);
  const db = openDatabase(path);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  const clerk = new Thread<Clerk>({ path, role: 'clerk' }, onDeath);
  const counter = new LateThread<Counter>(() => new Thread({ path, role: 'counter' }, onDeath));
  // Bulk work goes to a thread of its own: a call that needs its key read never waits behind it.
  const archivist = new LateThread<Clerk>(() => new Thread({ path, role: 'clerk' }, onDeath));
  const archive = archivist.ask;
  const batcher = new Batcher({
    count: (groups, ms) => counter.ask('spend', [groups], ms),
    lanes: 1,
    deadlineMs: DEADLINE_MS,
  });
  await clerk.up;
  let closing: Promise<void> | undefined;

  return {
    spend: (spend, revision) => batcher.spend(spend, revision),
    ready: provedOnce(() => counter.ask('prove', [])),
    revision: () => clerk.ask('revision', []),
    keyByDigest: digest => clerk.ask('keyByDigest', [digest]),
    used: (keyId, month) => clerk.ask('used', [keyId, month]),
    usedInMonth: month => archive('usedInMonth', [month]),
    usageDays: (sinceDay, keyId) =>
      keyId === undefined
        ? archive('usageDays', [sinceDay, keyId])
        : clerk.ask('usageDays', [sinceDay, keyId]),
    createKey: (key, act) => clerk.ask('createKey', [key, act]),
    createFirstKey: (key, act) => clerk.ask('createFirstKey', [key, act]),
    updateKey: (key, was, act) => clerk.ask('updateKey', [key, was, act]),
    listKeys: () => clerk.ask('listKeys', []),
    setOverride: (override, act) => clerk.ask('setOverride', [override, act]),
    removeOverride: (domain, act) => clerk.ask('removeOverride', [domain, act]),
    listOverrides: () => clerk.ask('listOverrides', []),
    flag: (flags, sinceDay) => archive('flag', [flags, sinceDay], NO_DEADLINE),
    ranking: async (sinceDay, most, reason) => fromLines(await archive('ranking', [sinceDay, most, reason])),
    learn: (guests, shared, day, sinceDay) => archive('learn', [guests, shared, day, sinceDay], NO_DEADLINE),
    listHosts: (fewestFlagged, most) => archive('listHosts', [fewestFlagged, most]),
    forgetHost: (name, at, act) => archive('forgetHost', [name, at, act]),
    sweepMark: () => archive('sweepMark', []),
    markSweep: mark => archive('markSweep', [mark]),
    snapshots: () => archive('snapshots', []),
    snapshot: feed => archive('snapshot', [feed], NO_DEADLINE),
    acceptSnapshot: (snapshot, was, act) => archive('acceptSnapshot', [snapshot, was, act], NO_DEADLINE),
    removeSnapshot: (feed, act) => archive('removeSnapshot', [feed, act], NO_DEADLINE),
    audit: most => archive('audit', [most]),
    async backup(target, progress) {
      if (existsSync(target)) throw new StoreRefused(`${target} exists already: name a new file`);
      // Nothing has the name of a backup before it is a whole one.
      const partial = `${target}.partial`;
      await makeFile(partial);
      try {
        await archive('backup', [partial], NO_DEADLINE, progress);
        await rename(partial, target);
      } catch (error) {
        for (const end of ['', '-journal']) await rm(partial + end, { force: true });
        throw error;
      }
    },
    async restore(source, act) {
      // From a copy: the backup may be on a medium that is only read, and an older one is brought up to date.
      const copy = `${path}.restoring-${process.pid}`;
      try {
        await copyFile(source, copy).catch(error => {
          throw new StoreRefused(`cannot read ${source} (${error.code}): name a file made by backup`);
        });
        await chmod(copy, 0o600);
        examine(copy, source);
        if (!isMarked(copy)) throw new StoreRefused(`${source} is empty: name a file made by backup`);
        openDatabase(copy).close();
        await archive('restore', [copy, act], NO_DEADLINE);
      } finally {
        for (const end of ['', '-wal', '-shm']) await rm(copy + end, { force: true });
      }
    },
    close() {
      // One after the other: the last one out empties the journal, and two at once each take the other for it.
      closing ??= counter
        .stop()
        .then(() => clerk.stop())
        .then(() => archivist.stop());
      return closing;
    },
  };
}
