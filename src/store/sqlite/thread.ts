/** The event loop's side of a thread that owns a connection to the embedded store. */

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../../core/ports.ts';
import type { OnFormChange } from '../form.ts';
import { StoreRefused } from '../refused.ts';
import { type Answer, Asking, type Newcomer } from './asking.ts';
import type { Reply, WorkerData } from './worker.ts';

export class Thread<T extends { close(): void }> {
  /**
   * Waited for before it is asked anything, so that its start is not taken for a slow answer. A descriptor of the file, to
   * be closed when all threads have ended; a copier has none.
   */
  readonly up: Promise<number | undefined>;
  readonly ask: Asking<T>['ask'];
  readonly #start = Promise.withResolvers<number | undefined>();
  readonly #onFormChange: OnFormChange;
  readonly #worker: Worker;
  readonly #asking: Asking<T>;

  constructor(
    data: WorkerData,
    onDeath: (error: Error) => void,
    onFormChange: OnFormChange,
    deadlineMs: number,
  ) {
    const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
    this.up = this.#start.promise;
    this.#onFormChange = onFormChange;
    this.#worker = new Worker(file, { workerData: data, trackUnmanagedFds: false });
    this.#asking = new Asking(this.#worker, deadlineMs);
    this.ask = this.#asking.ask;
    this.#worker.on('message', (reply: Reply) => this.#take(reply));
    const end = (why: string) => {
      this.#start.reject(new StoreUnavailable(why));
      this.#asking.end(why);
    };
    this.#worker.on('exit', () => end('the store is closed'));
    this.#worker.on('error', error => {
      end('the store thread died');
      onDeath(error as Error);
    });
  }

  #take(reply: Reply): void {
    if ('isUp' in reply) this.#start.resolve(reply.file);
    else if ('change' in reply) this.#onFormChange(reply.change);
    else if ('refused' in reply)
      this.#start.reject(new StoreRefused(reply.refused.problem, reply.refused.fix));
    else if ('failed' in reply) this.#start.reject(reply.failed);
    else this.#asking.take(reply);
  }

  /** By which another thread may ask as well: it can be handed over. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage({ newcomer: port1 } satisfies Newcomer, [port1]);
    return port2;
  }

  async stop(): Promise<void> {
    await this.ask('close', [] as Parameters<typeof this.ask<'close'>>[1]).catch(() => {});
    await this.#worker.terminate();
  }
}

/** A thread that its first work starts: each costs 0.1 s and most commands need only one (November 2026). */
export class LateThread<T extends { close(): void }> {
  readonly #start: () => Thread<T>;
  #thread: Thread<T> | undefined;
  /** The same, once it can be asked: the way there makes no promise then. */
  #up: Thread<T> | undefined;
  #isClosed = false;

  constructor(start: () => Thread<T>) {
    this.#start = start;
  }

  readonly ask: Thread<T>['ask'] = (op, args, deadline, progress) =>
    this.#up?.ask(op, args, deadline, progress) ??
    this.#started().then(thread => thread.ask(op, args, deadline, progress));

  async connect(): Promise<MessagePort> {
    return (await this.#started()).connect();
  }

  async #started(): Promise<Thread<T>> {
    if (this.#isClosed) throw new StoreUnavailable('the store is closed');
    this.#thread ??= this.#start();
    await this.#thread.up;
    if (!this.#isClosed) this.#up = this.#thread;
    return this.#thread;
  }

  async stop(): Promise<void> {
    this.#isClosed = true;
    this.#up = undefined;
    // Work that waits for its start comes before its end.
    await this.#thread?.up.catch(() => {});
    await this.#thread?.stop();
  }
}

/** A thread that this one did not start: asked over a port that was handed over by who did. */
export class DistantThread<T> {
  readonly ask: Asking<T>['ask'];
  readonly #port: MessagePort;

  constructor(port: MessagePort, deadlineMs: number) {
    const asking = new Asking<T>(port, deadlineMs);
    this.ask = asking.ask;
    this.#port = port;
    port.on('message', (answer: Answer) => asking.take(answer));
    port.on('close', () => asking.end('the store is closed'));
  }

  /** The thread itself goes on. */
  leave(): void {
    this.#port.close();
  }
}
