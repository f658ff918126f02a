/** A new version into the store, where nobody else came between. */

import type { Act } from '../core/audit.ts';
import type { Packing, Snapshot } from '../core/feed.ts';
import type { Accepting } from '../core/list-store.ts';
import type { Store } from '../core/ports.ts';
import { textOf } from '../core/snapshot.ts';
import { heldFeeds } from './in-use.ts';

interface Parts extends Required<Accepting> {
  readonly store: Pick<Store, 'acceptSnapshot' | 'pastSnapshots' | 'snapshots'>;
  readonly packing: Packing;
}

/**
 * `was` is the digest of the one that it replaces. `stale`: it was tried with what holds no longer. An operator who was
 * told that its names are rejected found them flagged all the same, and four lists that were updated at once flagged
 * fifteen established names where five may be (2026-11-17).
 */
export async function accept(
  snapshot: Snapshot,
  was: string | null,
  act: Act,
  { packing, store, ...where }: Parts,
): Promise<'taken' | 'held' | 'overtaken' | 'stale'> {
  const { feed, version, digest, names } = snapshot;
  const body = await packing.pack(textOf(snapshot));
  const accepted = { feed: feed.id, version, digest, names: names.length, acceptedAt: act.at, body };
  if (await store.acceptSnapshot(accepted, was, act, where)) return 'taken';
  if (where.unlessHeld && (await heldFeeds(store)).includes(feed.id)) return 'held';
  const inUse = (await store.snapshots()).find(one => one.feed === feed.id)?.digest ?? null;
  return inUse === was ? 'stale' : 'overtaken';
}
