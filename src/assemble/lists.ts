/** The lists of a catalog: what is installed, and in its place what updates brought into the store. */

import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { Catalog } from '../core/catalog.ts';
import { type Feed, FeedError, type Packing, type SnapshotHead, type Sources } from '../core/feed.ts';
import { canariesOf, makingCatalog } from '../core/folding.ts';
import { type Kept, keeping } from '../core/kept.ts';
import { SEED_BYTES } from '../core/names.ts';
import type { Store } from '../core/ports.ts';
import type { Shelf } from '../core/saved.ts';
import { readingKept, takingSnapshot } from '../core/snapshot.ts';
import { feedsOf, type Read, readTables } from './tables.ts';
import { inTurns } from './turns.ts';

/** Snapshots that updates brought. They take the place of what is installed. */
export interface Stored {
  readonly store: Pick<Store, 'snapshots' | 'snapshot' | 'addedFeeds'>;
  readonly unpack: Packing['unpack'];
  /** Told of a snapshot that cannot be read: the list in use stays, or the installed one. */
  readonly onError: (error: unknown) => void;
  /** Where a server keeps a large catalog, for whoever starts next. */
  readonly shelf?: Shelf | undefined;
}

/** Feed to the version of a snapshot that cannot be read: telling of it once is enough. */
export type Unreadable = Map<string, string>;

/** What the store has and a catalog has not. Undefined where that is nothing. */
export async function whatChanged(
  sources: Sources,
  { store }: Pick<Stored, 'store'>,
  catalog: Catalog,
  unreadable: Unreadable,
) {
  const heads = new Map((await store.snapshots()).map(head => [head.feed, head]));
  const held = new Map(catalog.snapshots.map(snapshot => [snapshot.feed.id, snapshot]));
  const feeds = feedsOf(sources, await store.addedFeeds());
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
  const isGone = [...held.keys()].some(id => !feeds.some(feed => feed.id === id));
  const names = changed.reduce((sum, { id }) => sum + (heads.get(id)?.names ?? 0), 0);
  return changed.length > 0 || isGone ? { heads, held, feeds, changed, isGone, names } : undefined;
}

/** The catalog that comes after this one; undefined where the store has none that can be read. */
export async function makeNext(
  sources: Sources,
  stored: Stored,
  catalog: Catalog,
  unreadable: Unreadable,
): Promise<Catalog | undefined> {
  const found = await whatChanged(sources, stored, catalog, unreadable);
  if (!found) return undefined;
  const { heads, held, feeds, changed } = found;
  const tables = await readTables(sources);
  let isOther = found.isGone;
  for (const feed of changed) {
    const head = heads.get(feed.id);
    const next = await (head ? readStored(feed, stored) : readInstalled(feed.id, sources, tables));
    if (next) held.set(feed.id, next);
    else if (head) unreadable.set(feed.id, versionOf(head));
    else held.delete(feed.id);
    isOther ||= next !== undefined || !head;
  }
  return isOther
    ? fold(
        feeds.flatMap(({ id }) => held.get(id) ?? []),
        tables,
      )
    : undefined;
}

/** The same names that are stored again are another version: they may be readable now. */
function versionOf({ digest, acceptedAt }: SnapshotHead): string {
  return `${digest} ${acceptedAt}`;
}

/** Undefined when it is gone, or is not what was accepted. Trouble of the store itself is the caller's. */
export async function readStored(feed: Feed, { store, unpack, onError }: Stored): Promise<Kept | undefined> {
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

export async function readInstalled(
  id: string,
  sources: Sources,
  { tables }: Read,
): Promise<Kept | undefined> {
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

export function fold(snapshots: readonly Kept[], read: Read): Promise<Catalog> {
  const generation = generationOf(read, snapshots);
  return inTurns(makingCatalog(snapshots, read.tables, generation, randomBytes(SEED_BYTES)));
}

/** The same feeds and tables give the same one on every machine. */
export function generationOf(
  { digest: tables }: Read,
  snapshots: readonly Pick<Kept, 'feed' | 'digest'>[],
): string {
  const sum = createHash('sha256').update(tables);
  for (const { feed, digest } of snapshots)
    sum.update(`\n${feed.id} ${digest}${feed.isOwn ? ` ${feed.kind} ${feed.family}` : ''}`);
  return sum.digest('hex').slice(0, 12);
}
