/** A large catalog from the shelf, and onto it: who starts next need not make it of its lists. */

import type { Catalog } from '../core/catalog.ts';
import { FeedError } from '../core/feed.ts';
import { restoringCatalog } from '../core/folding.ts';
import type { Kept } from '../core/kept.ts';
import { type InTurns, restoring, type Shelf, saving } from '../core/saved.ts';
import { siblingsIn } from '../core/siblings.ts';
import type { Tables } from '../core/tables.ts';

/** Catalogs that came from a file need not be written to it. */
const shelved = new WeakSet<Catalog>();

/** What a catalog has of a feed. */
export type Wanted = Pick<Kept, 'feed' | 'digest' | 'acceptedAt'>;

/** One that a server kept, of exactly these; undefined where there is none. */
export async function fromShelf(
  shelf: Shelf,
  wanted: readonly Wanted[],
  generation: string,
  tables: Tables,
  inTurns: InTurns,
): Promise<Catalog | undefined> {
  const saved = await shelf.read(generation);
  if (!saved) return undefined;
  try {
    const restored = await inTurns(restoring(saved, new Map(wanted.map(({ feed }) => [feed.id, feed]))));
    const isSame = restored.snapshots.every(
      ({ feed, digest, acceptedAt }, at) =>
        wanted[at]?.feed === feed && wanted[at].digest === digest && wanted[at].acceptedAt === acceptedAt,
    );
    if (!isSame || restored.snapshots.length !== wanted.length) return undefined;
    const catalog = await inTurns(restoringCatalog(restored, tables, generation));
    shelved.add(catalog);
    return catalog;
  } catch {
    // Whole, and not what a server writes: it is made of the lists.
    return undefined;
  }
}

export async function keepOn(
  shelf: Shelf,
  catalog: Catalog,
  stop: AbortSignal,
  inTurns: InTurns,
): Promise<void> {
  if (shelved.has(catalog)) return;
  try {
    const siblings = await inTurns(siblingsIn(catalog));
    await shelf.write(catalog.generation, await inTurns(saving(catalog.folded, siblings)), stop, inTurns);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new FeedError(`the catalog could not be kept for the next start: ${why}`, { cause: error });
  }
}
