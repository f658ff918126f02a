/** What one update holds all its lists against. Only for what could be read: it takes all lists in use. */

import { randomBytes } from 'node:crypto';
import type { Catalog } from '../core/catalog.ts';
import { type Known, knownFrom } from '../core/known.ts';
import { SEED_BYTES } from '../core/names.ts';
import { parseTables, type TableTexts } from '../core/tables.ts';

export interface Once {
  readonly catalog: () => Promise<Catalog>;
  readonly known: () => Promise<Known>;
  /** A list of the same update has changed it. */
  readonly forget: () => void;
}

export function onceFrom(parts: {
  readonly catalog: () => Promise<Catalog>;
  readonly tables: () => Promise<TableTexts>;
}): Once {
  let catalog: Promise<Catalog> | undefined;
  let known: Promise<Known> | undefined;
  const catalogNow = () => {
    catalog ??= parts.catalog();
    return catalog;
  };
  const knownNow = async () => {
    const { snapshots } = await catalogNow();
    return knownFrom(snapshots, parseTables(await parts.tables()), randomBytes(SEED_BYTES));
  };
  return {
    catalog: catalogNow,
    known() {
      known ??= knownNow();
      return known;
    },
    forget() {
      catalog = known = undefined;
    },
  };
}
