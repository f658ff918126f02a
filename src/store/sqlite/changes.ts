/** What updates changed for callers, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import { CHANGES_LEASE, type ChangesMark, type NumberedChange } from '../../core/listing-change.ts';
import { CHANGES_MARK, LISTING_CHANGE, MARK } from '../columns-of-lists.ts';
import { upsert } from '../table.ts';
import { inChunk, inTransaction, removeInChunks } from './transaction.ts';

const { names, sqlite } = LISTING_CHANGE;

export type Changes = ReturnType<typeof createChanges>;

const BEFORE = `SELECT max(id) AS id FROM listing_change
  WHERE id < coalesce((SELECT min(id) FROM listing_change WHERE at >= :at), ${Number.MAX_SAFE_INTEGER})`;

const FORGET = 'DELETE FROM listing_change WHERE id IN (SELECT id FROM listing_change WHERE id < ? LIMIT ?)';

export function createChanges(db: DatabaseSync) {
  function changesMark(): ChangesMark | undefined {
    const row = db.prepare(`SELECT ${MARK.names} FROM changes_mark`).get();
    return row && MARK.sqlite.record(row);
  }
  const isHeldBy = (holder: string) =>
    db.prepare('SELECT holder FROM lease WHERE name = ?').get(CHANGES_LEASE)?.holder === holder;
  return {
    changesMark,
    writeChanges: (changes: readonly NumberedChange[], generation: string, holder: string): boolean =>
      inChunk(db, () => {
        if ((changesMark()?.generation ?? '') !== generation || !isHeldBy(holder)) return false;
        const write = db.prepare(upsert(LISTING_CHANGE, sqlite.places));
        for (const change of changes) write.run(...sqlite.values(change));
        return true;
      }),
    swapChangesMark(mark: ChangesMark, was: ChangesMark | undefined, holder?: string): boolean {
      return inTransaction(db, () => {
        const now = changesMark();
        if (now?.generation !== was?.generation || now?.last !== was?.last) return false;
        if (holder !== undefined && !isHeldBy(holder)) return false;
        const { places, values } = CHANGES_MARK.sqlite;
        db.prepare(upsert(CHANGES_MARK, places)).run(...values({ id: 1, ...mark }));
        return true;
      });
    },
    /** Nobody sees them any more. Whether some may be left. */
    forgetChanges: (floor: number): boolean => removeInChunks(db, FORGET, floor),
    /** As JSON: on its way to another thread a text costs less than a thousand objects. */
    changesAfter: (id: number, most: number): string =>
      JSON.stringify(
        db
          .prepare(`SELECT ${names} FROM listing_change WHERE id > ? ORDER BY id LIMIT ?`)
          .all(id, most)
          .map(sqlite.record),
      ),
    changesBefore: (at: number): number => Number(db.prepare(BEFORE).get({ at })?.id ?? 0),
  };
}
