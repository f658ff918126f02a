/** What the store itself knows of its backups by schedule: their folder may be on a disk that is not there. */

import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Seen } from './core/event.ts';
import type { Store } from './core/ports.ts';

type Leases = Pick<Store, 'lease' | 'swapLease'>;

export interface MadeBackup {
  /** When it was due. */
  readonly slot: number;
  /** When it was made. */
  readonly at: number;
  /** Of the folder at that time (st_dev). */
  readonly device: number;
}

/** A row of its own beside the leases, which nobody holds. */
const MADE = 'backup.made';
/** Of the newest acts of the audit: a backup that failed is tried, and fails, again each hour. */
const ACTS = 100;

/** The last good one in `folder`. */
export async function lastMade(store: Pick<Store, 'lease'>, folder: string): Promise<MadeBackup | undefined> {
  const row = await store.lease(MADE);
  if (!row?.holder) return undefined;
  const where = JSON.parse(row.holder) as { readonly folder: string; readonly device: number };
  return where.folder === folder ? { slot: row.dueAt, at: row.until, device: where.device } : undefined;
}

/** Of several who note the same one, one does. */
export async function noteMade(store: Leases, folder: string, made: MadeBackup): Promise<void> {
  const holder = JSON.stringify({ folder, device: made.device });
  await store.swapLease({ name: MADE, holder, until: made.at, dueAt: made.slot }, await store.lease(MADE));
}

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

/**
 * By which the backups of the store in `file` are told from those of others in the same folder. A copy of the file, such
 * as for a trial beside the real one, gets another: they would take each other's backups for their own.
 */
export async function storeIdOf(store: Leases, file: string, onCopy = () => {}): Promise<string> {
  const { ino, born } = await identityOf(file);
  for (;;) {
    const was = await store.lease(IDENTITY);
    const known = was && (JSON.parse(was.holder!) as Identity & { readonly id: string });
    const isSame = known?.ino === ino && (known.born === born || known.born === null || born === null);
    if (isSame && (known.born !== null || born === null)) return known.id;
    if (known && !isSame) {
      await forgetMade(store);
      onCopy();
    }
    const kept = isSame ? known.id : known ? undefined : (await store.lease(FORMER))?.holder;
    const holder = JSON.stringify({ id: kept ?? randomBytes(4).toString('hex'), ino, born });
    await store.swapLease({ name: IDENTITY, holder, until: 0, dueAt: 0 }, was);
  }
}

async function forgetMade(store: Leases): Promise<void> {
  const was = await store.lease(MADE);
  if (was) await store.swapLease({ ...was, holder: null }, was);
}

/** By the store alone: a folder that cannot be read says nothing, and that is when this matters. */
export async function failedBackup(
  store: Pick<Store, 'lease' | 'audit'>,
  folder: string,
  now: number,
): Promise<Seen['backup']> {
  const made = await lastMade(store, folder);
  const problem = await failureSince(store, made, folder, now);
  return problem === undefined ? undefined : { folder, lastGood: made?.slot ?? 0, problem };
}

/** Why the last try failed, where no good one has come since. What a clock that was ahead has written counts for nothing. */
async function failureSince(
  store: Pick<Store, 'audit'>,
  made: MadeBackup | undefined,
  folder: string,
  now: number,
): Promise<string | undefined> {
  const since = made && made.at <= now ? made.at : 0;
  const failed = (await store.audit(ACTS)).find(
    ({ action, subject, at }) => action === 'backup.fail' && subject === folder && at > since && at <= now,
  );
  return failed && (failed.detail ?? 'unknown');
}
