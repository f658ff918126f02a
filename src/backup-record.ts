/** What the store itself knows of its backups by schedule: their folder may be on a disk that is not there. */

import type { Seen } from './core/event.ts';
import type { Store } from './core/ports.ts';

export interface MadeBackup {
  /** When it was due. */
  readonly slot: number;
  /** When it was made. */
  readonly at: number;
}

/** A row of its own beside the leases, which nobody holds. */
const MADE = 'backup.made';
/** Of the newest acts of the audit: a backup that failed is tried, and fails, again each hour. */
const ACTS = 100;

/** The last good one in `folder`. */
export async function lastMade(store: Pick<Store, 'lease'>, folder: string): Promise<MadeBackup | undefined> {
  const row = await store.lease(MADE);
  return row?.holder === folder ? { slot: row.dueAt, at: row.until } : undefined;
}

/** Of several who note the same one, one does. */
export async function noteMade(
  store: Pick<Store, 'lease' | 'swapLease'>,
  folder: string,
  { slot, at }: MadeBackup,
): Promise<void> {
  await store.swapLease({ name: MADE, holder: folder, until: at, dueAt: slot }, await store.lease(MADE));
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
