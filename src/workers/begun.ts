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
