/** The operator's overrides as last read, never older than the revision that a call was judged under. */

import type { ChangedOverrides, Override } from './core/override.ts';
import { type Store, StoreUnavailable } from './core/ports.ts';
import type { Steps } from './core/steps.ts';

export interface Overrides {
  /** The same map until an override changes. */
  current(): ReadonlyMap<string, Override>;
  /** When the first of them ends that has not ended yet. */
  nextEnd(now: number): number;
  revision(): number;
  /** Reads anew when what is held is of another revision, and until it is not older. */
  reach(revision: number): Promise<void>;
}

interface OverruleParts {
  readonly store: Pick<Store, 'readOverrides' | 'changedOverrides'>;
  readonly inTurns: <T>(steps: Steps<T>) => Promise<T>;
}

/** As they are looked for. */
interface Held {
  readonly byName: ReadonlyMap<string, Override>;
  /** The moments at which some of them end. */
  readonly ends: readonly number[];
}

/** Another call's read may have begun before the revision that this one needs. */
const MOST_READS = 5;
/** Overrides that are made in one step, at a microsecond each, or taken over at a tenth of that. */
const STEP = 100;
const TAKEN_STEP = 10_000;

/**
 * The first call after a change waits for them, with all that come meanwhile, and everybody else is answered in between:
 * of 100,000 that are made in one go nobody was for 170 ms (2026-11-17). Where only a key changed they are not read.
 */
export async function loadOverrides({ store, inTurns }: OverruleParts): Promise<Overrides> {
  let held: Held = { byName: new Map(), ends: [] };
  let heldRevision = -1;
  let mark: string | undefined;
  let reading: Promise<void> | undefined;

  /** What has changed: of 100,000 that were read for one a call waited for a second, with all that came (2026-11-19). */
  async function read(): Promise<void> {
    const changed = mark === undefined ? undefined : await store.changedOverrides(mark);
    const found = changed ?? (await store.readOverrides(undefined));
    if (!changed) held = await inTurns(holding(found.overrides ?? []));
    else if (changed.mark !== mark) held = await inTurns(changing(held, changed));
    ({ mark, revision: heldRevision } = found);
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
  return {
    current: () => held.byName,
    nextEnd: now =>
      held.ends.reduce((first, end) => (end > now && end < first ? end : first), Number.POSITIVE_INFINITY),
    revision: () => heldRevision,
    reach,
  };
}

function* changing({ byName: before }: Held, { overrides, gone }: ChangedOverrides): Steps<Held> {
  const byName = new Map<string, Override>();
  const ends: number[] = [];
  const left = new Set([...overrides.map(({ domain }) => domain), ...gone]);
  const take = (override: Override) => {
    byName.set(override.domain, override);
    if (override.expiresAt !== null) ends.push(override.expiresAt);
  };
  let seen = 0;
  for (const override of before.values()) {
    if (!left.has(override.domain)) take(override);
    if (++seen % TAKEN_STEP === 0) yield;
  }
  overrides.forEach(take);
  return { byName, ends };
}

function* holding(overrides: Iterable<Override>): Steps<Held> {
  const byName = new Map<string, Override>();
  const ends: number[] = [];
  for (const override of overrides) {
    byName.set(override.domain, override);
    if (override.expiresAt !== null) ends.push(override.expiresAt);
    if (byName.size % STEP === 0) yield;
  }
  return { byName, ends };
}
