/** A list in a store, as an update brings it. */

import { expect } from 'vitest';
import type { Store } from '../../src/core/ports.ts';
import { takeSnapshot, textOf } from '../../src/core/snapshot.ts';
import { PACKING } from '../../src/feeds/pack.ts';
import { SOURCES } from '../../src/feeds/sources.ts';
import { ACT } from './act.ts';

const castle = { ...SOURCES.updated.find(({ id }) => id === 'castle')!, atLeast: 1 };

/** Nothing is installed but what updates bring. */
export const ONLY_UPDATES = { FEEDS_OFF: SOURCES.feeds.map(({ feed }) => feed.id).join() };

export async function acceptCastle(store: Store, names: readonly string[], now: number): Promise<void> {
  const snapshot = takeSnapshot(castle, { version: String(now), names });
  const { digest, version } = snapshot;
  const body = await PACKING.pack(textOf(snapshot));
  const was = (await store.snapshot('castle'))?.digest ?? null;
  const head = { feed: 'castle', version, digest, names: names.length, acceptedAt: now };
  expect(await store.acceptSnapshot({ ...head, body }, was, ACT)).toBe(true);
}
