/** From feeds to a catalog, and to the next one when an update was accepted. Whole or not at all. */

import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { Wanted } from './assemble/shelf.ts';
import { feedsOf, type Read, readTables } from './assemble/tables.ts';
import type { Catalog } from './core/catalog.ts';
import { type Feed, FeedError, type Packing, type SnapshotHead, type Sources } from './core/feed.ts';
import { canariesOf, makingCatalog, restoringCatalog } from './core/folding.ts';
import { type Kept, keeping } from './core/kept.ts';
import { SEED_BYTES } from './core/names.ts';
import type { Store } from './core/ports.ts';
import { restoring, type Saved, type Shelf, saving } from './core/saved.ts';
import { readingKept, takingSnapshot } from './core/snapshot.ts';
import type { Steps } from './core/steps.ts';

/** Told before each feed is read, and once at the end with `done` equal to `total`. */
export type Progress = (feed: string, done: number, total: number) => void;

/** Snapshots that updates brought. They take the place of what is installed. */
export interface Stored {
  readonly store: Pick<Store, 'snapshots' | 'snapshot' | 'addedFeeds'>;
  readonly unpack: Packing['unpack'];
  /** Told of a snapshot that cannot be read: the list in use stays, or the installed one. */
  readonly onError: (error: unknown) => void;
  /** Where a server keeps a large catalog, for whoever starts next. */
  readonly shelf?: Shelf | undefined;
}

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

export function* handingOver({ generation, folded }: Catalog): Steps<Handed> {
  const feeds = folded.snapshots.map(({ feed }) => feed);
  return { generation, saved: yield* saving(folded), feeds };
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
}: FollowParts): Following {
  /** Feed to the version of a snapshot that cannot be read: telling of it once is enough. */
  const unreadable = new Map<string, string>();
  let checking: Promise<boolean> | undefined;
  const stop = new AbortController();
  let shelving = Promise.resolve();
  const keep = () => {
    shelving = shelving.then(() => toShelf(catalog(), stored.shelf, stop.signal)).catch(stored.onError);
  };
  keep();

  async function follow(): Promise<boolean> {
    const heads = new Map((await stored.store.snapshots()).map(head => [head.feed, head]));
    const held = new Map(catalog().snapshots.map(snapshot => [snapshot.feed.id, snapshot]));
    const feeds = feedsOf(sources, await stored.store.addedFeeds());
    const isHeld = ({ id, kind, family }: Feed) => {
      const snapshot = held.get(id);
      if (!snapshot || snapshot.acceptedAt === null) return !heads.has(id);
      // One that was added anew may be of another kind.
      const isOfKind = snapshot.feed.kind === kind && snapshot.feed.family === family;
      return isOfKind && heads.get(id)?.digest === snapshot.digest;
    };
    const changed = feeds.filter(feed => {
      const head = heads.get(feed.id);
      return !isHeld(feed) && (!head || versionOf(head) !== unreadable.get(feed.id));
    });
    let isOther = [...held.keys()].some(id => !feeds.some(feed => feed.id === id));
    if (changed.length === 0 && !isOther) return false;
    const tables = await readTables(sources);
    for (const feed of changed) {
      const head = heads.get(feed.id);
      const next = await (head ? readStored(feed, stored) : readInstalled(feed.id, sources, tables));
      if (next) held.set(feed.id, next);
      else if (head) unreadable.set(feed.id, versionOf(head));
      else held.delete(feed.id);
      isOther ||= next !== undefined || !head;
    }
    if (!isOther) return false;
    const snapshots = feeds.flatMap(({ id }) => held.get(id) ?? []);
    const next = await fold(snapshots, tables);
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

/** The same names that are stored again are another version: they may be readable now. */
function versionOf({ digest, acceptedAt }: SnapshotHead): string {
  return `${digest} ${acceptedAt}`;
}

/** Undefined when it is gone, or is not what was accepted. Trouble of the store itself is the caller's. */
async function readStored(feed: Feed, { store, unpack, onError }: Stored): Promise<Kept | undefined> {
  const accepted = await store.snapshot(feed.id);
  if (!accepted) return undefined;
  try {
    const text = await unpack(accepted.body);
    return await inTurns(readingKept(feed, text, accepted.digest, accepted.acceptedAt));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    onError(new FeedError(`the stored snapshot of ${feed.id} cannot be used: ${why}`, { cause: error }));
    return undefined;
  }
}

async function readInstalled(id: string, sources: Sources, { tables }: Read): Promise<Kept | undefined> {
  const source = sources.feeds.find(({ feed }) => feed.id === id);
  if (!source) return undefined;
  await turn();
  const snapshot = await inTurns(takingSnapshot(source.feed, await source.read()));
  const canaries = canariesOf(tables);
  const canary = source.feed.kind === 'disposable' && snapshot.names.find(name => canaries.has(name));
  if (canary)
    throw new FeedError(
      `${source.feed.origin} names ${canary}, which is no disposable domain: install another version`,
    );
  return inTurns(keeping(snapshot));
}

function fold(snapshots: readonly Kept[], read: Read): Promise<Catalog> {
  const generation = generationOf(read, snapshots);
  return inTurns(makingCatalog(snapshots, read.tables, generation, randomBytes(SEED_BYTES)));
}

/** The same feeds and tables give the same one on every machine. */
function generationOf({ digest: tables }: Read, snapshots: readonly Pick<Kept, 'feed' | 'digest'>[]): string {
  const sum = createHash('sha256').update(tables);
  for (const { feed, digest } of snapshots)
    sum.update(`\n${feed.id} ${digest}${feed.isOwn ? ` ${feed.kind} ${feed.family}` : ''}`);
  return sum.digest('hex').slice(0, 12);
}

/** With the step that goes beyond it still no wait that anybody notices; a catalog takes no longer for it (2026-11-15). */
const TURN_MS = 1;

/** Lets everybody else have a turn between steps (cooperative multitasking). */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const until = performance.now() + TURN_MS;
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() < until);
    await turn();
  }
}
