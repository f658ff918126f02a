/**
 * Which list an update is at, written into the store before it begins: where the program dies of it, for lack of memory,
 * the next one knows. 32 kB on the wire ended a service again and again, and no list was told of (2026-11-17).
 */

import type { Store } from '../core/ports.ts';

/** Kept as a lease that nobody waits for: its holder is the update, with the lists that it lost and the one that it is at. */
const NAME = 'feeds.begun';

type Leases = Pick<Store, 'lease' | 'swapLease'>;

/** What an update that never came to its end had lost before, and at last what it was at. */
export async function begunIn(store: Leases): Promise<readonly string[]> {
  const [, ...feeds] = (await store.lease(NAME))?.holder?.split(' ') ?? [];
  return feeds;
}

export async function markBegun(store: Leases, update: string, feeds: readonly string[]): Promise<void> {
  const holder = [update, ...feeds].join(' ');
  await store.swapLease({ name: NAME, holder, until: 0, dueAt: 0 }, await store.lease(NAME));
}

/** Unless another one has begun meanwhile. */
export async function markEnded(store: Leases, update: string): Promise<void> {
  const was = await store.lease(NAME);
  if (was?.holder?.startsWith(`${update} `)) await store.swapLease({ ...was, holder: null }, was);
}

const AGAIN_MS = 5_000;
/** Longer than whoever comes next waits, which is until the lease of this update has run out. */
const MOST_TRIES = 60;

/**
 * The same, and again where the store is away: while a database was started anew in the middle of an update, that one
 * was given up, and the list that it was at counted as one of which the program had died (2026-11-18).
 */
export async function markEndedAtLast(
  store: Leases,
  update: string,
  againMs = AGAIN_MS,
  left = MOST_TRIES,
): Promise<void> {
  try {
    await markEnded(store, update);
  } catch {
    if (left > 0) setTimeout(() => void markEndedAtLast(store, update, againMs, left - 1), againMs).unref();
  }
}
