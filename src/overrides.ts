/** The operator's overrides as last read, never older than the revision that a call was judged under. */

import type { Override } from './core/override.ts';
import type { Store } from './core/ports.ts';

export interface Overrides {
  current(): ReadonlyMap<string, Override>;
  revision(): number;
  /** Reads anew when what is held is older than `revision`. */
  reach(revision: number): Promise<void>;
}

export async function loadOverrides(store: Store): Promise<Overrides> {
  let held = new Map<string, Override>();
  let heldRevision = -1;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const { overrides, revision } = await store.listOverrides();
    held = new Map(overrides.map(override => [override.domain, override]));
    heldRevision = revision;
  }

  async function reach(revision: number): Promise<void> {
    while (heldRevision < revision) {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    }
  }

  await reach(0);
  return { current: () => held, revision: () => heldRevision, reach };
}
