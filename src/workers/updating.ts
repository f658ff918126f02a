/** A thread that brings the lists up to date once and ends: reading and comparing them would hold calls up. */

import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { joinStore, updateParts } from '../compose.ts';
import type { Config } from '../config.ts';
import { freshFeeds } from '../feeds/fresh.ts';
import { endNpm } from '../feeds/npm.ts';
import type { StorePorts } from '../store/sqlite/store.ts';
import { type Updated, updateFeeds } from '../update.ts';
import { markBegun } from './begun.ts';

export interface UpdaterStart {
  readonly config: Pick<Config, 'database' | 'feedsOff' | 'dataDir'>;
  /** Of the update, which may take several such threads. */
  readonly id: string;
  /** What became of them is known already. */
  readonly without: readonly string[];
  /** Those of them that no thread, or not even the program, has survived. */
  readonly lost: readonly string[];
  /** Of the embedded store. */
  readonly store: StorePorts | undefined;
}

/** The feed that it begins with, what became of it, and at last that this was all. */
export type FromUpdater = { readonly begun: string } | { readonly ended: Updated } | { readonly done: true };

/** Of the connections of PostgreSQL it needs the fewest. */
const SHARE = 8;
/** There it is this thread's own and that of npm, which it starts; elsewhere the whole program's. */
const HAS_OWN_PRIORITY = process.platform === 'linux';

if (HAS_OWN_PRIORITY) setPriority(10);
// Told to end in the middle, whatever it says: from outside nobody could end npm with it.
parentPort!.on('message', () => {
  endNpm();
  process.exit();
});
const { config, id, without, lost, store: ports } = workerData as UpdaterStart;
const store = await joinStore(config, ports, SHARE);
const isOff = (id: string) => config.feedsOff.includes(id) || without.includes(id);
const sources = freshFeeds(new Map(), await store.addedFeeds()).filter(({ feed }) => !isOff(feed.id));
const parts = updateParts(config, store, sources, { who: 'domain-risk', via: 'FEEDS_UPDATE' });
const tell = (message: FromUpdater) => parentPort!.postMessage(message);
await updateFeeds(parts, {
  ...{ force: false, dryRun: false },
  async progress(begun) {
    tell({ begun });
    // What the store does not take now it may take of the list.
    await markBegun(store, id, [...lost, begun]).catch(() => {});
  },
  ended: ended => tell({ ended }),
});
await store.close();
tell({ done: true });
