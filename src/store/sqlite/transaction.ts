/** All of it or nothing, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import { LOCK_WAIT_MS, letOthersIn, takeLock } from './lock.ts';

/** Takes the write lock at once, so that a transaction never fails half-way because somebody else wrote. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('PRAGMA busy_timeout = 0');
  try {
    takeLock(() => db.exec('BEGIN IMMEDIATE'));
  } finally {
    db.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
  }
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/**
 * One part of a long work: between two parts those who count calls get the lock, however many parts there are. Its commit
 * waits for no disk: who counts would wait for that behind it, and brings it to the disk with the next commit of its own.
 */
export function inChunk<T>(db: DatabaseSync, work: () => T): T {
  db.exec('PRAGMA synchronous = NORMAL');
  try {
    return inTransaction(db, work);
  } finally {
    db.exec('PRAGMA synchronous = FULL');
    letOthersIn();
  }
}

/** Rows written or removed in one transaction, so that counting never waits long for the lock. */
export const CHUNK = 500;

export function inChunks<T>(db: DatabaseSync, items: readonly T[], work: (item: T) => void): void {
  for (let i = 0; i < items.length; i += CHUNK)
    inChunk(db, () => {
      for (const item of items.slice(i, i + CHUNK)) work(item);
    });
}

/** For one question: 200,000 held all others of that thread up for 1.2 s, and 10,000 for 0.9 on a busy machine (2026-11-19). */
const REMOVED_AT_ONCE = 4 * CHUNK;

/** `statement` removes at most so many (its last place) of what is before a bound (its first); whether some may be left. */
export function removeInChunks(db: DatabaseSync, statement: string, bound: string | number): boolean {
  const remove = db.prepare(statement);
  for (let removed = 0; removed < REMOVED_AT_ONCE; removed += CHUNK)
    if (inChunk(db, () => Number(remove.run(bound, CHUNK).changes)) < CHUNK) return false;
  return true;
}
