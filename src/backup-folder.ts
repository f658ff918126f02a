/** The folder of scheduled backups: whose each is, which is the newest, which may go. Its disk may not answer: it is never asked on the event loop. */

import type { Stats } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Store } from './core/ports.ts';

/** Without an id where a version made it that had none. */
const NAME = /^domain-risk-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z(?:-([0-9a-f]{8}))?\.db$/;
const PARTIAL =
  /^domain-risk-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z(?:-([0-9a-f]{8}))?\.db\.partial[0-9a-f-]{0,40}(?:-journal)?$/;
/** Of the file, and of what whoever has looked into it may have left beside it. */
const ENDS = ['', '-wal', '-shm'];

export interface Backup {
  readonly name: string;
  /** When it was due. */
  readonly slot: number;
}

/** Of the store `id`: several services may keep theirs in one folder. */
export const backupName = (slot: number, id: string) =>
  `domain-risk-${new Date(slot).toISOString().slice(0, 19).replaceAll(':', '')}Z-${id}.db`;

interface Parsed extends Backup {
  readonly id: string | undefined;
}

function parsed(pattern: RegExp, name: string): Parsed | undefined {
  const [, day, hour, minute, second, id] = pattern.exec(name) ?? [];
  return day ? { name, slot: Date.parse(`${day}T${hour}:${minute}:${second}Z`), id } : undefined;
}

/**
 * The oldest first. What is named after the future was made by a clock that was ahead: nobody knows how old it is, and it
 * is the first to go.
 */
export function byAge(backups: readonly Backup[], now: number): Backup[] {
  const age = ({ slot }: Backup) => (slot > now ? Number.POSITIVE_INFINITY : now - slot);
  return backups.toSorted((a, b) => (age(a) === age(b) ? a.slot - b.slot : age(b) - age(a)));
}

/** When it was due: nothing has the name of a backup that was not read back whole. 0 where there is none. */
export function lastGoodOf(backups: readonly Backup[], now: number): number {
  return Math.max(0, ...backups.map(({ slot }) => slot).filter(slot => slot <= now));
}

export interface BackupFolder {
  /** Made where it is missing. */
  make(): Promise<void>;
  /** The one that it is on, or would be made on (st_dev). */
  device(): Promise<number>;
  /** Those of this store. */
  backups(): Promise<Backup[]>;
  remove(backup: Backup): Promise<void>;
  /** What one that was killed has left; of versions without an id those from before a moment, which nobody writes any more. */
  removePartials(before: number): Promise<void>;
}

/**
 * From the top down: of a read-only file system Node's own way says that there is no such folder, and in /proc it never
 * ends (2026-11-17).
 */
async function makeFolder(folder: string): Promise<void> {
  if (await statOf(folder)) return;
  await makeFolder(dirname(folder));
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

async function deviceOf(folder: string): Promise<number> {
  return (await statOf(folder))?.dev ?? deviceOf(dirname(folder));
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

export function openBackupFolder(
  folder: string,
  id: string,
  store: Pick<Store, 'isOwnBackup'>,
): BackupFolder {
  /** By their names; what is in them does not change. */
  const ownByContent = new Map<string, boolean>();

  async function files(pattern: RegExp): Promise<Parsed[]> {
    const entries = (await statOf(folder)) ? await readdir(folder, { withFileTypes: true }) : [];
    return entries.flatMap(entry => (entry.isFile() ? (parsed(pattern, entry.name) ?? []) : []));
  }

  async function isOwn({ name, id: theirs }: Parsed): Promise<boolean> {
    if (theirs !== undefined) return theirs === id;
    const known = ownByContent.get(name) ?? (await store.isOwnBackup(join(folder, name)));
    ownByContent.set(name, known);
    return known;
  }

  return {
    make: () => makeFolder(folder),
    device: () => deviceOf(folder),
    async backups() {
      const own: Backup[] = [];
      for (const file of await files(NAME)) if (await isOwn(file)) own.push(file);
      return own;
    },
    async remove({ name }) {
      for (const end of ENDS) await rm(join(folder, name + end), { force: true });
    },
    async removePartials(before) {
      for (const { name, id: theirs, slot } of await files(PARTIAL))
        if (theirs === id || (theirs === undefined && slot < before))
          await rm(join(folder, name), { force: true });
    },
  };
}
