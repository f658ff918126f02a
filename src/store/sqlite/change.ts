/** Brings the tables of the embedded store up to date, once, however many processes start together. */

import type { DatabaseSync } from 'node:sqlite';
import type { FormChange } from '../form.ts';
import { StoreRefused } from '../refused.ts';
import { codeOf, SQLITE } from './codes.ts';
import { OPEN_WAIT_MS } from './lock.ts';
import { APPLICATION_ID, additions, MIGRATIONS } from './schema.ts';

/** The way back. */
export interface Copy {
  /** Gives it its name, when all is done but the commit. */
  keep(): void;
  drop(): void;
  /** Only once there is a change that it is the way back from: one that never succeeds must not take the others away. */
  dropOlder(): void;
}

/** Called under the write lock, before the tables of a store that is in use change. */
export type BeforeChange = (change: Omit<FormChange, 'copy'>) => Copy | undefined;

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}

export function checkSchema(db: DatabaseSync, path: string): void {
  const version = versionOf(db);
  if (version > MIGRATIONS.length) {
    throw new StoreRefused(
      `${path} was written by a newer version (schema ${version}, this one knows ${MIGRATIONS.length})`,
      `update domain-risk, or stop all servers, remove ${path}-wal and ${path}-shm and put the copy from before the change (${path}.before-…) or a backup made by this version in its place`,
    );
  }
}

/** What the steps would change; undefined where that is nothing, or there is nothing to be changed. */
function pendingChange(db: DatabaseSync): Omit<FormChange, 'copy'> | undefined {
  const version = versionOf(db);
  if (version === 0) return undefined;
  if (version < MIGRATIONS.length) return { suitsPrevious: false };
  return additions(db).length > 0 ? { suitsPrevious: true } : undefined;
}

/** On a connection that waits for a lock as long as one that opens the file does. */
export function bringUpToDate(db: DatabaseSync, path: string, beforeChange: BeforeChange): void {
  if (versionOf(db) === MIGRATIONS.length && additions(db).length === 0) return;
  // Several processes may start together: what is to be changed is looked at again under the lock.
  beginChange(db, path);
  let copy: Copy | undefined;
  try {
    checkSchema(db, path);
    const change = pendingChange(db);
    copy = change && beforeChange(change);
    for (const step of MIGRATIONS.slice(versionOf(db))) db.exec(step);
    for (const step of additions(db)) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`);
    copy?.keep();
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    // A commit that could not be synced may be in the journal all the same: the next start finds out.
    if (codeOf(error) !== SQLITE.ioerr) copy?.drop();
    throw error;
  }
  copy?.dropOlder();
}

function beginChange(db: DatabaseSync, path: string): void {
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    if (codeOf(error) !== SQLITE.busy) throw error;
    throw new StoreRefused(
      `the tables of ${path} have to change for this version, and another program has held a lock on it for ${OPEN_WAIT_MS / 1_000} s`,
      'wait until it has ended, or end it, then start again',
    );
  }
}
