/** What takes seconds where lists are long: the next catalog, what it changes for callers, the filter. */

import { inTurns, makeNext, type Unreadable } from './assemble.ts';
import type { Catalog } from './core/catalog.ts';
import type { Confirming } from './core/confirmed.ts';
import type { Store } from './core/ports.ts';
import { PACKING } from './feeds/pack.ts';
import { sourcesWithout } from './feeds/sources.ts';
import { type FilterFile, makeFilter } from './filter.ts';
import { type Told, writeChanges } from './record.ts';

export interface Make {
  /** The catalog that comes after this one, for which so many names have to be read. */
  next(current: Catalog, unreadable: Unreadable, names: number): Promise<Catalog | undefined>;
  /** Writes what an update changed. */
  tell(told: Told): Promise<boolean>;
  filter(of: Confirming, now: number, secret: string): Promise<FilterFile>;
}

interface MakeParts {
  readonly feedsOff: readonly string[];
  readonly store: Store;
  /** Told of a list that cannot be read. */
  readonly onError: (error: unknown) => void;
}

/** In this thread, in steps: for one that serves nobody, and for what is short. */
export function makeHere({ feedsOff, store, onError }: MakeParts): Make {
  const stored = { store, unpack: PACKING.unpack, onError };
  return {
    next: (current, unreadable) => makeNext(sourcesWithout(feedsOff), stored, current, unreadable),
    tell: told => writeChanges(told, store, inTurns),
    filter: filterHere,
  };
}

export const filterHere: Make['filter'] = (of, now, secret) => makeFilter(of, now, secret, inTurns);
