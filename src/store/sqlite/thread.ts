/** The event loop's side of a thread that owns a connection to the embedded store. */

import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../../core/ports.ts';
import type { OnFormChange } from '../form.ts';
import { StoreRefused } from '../refused.ts';
import { waitAtMost } from '../wait.ts';
import type { Question, Reply, WorkerData } from './worker.ts';

/** Beyond this the caller has its 500 and the disk may take as long as it likes. */
export const DEADLINE_MS = 900;
/** For work that no caller waits for. */
export const NO_DEADLINE = null;

type Progress = (done: number, total: number) => void;

type Op<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R ? { args: A; result: Awaited<R> } : never;
};

export class Thread<T extends { close(): void }> {
  /** Waited for before it is asked anything, so that its start is not taken for a slow answer. */
  readonly up: Promise<void>;
  readonly #start = Promise.withResolvers<void>();
  readonly #onFormChange: OnFormChange;
  readonly #worker: Worker;
  readonly #deadlineMs: number;
  readonly #waiting = new Map<
    number,
    { resolve(value: never): void; reject(error: Error): void; progress?: Progress }
  >();
  #next = 0;

  constructor(
    data: WorkerData,
    onDeath: (error: Error) => void,
    onFormChange: OnFormChange,
    deadlineMs: number,
  ) {
    const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
    this.up = this.#start.promise;
    this.#onFormChange = onFormChange;
    this.#deadlineMs = deadlineMs;
    this.#worker = new Worker(file, { workerData: data });
    this.#worker.on('message', (reply: Reply) => this.#take(reply));
    const end = (why: string) => {
      this.#start.reject(new StoreUnavailable(why));
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
    if ('isUp' in reply) return this.#start.resolve();
    if ('change' in reply) return this.#onFormChange(reply.change);
    if ('refused' in reply)
      return this.#start.reject(new StoreRefused(reply.refused.problem, reply.refused.fix));
    if ('failed' in reply) return this.#start.reject(reply.failed);
    const call = this.#waiting.get(reply.id);
    if (!call) return;
    if ('done' in reply) {
      call.progress?.(reply.done, reply.total);
      return;
    }
    this.#waiting.delete(reply.id);
    if ('unavailable' in reply) call.reject(new StoreUnavailable(reply.unavailable));
    else if ('fault' in reply) call.reject(reply.fault);
    else call.resolve(reply.value as never);
  }

  ask<K extends keyof T & string>(
    op: K,
    args: Op<T>[K]['args'],
    deadline: number | null = this.#deadlineMs,
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

/** A thread that its first work starts: each costs 0.1 s and most commands need only one (November 2026). */
export class LateThread<T extends { close(): void }> {
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
