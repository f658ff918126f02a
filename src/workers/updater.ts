/** Keeps the lists of a running service fresh, by itself. */

import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { OpenedStore } from '../compose.ts';
import type { Config } from '../config.ts';
import { tellOfUpdates } from '../observe-updates.ts';
import { PERIODS, type Schedule, scheduleUpdates } from '../schedule.ts';
import { noteFailed, type Updated } from '../update.ts';
import type { FromUpdater, UpdaterStart } from './updating.ts';

/**
 * Of the thread's heap, for what it just made. Reading and folding the installed lists, with none fetched, took 144 MiB
 * more at its height and left 72 behind with this (one run), 255 to 279 and 193 to 202 with what V8 chooses (two runs,
 * a busy machine, 2026-11-16).
 */
const YOUNG_MIB = 3;

interface Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly store: OpenedStore;
}

/** Undefined where an operator does not want it. */
export function keepFresh({ config, log, store }: Parts): Schedule | undefined {
  const { feedsUpdate } = config;
  if (feedsUpdate === 'off') return undefined;
  return scheduleUpdates({
    store,
    everyMs: PERIODS[feedsUpdate],
    update: stop => updateInThread(config, store, stop),
    tell: tellOfUpdates(log, Date.now),
    clock: store.moment,
  });
}

/**
 * Of what it keeps. Where a list takes more, its own thread ends and not the service: 32 kB on the wire ended it
 * (2026-11-17). A list of a million names takes less than half.
 */
const OLD_MIB = 1_024;

const MOST_OUTGROWN = 3;

/** A list that its thread had no room for is left out, and the others are updated all the same. */
export async function updateInThread(
  config: UpdaterStart['config'],
  store: OpenedStore,
  stop: AbortSignal,
  mib = Math.min(OLD_MIB, getHeapStatistics().heap_size_limit / 2 ** 20),
): Promise<readonly Updated[]> {
  const failed: Updated[] = [];
  for (;;) {
    const feedsOff = [...config.feedsOff, ...failed.map(({ feed }) => feed)];
    const done = await updateOnce({ ...config, feedsOff }, store, stop, mib);
    if (!('outgrown' in done)) return [...failed, ...done];
    // It is not one list, then.
    if (failed.length === MOST_OUTGROWN)
      throw new Error('the feeds need more memory than an update may have');
    const problem = `reading it takes more memory than the ${Math.floor(mib)} MiB that an update may have`;
    failed.push(await noteFailed(done.outgrown, problem, { store, clock: Date.now }));
  }
}

async function updateOnce(
  { database, feedsOff, dataDir }: UpdaterStart['config'],
  store: OpenedStore,
  stop: AbortSignal,
  mib: number,
): Promise<readonly Updated[] | { readonly outgrown: string }> {
  const ports = await store.share?.();
  const start: UpdaterStart = { config: { database, feedsOff, dataDir }, store: ports };
  const file = new URL(import.meta.url.endsWith('.ts') ? './updating.ts' : './updating.js', import.meta.url);
  const thread = new Worker(file, {
    workerData: start,
    transferList: ports ? Object.values(ports) : [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB, maxOldGenerationSizeMb: mib },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof updateOnce>>>();
  let begun: string | undefined;
  const giveUp = () => void thread.terminate();
  stop.addEventListener('abort', giveUp);
  if (stop.aborted) giveUp();
  thread.on('message', (message: FromUpdater) => {
    if ('done' in message) resolve(message.done);
    else begun = message.begun;
  });
  thread.on('error', error => {
    const isOutgrown = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (isOutgrown && begun !== undefined) resolve({ outgrown: begun });
    else reject(error);
  });
  thread.on('exit', () => reject(new Error('the update of the feeds was given up')));
  try {
    return await promise;
  } finally {
    stop.removeEventListener('abort', giveUp);
    await thread.terminate();
  }
}
