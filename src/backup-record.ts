/** What the store itself knows of its backups by schedule: their folder may be on a disk that is not there. */

import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Store } from './core/ports.ts';

type Leases = Pick<Store, 'lease' | 'swapLease'>;

export interface BackupRecord {
  /** When the last good one was due; 0 where there was none. */
  readonly slot: number;
  /** Of the folder when it was made (st_dev). */
  readonly device: number;
  /** Why one that was tried since has failed; null where none has. */
  readonly problem: string | null;
}

const NONE: BackupRecord = { slot: 0, device: 0, problem: null };
/** A row of its own beside the leases, which nobody holds. */
const RECORD = 'backup.made';

/** Of those in `folder`. */
export async function backupRecord(store: Pick<Store, 'lease'>, folder: string): Promise<BackupRecord> {
  const row = await store.lease(RECORD);
  if (!row?.holder) return NONE;
  const { folder: where, ...rest } = JSON.parse(row.holder) as BackupRecord & { readonly folder: string };
  return where === folder ? { ...rest, slot: row.dueAt } : NONE;
}

/** Of several who note the same, one does. */
async function note(store: Leases, folder: string, { slot, ...rest }: BackupRecord): Promise<void> {
  const holder = JSON.stringify({ folder, ...rest });
  await store.swapLease({ name: RECORD, holder, until: 0, dueAt: slot }, await store.lease(RECORD));
}

export const noteMade = (store: Leases, folder: string, slot: number, device: number) =>
  note(store, folder, { slot, device, problem: null });

export const noteFailed = async (store: Leases, folder: string, problem: string) =>
  note(store, folder, { ...(await backupRecord(store, folder)), problem });

/** Held for good by the id of the store and the file that it was given to. */
const IDENTITY = 'store.file';
/** Of a version from before, which gave the same one to copies. */
const FORMER = 'store';

interface Identity {
  readonly ino: number;
  /** Null where the file system does not know it, which then gives the time of the last change. */
  readonly born: number | null;
}

/** Without the device: numbers of these are given anew at each boot. */
async function identityOf(file: string): Promise<Identity> {
  const { ino, birthtimeMs, ctimeMs } = await stat(file);
  return { ino, born: birthtimeMs > 0 && birthtimeMs !== ctimeMs ? birthtimeMs : null };
}

type Kept = Identity & { readonly id: string };

async function keptIn(store: Pick<Store, 'lease'>) {
  const row = await store.lease(IDENTITY);
  return { row, known: row && (JSON.parse(row.holder!) as Kept) };
}

/** Where one of the two does not know when it was made, it is the same file. */
const isOf = ({ ino, born }: Identity, file: Identity) =>
  ino === file.ino && (born === file.born || born === null || file.born === null);

/** For whoever only looks: undefined where it has none yet, or is a copy that nobody has served. */
export async function knownIdOf(store: Pick<Store, 'lease'>, file: string): Promise<string | undefined> {
  const { known } = await keptIn(store);
  if (!known) return (await store.lease(FORMER))?.holder ?? undefined;
  return isOf(known, await identityOf(file)) ? known.id : undefined;
}

/**
 * By which the backups of the store in `file` are told from those of others in the same folder. A copy of the file, such
 * as for a trial beside the real one, gets another: they would take each other's backups for their own.
 */
export async function storeIdOf(store: Leases, file: string, onCopy = () => {}): Promise<string> {
  const present = await identityOf(file);
  for (;;) {
    const { row, known } = await keptIn(store);
    const isSame = known !== undefined && isOf(known, present);
    if (isSame && (known.born !== null || present.born === null)) return known.id;
    if (known && !isSame) {
      await forgetRecord(store);
      onCopy();
    }
    const kept = isSame ? known.id : known ? undefined : (await store.lease(FORMER))?.holder;
    const holder = JSON.stringify({ id: kept ?? randomBytes(4).toString('hex'), ...present });
    await store.swapLease({ name: IDENTITY, holder, until: 0, dueAt: 0 }, row);
  }
}

async function forgetRecord(store: Leases): Promise<void> {
  const was = await store.lease(RECORD);
  if (was) await store.swapLease({ ...was, holder: null }, was);
}
