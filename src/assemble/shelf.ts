/** A large catalog from the shelf, and onto it: who starts next need not make it of its lists. */

import { createHash } from 'node:crypto';
import type { Catalog } from '../core/catalog.ts';
import { type Feed, FeedError, type SnapshotHead } from '../core/feed.ts';
import { restoredCatalog } from '../core/folding.ts';
import type { Kept } from '../core/kept.ts';
import { restoring, type Shelf, saving } from '../core/saved.ts';
import type { Steps } from '../core/steps.ts';
import type { Tables } from '../core/tables.ts';

type InTurns = <T>(steps: Steps<T>) => Promise<T>;

/** The tables, and the sum of their texts. */
export interface Read {
  readonly tables: Tables;
  readonly digest: string;
}

/** The same feeds and tables give the same one on every machine. */
export function generationOf(tables: string, snapshots: readonly Pick<Kept, 'feed' | 'digest'>[]): string {
  const sum = createHash('sha256').update(tables);
  for (const { feed, digest } of snapshots) sum.update(`\n${feed.id} ${digest}`);
  return sum.digest('hex').slice(0, 12);
}

/** Catalogs that came from a file need not be written to it. */
const shelved = new WeakSet<Catalog>();

export function isLarge(stored: readonly { readonly names: number }[], { atLeast }: Shelf): boolean {
  return stored.reduce((sum, { names }) => sum + names, 0) >= atLeast;
}

/** One that a server kept, of all that is stored and installed now; undefined where there is none. */
export async function fromShelf(
  shelf: Shelf,
  feeds: readonly Feed[],
  heads: ReadonlyMap<string, SnapshotHead>,
  installed: ReadonlyMap<string, Kept | undefined>,
  { tables, digest }: Read,
  inTurns: InTurns,
): Promise<Catalog | undefined> {
  const wanted = feeds.flatMap(feed => {
    const head = heads.get(feed.id);
    const { digest, acceptedAt } = head ?? installed.get(feed.id) ?? {};
    if (digest === undefined) return [];
    return { feed: head ? feed : installed.get(feed.id)!.feed, digest, acceptedAt };
  });
  const generation = generationOf(digest, wanted);
  const saved = await shelf.read(generation);
  if (!saved) return undefined;
  try {
    const restored = await inTurns(restoring(saved, new Map(wanted.map(({ feed }) => [feed.id, feed]))));
    const isSame = restored.snapshots.every(
      ({ feed, digest, acceptedAt }, at) =>
        wanted[at]?.feed === feed && wanted[at].digest === digest && wanted[at].acceptedAt === acceptedAt,
    );
    if (!isSame || restored.snapshots.length !== wanted.length) return undefined;
    const catalog = restoredCatalog(restored, tables, generation);
    shelved.add(catalog);
    return catalog;
  } catch {
    // Whole, and not what a server writes: it is made of the lists.
    return undefined;
  }
}

/** In the background: the next start is the one that gains by it. */
export async function toShelf(
  catalog: Catalog,
  shelf: Shelf,
  stop: AbortSignal,
  inTurns: InTurns,
): Promise<void> {
  const stored = catalog.status.filter(({ updatedAt }) => updatedAt !== null);
  if (shelved.has(catalog) || !isLarge(stored, shelf)) return;
  try {
    await shelf.write(catalog.generation, await inTurns(saving(catalog.folded)), stop);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new FeedError(`the catalog could not be kept for the next start: ${why}`, { cause: error });
  }
}
