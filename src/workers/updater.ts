/** Keeps the lists of a running service fresh, by itself. */

import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { OpenedStore } from '../compose.ts';
import type { Config } from '../config.ts';
import { tellOfUpdates } from '../observe-updates.ts';
import { PERIODS, type Schedule, scheduleUpdates } from '../schedule.ts';
import type { Updated } from '../update.ts';
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
    clock: Date.now,
  });
}

export async function updateInThread(
  { database, feedsOff, dataDir }: UpdaterStart['config'],
  store: OpenedStore,
  stop: AbortSignal,
): Promise<readonly Updated[]> {
  const ports = await store.share?.();
  const start: UpdaterStart = { config: { database, feedsOff, dataDir }, store: ports };
  const file = new URL(import.meta.url.endsWith('.ts') ? './updating.ts' : './updating.js', import.meta.url);
  const thread = new Worker(file, {
    workerData: start,
    transferList: ports ? Object.values(ports) : [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<readonly Updated[]>();
  const giveUp = () => void thread.terminate();
  stop.addEventListener('abort', giveUp);
  if (stop.aborted) giveUp();
  thread.on('message', ({ done }: FromUpdater) => resolve(done));
  thread.on('error', reject);
  thread.on('exit', () => reject(new Error('the update of the feeds was given up')));
  try {
    return await promise;
  } finally {
    stop.removeEventListener('abort', giveUp);
    await thread.terminate();
  }
}
