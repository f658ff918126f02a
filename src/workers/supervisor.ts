/** Starts the workers, puts another one in the place of one that died, and ends all of them together. */

import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { Handed } from '../assemble.ts';
import { CommandFailed } from '../commands/print.ts';
import type { OpenedStore } from '../compose.ts';
import type { ResolverHealth } from '../core/ports.ts';
import { SharedBuckets } from '../core/shared-rate.ts';
import { Listeners } from '../http/listeners.ts';
import type { MetricValues } from '../http/metrics.ts';
import type { Environment } from '../setting-sources.ts';
import type { Failed, FromWorker, Told, Topic, Up, WorkerStart } from './messages.ts';
import { post, Questions } from './questions.ts';
import { Whole } from './whole.ts';

/** After a death, doubled with each further one of the last minute in its place. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const REMEMBERED_MS = 60_000;
/** Of one place within that minute: what kills it again and again is for whoever supervises this process. */
const MOST_DEATHS = 5;
/**
 * Each is asked so often whether it goes on, and ended where it is silent so many times in a row. One that hung kept its
 * connections for good, with /readyz at 200 (2026-11-18). Counted, not timed: a process that slept finds all awake.
 */
const WATCH_MS = 2_000;
const MOST_SILENT = 5;
/** Ten seconds from the signal on, with the store to be closed behind them. */
const DRAIN_MS = 8_900;

type OfAll = Pick<WorkerStart, 'workers' | 'port' | 'metricsPort' | 'hasOperators' | 'alone'>;

export interface SupervisorParts extends OfAll {
  readonly store: OpenedStore;
  readonly log: Logger;
  /** Takes lines of the log as workers have made them. */
  readonly pass: (lines: string) => void;
  /** What they begin with. */
  readonly catalog: Handed;
  /** Of this thread. */
  readonly ownMetrics: () => Promise<readonly MetricValues[]>;
  /** They die again and again. */
  readonly giveUp: (error: Error) => void;
}

/** A worker, or who comes in its place. */
interface Place {
  readonly worker: number;
  thread: Worker | undefined;
  isUp: boolean;
  /** Its start failed, and it said why, such as that the store is away. */
  hasSaid: boolean;
  /** How often it has not answered since it last did. */
  silent: number;
  /** Of the last minute. */
  deaths: readonly number[];
}

export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #places: readonly Place[];
  #catalog: Handed;
  readonly #buckets = SharedBuckets.newMemory();
  readonly #whole: Whole;
  readonly #questions = new Questions();
  #replaced = 0;
  #isEnding = false;
  /** One of them while all were to end. */
  #hasFailed = false;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#catalog = parts.catalog;
    this.#places = Array.from({ length: parts.workers }, (_, worker) => ({
      ...{ worker, thread: undefined, isUp: false, hasSaid: false, silent: 0, deaths: [] },
    }));
    this.#whole = new Whole({
      askEach: (topic, ms, take) => this.#askEach(topic, ms, take),
      own: async () => [...(await parts.ownMetrics()), ...this.#ownValues()],
    });
  }

  /** All listen; rejects with what kept one of them from it. */
  async start(): Promise<void> {
    await Promise.all(this.#places.map(place => this.#start(place)));
    setInterval(() => this.#watch(), WATCH_MS).unref();
  }

  #watch(): void {
    for (const place of this.#places.filter(({ isUp }) => isUp)) {
      if (place.silent++ === MOST_SILENT) {
        this.#parts.log.error({ worker: place.worker }, 'a worker hangs: it is ended');
        void place.thread?.terminate();
      } else
        void this.#questions.ask(place.thread, 'health', WATCH_MS, () => {
          place.silent = 0;
        });
    }
  }

  async #start(place: Place): Promise<Up> {
    const { store, workers, port, metricsPort, hasOperators, alone } = this.#parts;
    const ports = await store.share?.();
    if (this.#isEnding) throw new Error('the service ends');
    const begun: WorkerStart = {
      ...{ worker: place.worker, workers, port, metricsPort, hasOperators, alone },
      store: ports,
      buckets: this.#buckets,
      catalog: this.#catalog,
    };
    const file = new URL(import.meta.url.endsWith('.ts') ? './serving.ts' : './serving.js', import.meta.url);
    const thread = new Worker(file, {
      workerData: begun,
      transferList: ports ? Object.values(ports) : [],
    });
    place.thread = thread;
    place.hasSaid = false;
    const { promise, resolve, reject } = Promise.withResolvers<Up>();
    let cause: unknown = new Error('a worker ended');
    thread.on('message', (message: FromWorker) => {
      if ('up' in message) {
        place.isUp = true;
        place.silent = 0;
        this.#whole.came(place.worker, message.up.health);
        resolve(message.up);
      } else if ('failed' in message) {
        const { failed, isExpected } = message;
        cause = isExpected ? new CommandFailed(failed.message, { cause: failed }) : failed;
        place.hasSaid = true;
      } else this.#take(thread, message);
    });
    // What nobody in it could catch any more, such as a heap that is full.
    thread.on('error', error => {
      cause = error;
    });
    thread.on('exit', code => {
      this.#hasFailed ||= this.#isEnding && code !== 0;
      const wasUp = place.isUp;
      place.thread = undefined;
      place.isUp = false;
      void this.#whole.ended(place.worker);
      if (wasUp) this.#replace(place, cause);
      else reject(cause);
    });
    return promise;
  }

  /** The next one, for all of them and for whoever takes the place of one. */
  hand(catalog: Handed): void {
    this.#catalog = catalog;
    for (const { thread } of this.#places) post(thread, { catalog });
  }

  /** Of all of them together. */
  health(): Promise<ResolverHealth> {
    return this.#whole.tell('health');
  }

  /** Valid ones: this thread has read them before. */
  reload(settings: Environment): void {
    for (const { thread } of this.#places) post(thread, { settings });
  }

  #take(thread: Worker, message: Exclude<FromWorker, { up: Up } | Failed>): void {
    if ('lines' in message) this.#parts.pass(message.lines);
    else if ('askAll' in message) {
      const { id } = message;
      void this.#whole.tell(message.askAll).then(ofAll => post(thread, { id, ofAll }));
    } else this.#questions.answered(message.id, message.told);
  }

  #replace(place: Place, cause: unknown): void {
    const { log, giveUp } = this.#parts;
    if (this.#isEnding) return;
    const now = performance.now();
    place.deaths = [...place.deaths.filter(death => now - death < REMEMBERED_MS), now];
    const deaths = place.deaths.length;
    if (deaths > MOST_DEATHS)
      return giveUp(new Error(`a worker died ${deaths} times within a minute`, { cause }));
    const ms = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (deaths - 1));
    log.error({ worker: place.worker, err: cause, ms }, 'a worker died: another one takes its place');
    setTimeout(() => this.#startAgain(place), ms);
  }

  #startAgain(place: Place): void {
    if (this.#isEnding) return;
    this.#start(place).then(
      () => {
        this.#replaced++;
        this.#parts.log.info({ worker: place.worker }, 'a worker was replaced');
      },
      error => {
        // While others serve that is no death: where the store was away, one became six, and ended them all (2026-11-19).
        if (place.hasSaid && this.#places.some(({ isUp }) => isUp)) this.#tryLater(place, error);
        else this.#replace(place, error);
      },
    );
  }

  #tryLater(place: Place, err: unknown): void {
    const ms = LONGEST_PAUSE_MS;
    this.#parts.log.error({ worker: place.worker, err, ms }, 'a worker could not start: it is tried again');
    setTimeout(() => this.#startAgain(place), ms);
  }

  async #askEach<T extends Topic>(
    topic: T,
    ms: number,
    take: (worker: number, told: Told[T]) => void,
  ): Promise<void> {
    const up = this.#places.filter(({ isUp }) => isUp);
    const ask = ({ thread, worker }: Place) =>
      this.#questions.ask(thread, topic, ms, told => take(worker, told));
    await Promise.all(up.map(ask));
  }

  #ownValues(): MetricValues[] {
    const up = this.#places.filter(({ isUp }) => isUp).length;
    const help = 'Workers in the place of one that died.';
    return [
      valuesOf('domain_risk_workers', 'Threads that serve.', 'gauge', up),
      valuesOf('domain_risk_workers_replaced_total', help, 'counter', this.#replaced),
    ];
  }

  /** Every one answers what it has taken. Rejects where one had a fault meanwhile. */
  async drain(): Promise<void> {
    this.#isEnding = true;
    const threads = this.#places.flatMap(({ thread }) => (thread ? [thread] : []));
    const ended = threads.map(thread => new Promise(resolve => thread.once('exit', resolve)));
    const together = { memory: Listeners.newMemory(), workers: threads.length };
    for (const thread of threads) post(thread, { drain: together });
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      for (const thread of threads) void thread.terminate();
    }, DRAIN_MS);
    await Promise.all(ended);
    clearTimeout(late);
    if (this.#hasFailed && !isLate) throw new Error('a worker had a fault while it ended');
  }
}

function valuesOf(name: string, help: string, type: string, value: number): MetricValues {
  const metric = { name, help, type, aggregator: 'sum', values: [{ value, labels: {} }] };
  return metric as unknown as MetricValues;
}
