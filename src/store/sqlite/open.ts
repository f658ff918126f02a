/** Opens the embedded store's file, or refuses what it must not touch. */

import { accessSync, chmodSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreRefused } from '../refused.ts';
import { type BeforeChange, bringUpToDate, checkSchema } from './change.ts';
import { codeOf, isOfSystem, SQLITE } from './codes.ts';
import { JOURNAL_BYTES } from './heads.ts';
import { LOCK_WAIT_MS, OPEN_WAIT_MS, takeLock } from './lock.ts';
import { makeOwnFile, makeOwnFolder } from './owner.ts';
import { APPLICATION_ID, unknownColumnsIn } from './schema.ts';

/** Older versions can corrupt a WAL that two processes write to (sqlite.org, release 3.51.3). */
const OLDEST_SQLITE = [3, 51, 3];

/** File systems whose locks SQLite cannot rely on (magic numbers of statfs(2)). */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x00c36400, 'Ceph'],
  [0x01021997, '9P'],
]);

/** The first connection of a process looks the file over, and empties into it the journal that a crash has left. */
export function openFirst(path: string, beforeChange: BeforeChange, waitMs = OPEN_WAIT_MS): DatabaseSync {
  if (existsSync(path)) {
    // SQLite would make an index beside it that is as read-only, and stays when the file is made writable (2026-11-18).
    if (unwritableOf(path) !== undefined) throw unwritable(path);
    examine(path, path, waitMs);
  }
  const db = openDatabase(path, beforeChange, waitMs);
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return db;
  } catch (error) {
    db.close();
    throw explain(error, path);
  }
}

export function openDatabase(
  path: string,
  beforeChange: BeforeChange = () => undefined,
  waitMs = OPEN_WAIT_MS,
): DatabaseSync {
  prepareFolder(dirname(path));
  const isFresh = !statSync(path, { throwIfNoEntry: false })?.size;
  let db: DatabaseSync | undefined;
  try {
    if (isFresh) makeMissing(path);
    db = new DatabaseSync(path, { timeout: waitMs });
    if (isFresh) chmodSync(path, 0o600);
    checkVersion(db);
    checkOwner(db, path);
    checkSchema(db, path);
    useJournal(db, waitMs);
    db.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    // A journal that grew while some reader stood still is cut back once that reader is gone.
    db.exec(`PRAGMA journal_size_limit = ${JOURNAL_BYTES}`);
    bringUpToDate(db, path, beforeChange);
    db.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
    return db;
  } catch (error) {
    db?.close();
    throw explain(error, path);
  }
}

export function makeMissing(path: string): void {
  try {
    makeOwnFile(path);
  } catch (error) {
    // An interrupted start leaves an empty one; of all else SQLite tells.
    if (!isOfSystem(error)) throw error;
  }
}

/**
 * Reads every page once. For start-up only: a damaged file must be found before it is written to. Opened for
 * reading, because closing a connection that may write would move a crash's journal into the damaged file (a checkpoint).
 */
export function examine(path: string, shownAs = path, waitMs = OPEN_WAIT_MS): void {
  // Opening a pipe would wait for whoever writes to it.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new StoreRefused(`${shownAs} is no file`, 'set DATA_DIR or DATABASE_URL to another place');
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: waitMs });
    checkOwner(db, shownAs);
    checkSchema(db, shownAs);
    if (db.prepare('PRAGMA quick_check(1)').get()?.quick_check !== 'ok') throw corrupt(shownAs);
  } catch (error) {
    throw explain(error, shownAs);
  } finally {
    db?.close();
  }
}

/**
 * What is new or a copy has no WAL yet. Of several that start at once one makes it, and SQLite's own wait is none here:
 * whoever has read already, as this statement does, is refused the write lock at once.
 */
function useJournal(db: DatabaseSync, waitMs: number): void {
  takeLock(() => db.exec('PRAGMA journal_mode = WAL'), waitMs);
}

/** A backup has our mark; an empty file has none, and taking it for a store would take every key away. */
export function isMarked(path: string): boolean {
  return read(path, db => ownerOf(db) === APPLICATION_ID);
}

export function read<T>(path: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** From the top down: Node's own way never ends where a file system such as /proc has no room for folders. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    makeOwnFolder(folder);
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Made where it is missing. */
export function prepareFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    throw new StoreRefused(
      `cannot create the data directory ${folder} (${error.code})`,
      'set DATA_DIR to a directory that this user can write to',
    );
  }
  if (!statSync(folder).isDirectory())
    throw new StoreRefused(
      `the data directory ${folder} is no directory`,
      'set DATA_DIR to one, or to where one can be made',
    );
  const kind = NETWORK_FILE_SYSTEMS.get(statfsSync(folder).type);
  if (kind) {
    throw new StoreRefused(
      `the data directory ${folder} is on a network file system (${kind}), where SQLite cannot lock safely`,
      'set DATA_DIR to a local disk, or use PostgreSQL',
    );
  }
}

function checkVersion(db: DatabaseSync): void {
  const version = String(db.prepare('SELECT sqlite_version() AS v').get()?.v);
  const parts = version.split('.').map(Number);
  const older = OLDEST_SQLITE.findIndex((wanted, i) => (parts[i] ?? 0) !== wanted);
  if (older >= 0 && (parts[older] ?? 0) < OLDEST_SQLITE[older]!) {
    throw new StoreRefused(
      `SQLite ${version} is too old (need ${OLDEST_SQLITE.join('.')})`,
      'use the Node that npm start brings',
    );
  }
}

function ownerOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA application_id').get()?.application_id);
}

function checkOwner(db: DatabaseSync, path: string): void {
  const tables = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n);
  if (ownerOf(db) !== APPLICATION_ID && tables > 0) {
    throw new StoreRefused(
      `${path} is a database of another program`,
      'set DATA_DIR or DATABASE_URL to another place',
    );
  }
}

/** Before everything is taken over into another store: what a newer version has added would be lost without a word. */
export function refuseUnknownColumns(db: DatabaseSync, path: string, fix: string): void {
  const unknown = unknownColumnsIn(db);
  if (unknown.length === 0) return;
  throw new StoreRefused(`${path} holds what this version does not know (${unknown.join(', ')})`, fix);
}

function corrupt(path: string): StoreRefused {
  return new StoreRefused(
    `${path} is not a usable database (corrupt or not SQLite)`,
    'move it away and restore a backup over it; nothing was overwritten',
  );
}

/** Of the database and what SQLite keeps beside it. */
function unwritableOf(path: string): string | undefined {
  return [path, `${path}-wal`, `${path}-shm`].find(file => {
    try {
      accessSync(file, constants.W_OK);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ENOENT';
    }
  });
}

function unwritable(path: string): StoreRefused {
  return new StoreRefused(
    `cannot write to the database ${path}`,
    `give this user write access to ${unwritableOf(path) ?? 'its directory'}, or set DATA_DIR to another one`,
  );
}

/** The index of the WAL takes 32 KiB, and where these are not there SQLite speaks of an I/O error. */
export function isFull(folder: string, wanted = 32_768): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < wanted;
}

export function explain(error: unknown, path: string): unknown {
  if (error instanceof StoreRefused) return error;
  const code = codeOf(error);
  if (code === SQLITE.corrupt || code === SQLITE.notadb) return corrupt(path);
  if (code === SQLITE.cantopen || code === SQLITE.readonly || code === SQLITE.perm) return unwritable(path);
  if (code === SQLITE.full || (code === SQLITE.ioerr && isFull(dirname(path)))) {
    return new StoreRefused(
      `the disk has no space left for the database ${path}`,
      'free some, or set DATA_DIR to a larger one',
    );
  }
  if (code === SQLITE.ioerr) {
    return new StoreRefused(
      `cannot read the database ${path} (${(error as Error).message})`,
      'check the disk, or set DATA_DIR to another one',
    );
  }
  if (code === SQLITE.busy) {
    return new StoreRefused(`another program holds a lock on ${path}`, 'end it, then start again');
  }
  return error;
}
