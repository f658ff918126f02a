/** Whether a copy is whole, and whether it is one of this store. */

import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { StoreRefused } from '../refused.ts';
import { codeOf } from './codes.ts';
import { LOCK_WAIT_MS } from './lock.ts';
import { examine } from './open.ts';

/** As a value: of an error the threads hand over no kind of ours. */
export function isWholeCopy(copy: string): boolean {
  try {
    examine(`${pathToFileURL(copy).href}?immutable=1`, copy);
    return true;
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error;
    return false;
  }
}

/** Ids of keys are random, and no key is ever removed. */
const KEYS = 'SELECT id FROM key ORDER BY created_at LIMIT 100';

/** Of the store at `path`: copies from before backups had its id in their names have no other sign. */
export function isCopyOf(path: string, copied: string): boolean {
  try {
    const ids = readFrom(`${pathToFileURL(copied).href}?immutable=1`, copy => copy.prepare(KEYS).all());
    return readFrom(path, db => {
      const isKnown = db.prepare('SELECT 1 FROM key WHERE id = ?');
      return ids.some(({ id }) => isKnown.get(String(id)) !== undefined);
    });
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

function readFrom<T>(path: string, read: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS });
  try {
    return read(db);
  } finally {
    db.close();
  }
}
