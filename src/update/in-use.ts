/** The version of a feed that an update is to replace, and the installed one behind it. */

import type { Feed, FeedSource, FreshSource, Packing, Snapshot } from '../core/feed.ts';
import type { Tried } from '../core/freshness.ts';
import { historyOf, isHeld, newerIn } from '../core/history.ts';
import type { Store } from '../core/ports.ts';
import { reading, takeSnapshot } from '../core/snapshot.ts';
import { allAtOnce } from '../core/steps.ts';

export interface InUse {
  readonly snapshot: Snapshot | undefined;
  readonly installed: Snapshot | undefined;
  /** Of the one in the store, also where it cannot be read: it is what an update replaces. */
  readonly digest: string | null;
  /** False where the one in the store cannot be read and the installed one stands in. */
  readonly isWhole: boolean;
}

/**
 * Of an operator's own that was removed since the update began: it leaves nothing behind. What has its name now was read
 * when it was added, perhaps from another place and as another kind: it came back from the old one (2026-11-17).
 */
export const isGone = async (
  { feed, addedAt }: FreshSource,
  store: Pick<Store, 'addedFeeds'>,
): Promise<boolean> =>
  addedAt !== undefined &&
  !(await store.addedFeeds()).some(one => one.name === feed.id && one.addedAt === addedAt);

/** An operator went back with them. */
export async function heldFeeds(store: Pick<Store, 'snapshots' | 'pastSnapshots'>): Promise<string[]> {
  const [inUse, past] = [await store.snapshots(), await store.pastSnapshots()];
  return [...new Set(past.map(({ feed }) => feed))].filter(id => isHeld(historyOf(id, inUse, past)));
}

interface Parts {
  readonly store: Pick<Store, 'snapshot'>;
  readonly installed: readonly FeedSource[];
  readonly packing: Packing;
}

export async function readInUse(feed: Feed, { store, installed, packing }: Parts): Promise<InUse> {
  const stored = await store.snapshot(feed.id);
  const digest = stored?.digest ?? null;
  const source = installed.find(one => one.feed.id === feed.id);
  const first = source && takeSnapshot(source.feed, await source.read());
  if (stored) {
    try {
      const text = await packing.unpack(stored.body);
      const snapshot = allAtOnce(reading(feed, text, stored.digest, stored.acceptedAt));
      return { snapshot, installed: first, digest, isWhole: true };
    } catch {
      // The servers said so in their logs, use what is installed, and are about to get a better one.
    }
  }
  return { snapshot: first, installed: first, digest, isWhole: stored === undefined };
}

/** What an operator went back from and the next version takes the place of, the newest first. */
export async function readAside(
  feed: Feed,
  {
    store,
    packing,
  }: { readonly store: Pick<Store, 'snapshots' | 'pastSnapshots' | 'snapshot'>; readonly packing: Packing },
): Promise<Snapshot[]> {
  const newer = newerIn(historyOf(feed.id, await store.snapshots(), await store.pastSnapshots()));
  const found: Snapshot[] = [];
  for (const { acceptedAt, digest } of newer.toReversed()) {
    const stored = await store.snapshot(feed.id, acceptedAt);
    try {
      if (stored) found.push(allAtOnce(reading(feed, await packing.unpack(stored.body), digest, acceptedAt)));
    } catch {
      // Nobody can go forth to it either.
    }
  }
  return found;
}

export function turnoverIn(next: Snapshot, inUse: Snapshot | undefined): NonNullable<Tried['turnover']> {
  const before = new Set(inUse?.names);
  const added = next.names.reduce((count, name) => (before.has(name) ? count : count + 1), 0);
  return { added, removed: before.size - (next.names.length - added) };
}
