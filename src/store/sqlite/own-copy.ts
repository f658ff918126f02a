/** Whether a file is a copy of this store: copies from before backups had the store's id in their names have no other sign. */

import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { codeOf } from './codes.ts';
import { LOCK_WAIT_MS } from './lock.ts';

/** Ids of keys are random, and no key is ever removed. */
const KEYS = 'SELECT id FROM key ORDER BY created_at LIMIT 100';

/** Of the store at `path`. */
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
