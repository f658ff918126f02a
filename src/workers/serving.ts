/** One worker: a thread that serves at the port of the process, beside others that do the same. */

import { parentPort, workerData } from 'node:worker_threads';
import type { Handed } from '../assemble.ts';
import { isExpected } from '../commands/expected.ts';
import { logInto } from '../commands/log.ts';
import { joinCatalog, joinStore } from '../compose.ts';
import { type Config, readConfig } from '../config.ts';
import type { Catalog } from '../core/catalog.ts';
import { SharedBuckets } from '../core/shared-rate.ts';
import { Listeners, type Together } from '../http/listeners.ts';
import { tellOfFeeds } from '../observe.ts';
import { reloadingFrom } from '../reload.ts';
import { type Crew, type Service, startWorker } from '../service.ts';
import type { FromWorker, ToldOfAll, Topic, ToWorker, WorkerStart } from './messages.ts';

/** As in `commands/serve.ts`: it answers what it has taken, and another worker takes its place. */
const GIVE_UP_MS = 10_000;

const port = parentPort!;
const begun = workerData as WorkerStart;
const { workers } = begun;
const tell = (message: FromWorker) => port.postMessage(message);

function fail(error: unknown): never {
  tell({ failed: error as Error, isExpected: isExpected(error) });
  process.exit(1);
}

/** A file that one of the settings names may be gone. */
function readSettings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    return fail(error);
  }
}

const given = { ...readSettings(), port: begun.port, metricsPort: begun.metricsPort };
const log = logInto(given.logLevel, { write: lines => tell({ lines }) });
const { config, reload } = reloadingFrom(given, log, begun.hasOperators);
/** By a clock that is the same in all threads: `performance.now` begins with each. */
const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now();
const ticks = () => performance.now() + offset;

let service: Service | undefined;
let hasFault = false;

function die(error: unknown): void {
  hasFault = true;
  log.fatal({ err: error }, 'something that must never happen: a worker ends');
  setTimeout(() => process.exit(1), GIVE_UP_MS).unref();
  Promise.resolve(service?.close()).finally(() => process.exit(1));
}
process.on('uncaughtException', die);
process.on('unhandledRejection', die);

const waiting = new Map<number, (told: never) => void>();
let asked = 0;

function askAll<T extends Topic>(topic: T): Promise<ToldOfAll[T]> {
  const { promise, resolve } = Promise.withResolvers<ToldOfAll[T]>();
  waiting.set(++asked, resolve);
  tell({ askAll: topic, id: asked });
  return promise;
}

port.on('message', async (message: ToWorker) => {
  if ('drain' in message) return end(message.drain);
  if ('settings' in message) return reload(message.settings);
  if ('catalog' in message) return followed(message.catalog);
  if ('ask' in message) {
    const told = message.ask === 'health' ? service!.health() : await service!.metrics();
    return tell({ id: message.id, told });
  }
  waiting.get(message.id)?.(message.ofAll as never);
  waiting.delete(message.id);
});

/** Also while it still starts: nobody has come to it then. */
function end(together: Together): void {
  if (!service) for (const port of [0, 1]) new Listeners(together, port).closed();
  Promise.resolve(service?.close(together)).then(() => process.exit(hasFault ? 1 : 0), die);
}

let latest = begun.catalog;
let adopt: ((next: Catalog) => Promise<void>) | undefined;
let adopting = Promise.resolve();

/** One after the other, and of several only the last. Before it has started they wait. */
function followed(next: Handed): void {
  latest = next;
  if (!adopt) return;
  adopting = adopting
    .then(async () => {
      if (next === latest) await adopt!(await joinCatalog(config, next));
    })
    .catch(tellOfFeeds(log).unfollowed);
}

const crew: Crew = {
  workers,
  buckets: new SharedBuckets(begun.buckets),
  isStarting: () => Atomics.load(begun.alone, 0) === 0,
  whole: { health: () => askAll('health'), metrics: () => askAll('metrics') },
  follow(put) {
    adopt = put;
    if (latest !== begun.catalog) followed(latest);
  },
};

try {
  const store = await joinStore(config, begun.store, workers);
  const catalog = await joinCatalog(config, begun.catalog);
  service = await startWorker({ config, log, store, catalog, clock: Date.now, ticks, crew });
  tell({ up: { health: service.health() } });
} catch (error) {
  fail(error);
}
