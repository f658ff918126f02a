/** From feeds to a catalog, and to the next one when an update was accepted. Whole or not at all. */

import {
  fold,
  generationOf,
  makeNext,
  readInstalled,
  readStored,
  type Stored,
  type Unreadable,
  whatChanged,
} from './assemble/lists.ts';
import type { Wanted } from './assemble/shelf.ts';
import { feedsOf, readTables } from './assemble/tables.ts';
import { inTurns } from './assemble/turns.ts';
import type { Catalog } from './core/catalog.ts';
import type { Feed, Sources } from './core/feed.ts';
import { restoringCatalog } from './core/folding.ts';
import type { Kept } from './core/kept.ts';
import { restoring, type Saved, type Shelf, saving } from './core/saved.ts';
import { siblingsIn } from './core/siblings.ts';
import type { Steps } from './core/steps.ts';

export type { Stored, Unreadable };
export { inTurns, makeNext };

/** Told before each feed is read, and once at the end with `done` equal to `total`. */
export type Progress = (feed: string, done: number, total: number) => void;

export async function buildCatalog(sources: Sources, progress: Progress, stored?: Stored): Promise<Catalog> {
  const tables = await readTables(sources);
  const heads = new Map((await stored?.store.snapshots())?.map(head => [head.feed, head]));
  const feeds = feedsOf(sources, await stored?.store.addedFeeds());
  const installed = new Map<string, Kept | undefined>();
  const readOnce = async ({ id }: Feed) => {
    if (!installed.has(id)) installed.set(id, await readInstalled(id, sources, tables));
    return installed.get(id);
  };
  if (stored?.shelf && isLarge([...heads.values()], stored.shelf)) {
    for (const feed of feeds) if (!heads.has(feed.id)) await readOnce(feed);
    const wanted = feeds.flatMap((feed): Wanted | readonly Wanted[] => {
      const head = heads.get(feed.id);
      return head ? { ...head, feed } : (installed.get(feed.id) ?? []);
    });
    const { fromShelf } = await import('./assemble/shelf.ts');
    const generation = generationOf(tables, wanted);
    const kept = await fromShelf(stored.shelf, wanted, generation, tables.tables, inTurns);
    if (kept) {
      progress('catalog', feeds.length, feeds.length);
      return kept;
    }
  }
  const snapshots: Kept[] = [];
  for (const [done, feed] of feeds.entries()) {
    progress(feed.id, done, feeds.length);
    const updated = stored && heads.has(feed.id) ? await readStored(feed, stored) : undefined;
    const snapshot = updated ?? (await readOnce(feed));
    if (snapshot) snapshots.push(snapshot);
  }
  const catalog = await fold(snapshots, tables);
  progress('catalog', feeds.length, feeds.length);
  return catalog;
}

function isLarge(stored: readonly { readonly names: number }[], { atLeast }: Shelf): boolean {
  return stored.reduce((sum, { names }) => sum + names, 0) >= atLeast;
}

/** In the background: the next start is the one that gains by it. Most catalogs are small, and start without this part. */
async function toShelf(catalog: Catalog, shelf: Shelf | undefined, stop: AbortSignal): Promise<void> {
  const stored = catalog.status.filter(({ updatedAt }) => updatedAt !== null);
  if (shelf && isLarge(stored, shelf)) {
    const { keepOn } = await import('./assemble/shelf.ts');
    await keepOn(shelf, catalog, stop, inTurns);
  }
}

/** A catalog on its way to another thread, which has the same names in the same memory then. */
export interface Handed {
  readonly generation: string;
  readonly saved: Saved;
  readonly feeds: readonly Feed[];
}

export function* handingOver(catalog: Catalog): Steps<Handed> {
  const { generation, folded } = catalog;
  const feeds = folded.snapshots.map(({ feed }) => feed);
  return { generation, saved: yield* saving(folded, yield* siblingsIn(catalog)), feeds };
}

export async function takeOver(sources: Sources, { generation, saved, feeds }: Handed): Promise<Catalog> {
  const { tables } = await readTables(sources);
  const byId = new Map(feeds.map(feed => [feed.id, feed]));
  return inTurns(restoringCatalog(await inTurns(restoring(saved, byId)), tables, generation));
}

export interface Following {
  /** Looks for updates now; true when there is a new catalog. */
  check(): Promise<boolean>;
  close(): Promise<void>;
}

export interface FollowParts {
  readonly sources: Sources;
  readonly stored: Stored;
  readonly catalog: () => Catalog;
  /** Folds what depends on a catalog; what it gives puts all of it in place, in one go. */
  readonly adopting: (next: Catalog) => Steps<() => void>;
  /** Told when another was put in place. */
  readonly followed?: (() => void) | undefined;
  /** How often to look. */
  readonly everyMs?: number | undefined;
  /** `makeNext`, here or in a thread of its own; so many names are to be read for it. */
  readonly make: (current: Catalog, unreadable: Unreadable, names: number) => Promise<Catalog | undefined>;
}

/** A server follows within a minute, also while its catalog is being built and the store is slow. */
const EVERY_MS = 20_000;

/** Looks again and again which snapshots the store holds, and builds the next catalog beside the one in use. */
export function followFeeds({
  sources,
  stored,
  catalog,
  adopting,
  followed,
  everyMs = EVERY_MS,
  make,
}: FollowParts): Following {
  const unreadable: Unreadable = new Map();
  let checking: Promise<boolean> | undefined;
  const stop = new AbortController();
  let shelving = Promise.resolve();
  const keep = () => {
    shelving = shelving.then(() => toShelf(catalog(), stored.shelf, stop.signal)).catch(stored.onError);
  };
  keep();

  async function follow(): Promise<boolean> {
    const found = await whatChanged(sources, stored, catalog(), unreadable);
    if (!found) return false;
    const next = await make(catalog(), unreadable, found.names);
    if (!next) return false;
    const put = await inTurns(adopting(next));
    put();
    keep();
    followed?.();
    return true;
  }

  function check(): Promise<boolean> {
    checking ??= follow().finally(() => {
      checking = undefined;
    });
    return checking;
  }

  const timer = setInterval(() => void check().catch(stored.onError), everyMs).unref();
  return {
    check,
    async close() {
      clearInterval(timer);
      await checking?.catch(() => {});
      stop.abort();
      await shelving;
    },
  };
}
