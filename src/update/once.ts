/** What one update holds all its lists against. Only for what could be read: it takes all lists in use. */

import { randomBytes } from 'node:crypto';
import type { Catalog } from '../core/catalog.ts';
import type { Snapshot } from '../core/feed.ts';
import { makingCatalog } from '../core/folding.ts';
import { othersIn } from '../core/history.ts';
import { type Kept, keeping } from '../core/kept.ts';
import { type Known, knownFrom } from '../core/known.ts';
import { SEED_BYTES } from '../core/names.ts';
import type { Store } from '../core/ports.ts';
import { allAtOnce } from '../core/steps.ts';
import { parseTables, type TableTexts } from '../core/tables.ts';

/** With what the lists before have brought: two that each flag nobody may do so together. */
export interface Once {
  readonly catalog: () => Promise<Catalog>;
  /** What it is, or would be, made of. */
  readonly snapshots: () => Promise<readonly Kept[]>;
  readonly known: () => Promise<Known>;
  /** What is in the store beside a feed. */
  readonly others: (feed: string) => Promise<string>;
  /** A list of the same update was taken, or would be, were this no dry run. */
  readonly took: (snapshot: Snapshot) => void;
  /** Somebody else has changed it, or it is not known any more what is there. */
  readonly forget: () => void;
}

export function onceFrom(parts: {
  readonly catalog: () => Promise<Catalog>;
  readonly tables: () => Promise<TableTexts>;
  readonly store: Pick<Store, 'snapshots'>;
}): Once {
  let stored: Promise<Catalog> | undefined;
  let folded: Promise<Catalog> | undefined;
  let known: Promise<Known> | undefined;
  const taken = new Map<string, Kept>();
  let digests = new Map<string, string>();
  // First which versions there are: of what comes between, the catalog may have either.
  const read = async () => {
    digests = new Map((await parts.store.snapshots()).map(({ feed, digest }) => [feed, digest]));
    return parts.catalog();
  };
  const storedNow = () => {
    stored ??= read();
    return stored;
  };
  const tablesNow = async () => parseTables(await parts.tables());
  const snapshots = async () => {
    const others = (await storedNow()).snapshots.filter(({ feed }) => !taken.has(feed.id));
    return [...others, ...taken.values()];
  };
  // Only where it is asked for: half a second.
  const fold = async () =>
    allAtOnce(makingCatalog(await snapshots(), await tablesNow(), 'what-if', randomBytes(SEED_BYTES)));
  const knownNow = async () => knownFrom(await snapshots(), await tablesNow(), randomBytes(SEED_BYTES));
  return {
    catalog() {
      if (taken.size === 0) return storedNow();
      folded ??= fold();
      return folded;
    },
    snapshots,
    known() {
      known ??= knownNow();
      return known;
    },
    async others(feed) {
      await storedNow();
      return othersIn(
        [...digests].map(([id, digest]) => ({ feed: id, digest })),
        feed,
      );
    },
    took(snapshot) {
      digests.set(snapshot.feed.id, snapshot.digest);
      taken.set(snapshot.feed.id, allAtOnce(keeping(snapshot)));
      folded = known = undefined;
    },
    forget() {
      taken.clear();
      stored = folded = known = undefined;
    },
  };
}
