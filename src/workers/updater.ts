/** Keeps the lists of a running service fresh, by itself. */

import { randomUUID } from 'node:crypto';
import { once as onceOf } from 'node:events';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { OpenedStore } from '../compose.ts';
import type { Config } from '../config.ts';
import { removeLeft } from '../feeds/folders.ts';
import { FEED_IDS } from '../feeds/sources.ts';
import { tellOfUpdates } from '../observe-updates.ts';
import { PERIODS, type Schedule, scheduleUpdates } from '../schedule.ts';
import { noteFailed, type Updated } from '../update.ts';
import { begunIn, markEndedAtLast } from './begun.ts';
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
  void removeLeft();
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
const MOST_MIB = 1_024;
/** Enough to begin with, and to tell what there is no room for. With all lists installed, 200,000 names came in 64. */
const LEAST_MIB = 32;

/** In bytes. */
export interface Memory {
  /** Of V8, for this program alone. */
  readonly limit: number;
  readonly used: number;
  /** Of the container; 0 where there is no limit. */
  readonly container: number;
  readonly resident: number;
}

/** Half of what is left, since what is read lies outside of its heap at first, and the service goes on meanwhile. */
export function roomIn({ limit, used, container, resident }: Memory): number {
  const left = Math.min(limit - used, container > 0 ? container - resident : Number.POSITIVE_INFINITY);
  return Math.max(LEAST_MIB, Math.min(MOST_MIB, Math.floor(left / 2 / 2 ** 20)));
}

function memoryNow(): Memory {
  const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
  return { limit, used, container: process.constrainedMemory(), resident: process.memoryUsage.rss() };
}

/** More than a list may take to come (update/fresh.ts), be cleaned, tried out and written. */
const LIST_MS = 600_000;

export interface Limits {
  readonly mib?: number;
  /** Of one list as a whole. */
  readonly listMs?: number;
}

/** A list that its thread had no room or no end for is left out, however many they are, and the others are updated. */
export async function updateInThread(
  config: UpdaterStart['config'],
  store: OpenedStore,
  stop: AbortSignal,
  limits: Limits = {},
  once = updateOnce,
): Promise<readonly Updated[]> {
  const { mib = roomIn(memoryNow()), listMs = LIST_MS } = limits;
  const { database, feedsOff, dataDir } = config;
  const id = randomUUID();
  const ended: Updated[] = [];
  const lost: string[] = [];
  const began = Date.now();
  const lose = async (feed: string, problem: string) => {
    lost.push(feed);
    if (await isFollowed(feed, config, store, began))
      ended.push(await noteFailed(feed, problem, { store, clock: store.moment }));
  };
  try {
    // Those before it were told of when they were lost.
    const [last, ...earlier] = (await begunIn(store)).toReversed();
    lost.push(...earlier);
    if (last !== undefined) await lose(last, DIED);
    for (;;) {
      const without = [...lost, ...ended.map(({ feed }) => feed)];
      const start = { config: { database, feedsOff, dataDir }, id, without, lost };
      const one = await once(start, store, stop, { mib, listMs }, updated => void ended.push(updated));
      if (!one) return ended;
      await lose(one.feed, one.problem);
    }
  } finally {
    await markEndedAtLast(store, id);
  }
}

const DIED =
  'the service ended or stood still while it was read, perhaps for lack of memory; the next update tries it again';

/** An operator's own that was added since is another list, whatever had its name before. */
const isFollowed = async (
  feed: string,
  { feedsOff }: UpdaterStart['config'],
  store: OpenedStore,
  began: number,
) =>
  !feedsOff.includes(feed) &&
  (FEED_IDS.includes(feed) ||
    (await store.addedFeeds()).some(({ name, addedAt }) => name === feed && addedAt < began));

/** The list that its thread did not survive. */
interface Lost {
  readonly feed: string;
  readonly problem: string;
}

/** What holds the thread itself, no deadline in it can end: its parent keeps this one. */
async function updateOnce(
  start: Omit<UpdaterStart, 'store'>,
  store: OpenedStore,
  stop: AbortSignal,
  { mib, listMs }: Required<Limits>,
  ended: (updated: Updated) => void,
): Promise<Lost | undefined> {
  const ports = await store.share?.();
  const file = new URL(import.meta.url.endsWith('.ts') ? './updating.ts' : './updating.js', import.meta.url);
  const workerData: UpdaterStart = { ...start, store: ports };
  const thread = new Worker(file, {
    workerData,
    transferList: ports ? Object.values(ports) : [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB, maxOldGenerationSizeMb: mib },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Lost | undefined>();
  let begun: string | undefined;
  const fail = (problem: string, error = new Error(`the feeds could not be updated: ${problem}`)) =>
    begun === undefined ? reject(error) : resolve({ feed: begun, problem });
  const isLate = (ms: number) => fail(`it did not finish within ${ms / 1000} s`);
  let timer = setTimeout(isLate, LIST_MS, LIST_MS);
  const giveUp = () => reject(new Error('the update of the feeds was given up'));
  stop.addEventListener('abort', giveUp);
  if (stop.aborted) giveUp();
  thread.on('message', (message: FromUpdater) => {
    if ('done' in message) return resolve(undefined);
    begun = 'begun' in message ? message.begun : undefined;
    if ('ended' in message) return ended(message.ended);
    clearTimeout(timer);
    timer = setTimeout(isLate, listMs, listMs);
  });
  thread.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return reject(error);
    fail(`reading it takes more memory than the ${Math.floor(mib)} MiB that an update may have`, error);
  });
  thread.on('exit', code => reject(new Error(`the update of the feeds ended with ${code}`)));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', giveUp);
    // Between lists it has started nothing, and what has ended has no number.
    if (begun !== undefined && thread.threadId !== -1) await endBySelf(thread);
    await thread.terminate();
  }
}

/** Where something holds it, it has not started npm: that is waited for. */
const ENDING_MS = 2_000;

async function endBySelf(thread: Worker): Promise<void> {
  thread.postMessage('end');
  await onceOf(thread, 'exit', { signal: AbortSignal.timeout(ENDING_MS) }).catch(() => {});
}
