/** The files of `backup` and `restore`: none has the name of a backup before it is a whole one, none is left behind. */

import { randomBytes } from 'node:crypto';
import { type FileHandle, link, lstat, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Store } from '../../core/ports.ts';
import { StoreRefused } from '../refused.ts';
import { type Asking, NO_DEADLINE } from './asking.ts';
import { isOfSystem, unavailabilityOf } from './codes.ts';
import type { Records } from './connection.ts';
import type { Copier } from './copier.ts';
import { examine, isMarked, openDatabase, read, refuseUnknownColumns } from './open.ts';
import { giveBackup } from './owner.ts';
import { type Missing, missingIn } from './schema.ts';
import { copyWhole } from './whole-copy.ts';

/** What is done in a thread that is started for it. */
export type InThreadOfItsOwn = <T>(work: (ask: Asking<Copier>['ask']) => Promise<T>) => Promise<T>;

/** Beside somebody who changes keys or lists as often as a restore compares them. */
const MOST_TRIES = 4;

/** For the store at `path`. */
export function createCopies(
  path: string,
  ask: Asking<Records>['ask'],
  apart: InThreadOfItsOwn,
): Pick<Store, 'backup' | 'isOwnBackup' | 'compareBackup' | 'restore'> {
  return {
    async backup(target, progress) {
      if (await isThere(target)) throw thereAlready(target);
      await removeLeftovers(`${target}.partial-`);
      // Nothing has the name of a backup before it is a whole one, and no other process writes what gets it here.
      const partial = `${target}.partial-${process.pid}-${randomBytes(4).toString('hex')}`;
      await makeFile(partial, path);
      try {
        const isWhole = await apart(async askThere => {
          await askThere('backup', [partial], NO_DEADLINE, progress);
          return askThere('isWholeCopy', [partial], NO_DEADLINE);
        });
        if (!isWhole) throw damaged(path, target);
        // The store is still the file that was copied, not one that has been put in its place.
        await ask('revision', [], NO_DEADLINE);
        await place(partial, target);
      } catch (error) {
        for (const end of ['', '-journal']) await rm(partial + end, { force: true });
        const unavailable = unavailabilityOf(error);
        if (unavailable && (await hasNoRoomFor(path, dirname(target)))) throw noSpaceFor(target);
        throw unavailable ?? error;
      }
    },
    isOwnBackup: copy => apart(askThere => askThere('isOwnCopy', [copy], NO_DEADLINE)),
    compareBackup: source =>
      withCopy(path, source, (copy, missing) => ask('compareBackup', [copy, missing], NO_DEADLINE)),
    async restore(source, act) {
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const restored = await withCopy(path, source, (copy, missing) =>
          ask('restore', [copy, missing, act], NO_DEADLINE),
        );
        if (restored) return restored;
      }
      return withCopy(path, source, (copy, missing) =>
        ask('restoreLocked', [copy, missing, act], NO_DEADLINE),
      );
    },
  };
}

/** The backup may be on a medium that is only read, and an older one is brought up to date. */
async function withCopy<T>(
  path: string,
  source: string,
  work: (copy: string, missing: Missing) => Promise<T>,
): Promise<T> {
  const copy = `${path}.restoring-${process.pid}`;
  await removeLeftovers(`${path}.restoring-`);
  try {
    await copyWhole(source, copy).catch((error: unknown) => {
      if (!isOfSystem(error)) throw error;
      if (error.code === 'ENOSPC') throw noSpaceFor(copy);
      throw new StoreRefused(`cannot read ${source} (${error.code})`, 'name a file made by backup');
    });
    checkBackup(copy, source);
    const missing = read(copy, missingIn);
    bringUpToDate(copy, source, path);
    return await work(copy, missing);
  } catch (error) {
    throw unavailabilityOf(error) ?? error;
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) await rm(copy + end, { force: true });
  }
}

const thereAlready = (target: string) => new StoreRefused(`${target} exists already`, 'name a new file');

/**
 * Never over what has got that name meanwhile: of two backups that were both told to be written one was left (2026-11-19).
 * Where there are no links (FAT, some networks) it is looked at once more.
 */
async function place(partial: string, target: string): Promise<void> {
  try {
    await link(partial, target);
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    if (await isThere(target)) throw thereAlready(target);
    await rename(partial, target);
    return;
  }
  await rm(partial);
}

/** What to do about a file that is no backup. */
export const WANTED = 'name a file made by backup, of this version or an older one';

/** Whether a file is a backup, by its path or address; it is called `source` where it is not. */
export function checkBackup(copy: string, source: string): void {
  try {
    examine(copy, source);
  } catch (error) {
    // Its own advice is about the store, and this is none.
    throw error instanceof StoreRefused ? new StoreRefused(error.problem, WANTED) : error;
  }
  if (!isMarked(copy)) throw new StoreRefused(`${source} is empty`, WANTED);
}

function noSpaceFor(path: string): StoreRefused {
  return new StoreRefused(
    `the disk has no space left for ${path}`,
    'free as much as the backup takes, then try again',
  );
}

function damaged(path: string, target: string): StoreRefused {
  return new StoreRefused(
    `what was written to ${target} cannot be read back whole: its disk is damaged, or ${path} is`,
    'keep the backups from before, and look after both disks; a damaged store does not start again',
  );
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    return false;
  }
}

async function hasNoRoomFor(path: string, folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < (await stat(path)).size;
  } catch {
    return false;
  }
}

/** Of backups and restores that were killed. A journal of one would be taken for that of the next copy with its name. */
async function removeLeftovers(begin: string): Promise<void> {
  const folder = dirname(begin);
  const first = basename(begin);
  const names = await readdir(folder).catch((error: unknown) => {
    if (!isOfSystem(error)) throw error;
    return [];
  });
  for (const name of names) {
    const pid =
      name.startsWith(first) &&
      /^(\d+)(?:-[0-9a-f]{8})?(?:-wal|-shm|-journal)?$/.exec(name.slice(first.length))?.[1];
    if (pid && isGone(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

/** In a container every process may have the number of the one before it. */
function isGone(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** No server ever counts so far, and above 2^53 none could read it: others' calls in the same commit failed too (2026-11-19). */
const MOST_COUNTED = 2 ** 52;

function refuseImpossibleCounts(db: DatabaseSync, source: string): void {
  for (const table of ['usage', 'usage_day'])
    if (db.prepare(`SELECT 1 FROM ${table} WHERE used > ${MOST_COUNTED} LIMIT 1`).get())
      throw new StoreRefused(
        `${source} is damaged: it holds a count of calls above 2^52 (${table})`,
        'restore another backup',
      );
}

/** A backup of a store that a newer version has added columns to is one of these, also where this version made it. */
function bringUpToDate(copy: string, source: string, path: string): void {
  const db = openDatabase(copy);
  try {
    refuseUnknownColumns(
      db,
      source,
      `restore it with the newer version, or stop all servers, remove ${path}-wal and ${path}-shm and put it in the place of ${path}, which takes all counters back too`,
    );
    refuseImpossibleCounts(db, source);
  } finally {
    db.close();
  }
}

/** Made here and not by SQLite, so that nobody else can read it while it is being written. */
async function makeFile(path: string, store: string): Promise<void> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'wx', 0o600);
    await giveBackup(file, path, store);
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    const { code } = error;
    if (code === 'EEXIST')
      throw new StoreRefused(`${path} exists already`, 'remove it if no other backup is writing it');
    throw new StoreRefused(
      `cannot write ${path} (${code})`,
      'name a file in a directory that exists and that this user can write to',
    );
  } finally {
    await file?.close();
  }
}
