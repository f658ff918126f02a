/** What takes seconds is made in a thread of its own, so that no call waits for it: 10 million names held them for 40 ms. */

import { setImmediate as turn } from 'node:timers/promises';
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { type Handed, handingOver, inTurns, type Unreadable } from '../assemble.ts';
import { joinCatalog, type OpenedStore } from '../compose.ts';
import type { Config } from '../config.ts';
import type { Catalog } from '../core/catalog.ts';
import { FeedError } from '../core/feed.ts';
import type { ChangesMark } from '../core/listing-change.ts';
import type { FilterFile } from '../filter.ts';
import { type Make, makeHere } from '../make.ts';
import type { StorePorts } from '../store/sqlite/store.ts';
import { packingOverrides } from './override-lines.ts';

/** Below this it takes less here, in steps, than a thread takes to start (0.3 s). */
const LARGE = 50_000;

/** Of the thread's heap, for what it just made: as that of updates. */
const YOUNG_MIB = 3;

const GIVEN_UP = 'what was to be made of the lists was given up';

/** What a thread is asked for, and what it gives. */
export interface Jobs {
  next: {
    asked: { readonly current: Handed; readonly unreadable: Unreadable };
    made: { readonly next: Handed | undefined; readonly unreadable: Unreadable };
  };
  tell: {
    asked: {
      readonly before: Handed;
      readonly after: Handed;
      readonly was: ChangesMark;
      readonly now: number;
      readonly holder: string;
    };
    made: boolean;
  };
  filter: {
    asked: {
      readonly catalog: Handed;
      readonly overrides: readonly Uint8Array<ArrayBuffer>[];
      readonly now: number;
      readonly secret: string;
    };
    made: Omit<FilterFile, 'bytes'> & { readonly bytes: Uint8Array<ArrayBuffer> };
  };
}

export interface MakingStart {
  readonly config: Pick<Config, 'database' | 'feedsOff'>;
  /** Of the embedded store. */
  readonly store: StorePorts | undefined;
  readonly job: {
    readonly [J in keyof Jobs]: { readonly kind: J; readonly asked: Jobs[J]['asked'] };
  }[keyof Jobs];
}

/** A list that cannot be read, or what was asked for. */
export type FromMaking = { readonly problem: string } | { readonly made: unknown };

interface MakerParts {
  readonly config: MakingStart['config'];
  readonly store: OpenedStore;
  readonly onError: (error: unknown) => void;
  readonly large?: number | undefined;
}

export interface Maker extends Make {
  /** Gives up what is under way. */
  close(): void;
}

export function createMaker({ config, store, onError, large = LARGE }: MakerParts): Maker {
  const here = makeHere({ feedsOff: config.feedsOff, store, onError });
  const threads = new Set<Worker>();
  let isClosed = false;

  async function inThread<J extends keyof Jobs>(
    kind: J,
    asked: Jobs[J]['asked'],
    given: readonly ArrayBuffer[] = [],
  ): Promise<Jobs[J]['made']> {
    const { database, feedsOff } = config;
    const ports = kind === 'filter' ? undefined : await store.share?.();
    // To connect it to the store and to start it takes 2.6 ms of this one (2026-11-17).
    await turn();
    if (isClosed) throw new Error(GIVEN_UP);
    const job = { kind, asked } as MakingStart['job'];
    const thread = startMaking({ config: { database, feedsOff }, store: ports, job }, given);
    threads.add(thread);
    thread.on('exit', () => threads.delete(thread));
    return madeBy<J>(thread, onError);
  }

  const hand = (catalog: Catalog) => inTurns(handingOver(catalog));
  return {
    async next(current, unreadable, names) {
      if (names + namesIn(current) < large) return here.next(current, unreadable, names);
      const made = await inThread('next', { current: await hand(current), unreadable });
      for (const [feed, version] of made.unreadable) unreadable.set(feed, version);
      return made.next && joinCatalog(config, made.next);
    },
    async tell(told) {
      const { before, after, ...rest } = told;
      if (namesIn(before) + namesIn(after) < large) return here.tell(told);
      return inThread('tell', { ...rest, before: await hand(before), after: await hand(after) });
    },
    async filter(of, now, secret) {
      if (namesIn(of.catalog) < large) return here.filter(of, now, secret);
      const overrides = await inTurns(packingOverrides(of.overrides));
      const asked = { catalog: await hand(of.catalog), overrides, now, secret };
      const { bytes, ...file } = await inThread(
        'filter',
        asked,
        overrides.map(({ buffer }) => buffer),
      );
      return { ...file, bytes: Buffer.from(bytes.buffer) };
    },
    close() {
      isClosed = true;
      for (const thread of threads) void thread.terminate();
    },
  };
}

/** What the thread makes; it fails where that ends without. */
function madeBy<J extends keyof Jobs>(
  thread: Worker,
  onError: MakerParts['onError'],
): Promise<Jobs[J]['made']> {
  const { promise, resolve, reject } = Promise.withResolvers<Jobs[J]['made']>();
  thread.on('message', (message: FromMaking) => {
    if ('problem' in message) onError(new FeedError(message.problem));
    else resolve(message.made as Jobs[J]['made']);
  });
  thread.on('error', reject);
  thread.on('exit', () => reject(new Error(GIVEN_UP)));
  return promise;
}

function startMaking(start: MakingStart, given: readonly ArrayBuffer[]): Worker {
  const file = new URL(import.meta.url.endsWith('.ts') ? './making.ts' : './making.js', import.meta.url);
  return new Worker(file, {
    workerData: start,
    // A copy takes 0.2 ms of this thread.
    env: SHARE_ENV,
    transferList: [...(start.store ? Object.values(start.store) : []), ...given],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
  });
}

function namesIn({ snapshots }: Catalog): number {
  return snapshots.reduce((sum, { names }) => sum + names.length, 0);
}
