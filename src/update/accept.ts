/** A new version into the store, where nobody else came between. */

import type { Act } from '../core/audit.ts';
import type { Packing, Snapshot } from '../core/feed.ts';
import type { Store } from '../core/ports.ts';
import { textOf } from '../core/snapshot.ts';

interface Parts {
  readonly store: Pick<Store, 'acceptSnapshot'>;
  readonly packing: Packing;
  readonly unlessHeld: boolean;
  readonly addedAt: number | undefined;
}

/** `was` is the digest of the one that it replaces. */
export async function accept(
  snapshot: Snapshot,
  was: string | null,
  act: Act,
  { packing, store, unlessHeld, addedAt }: Parts,
): Promise<boolean> {
  const { feed, version, digest, names } = snapshot;
  const body = await packing.pack(textOf(snapshot));
  const accepted = { feed: feed.id, version, digest, names: names.length, acceptedAt: act.at, body };
  return store.acceptSnapshot(accepted, was, act, { unlessHeld, addedAt });
}
