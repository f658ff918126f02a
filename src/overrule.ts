/** The operator's overrides as last read, never older than the revision that a call was judged under. */

import type { Override } from './core/override.ts';
import { type Store, StoreUnavailable } from './core/ports.ts';

export interface Overrides {
  current(): ReadonlyMap<string, Override>;
  revision(): number;
  /** Reads anew when what is held is of another revision, and until it is not older. */
  reach(revision: number): Promise<void>;
}

/** Another call's read may have begun before the revision that this one needs. */
const MOST_READS = 5;

export async function loadOverrides(store: Store): Promise<Overrides> {
  let held = new Map<string, Override>();
  let heldRevision = -1;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const { overrides, revision } = await store.listOverrides();
    held = new Map(overrides.map(override => [override.domain, override]));
    heldRevision = revision;
  }

  function readOnce(): Promise<void> {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function reach(revision: number): Promise<void> {
    // A newer one too: a database that was restored or has failed over may have gone back.
    if (heldRevision !== revision) await readOnce();
    for (let reads = 1; heldRevision < revision; reads++) {
      // One that has gone back between the count and this will not catch up by itself.
      if (reads === MOST_READS) throw new StoreUnavailable('the store has gone back behind this call');
      await readOnce();
    }
  }

  await reach(0);
  return { current: () => held, revision: () => heldRevision, reach };
}
