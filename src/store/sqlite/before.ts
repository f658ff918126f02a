/** The file as it was before its tables change, beside it. The last three are kept. */

import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { threadId } from 'node:worker_threads';
import type { OnFormChange } from '../form.ts';
import { StoreRefused } from '../refused.ts';
import { LOCK_WAIT_MS } from './lock.ts';
import { pendingChange } from './open.ts';

const KEPT = 3;

export function copyBeforeChange(path: string, onChange: OnFormChange): void {
  const db = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS });
  try {
    const change = pendingChange(db);
    if (!change) return;
    const copy = `${path}.before-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`;
    // Another process has changed them meanwhile: there is nothing left to be done, nor to be copied.
    if (!write(db, copy)) return;
    forgetOlder(path);
    onChange({ copy, ...change });
  } finally {
    db.close();
  }
}

/**
 * Nothing has the name of a copy before it is a whole one, and on the disk (atomic rename). False where what was copied
 * is the changed form already.
 */
function write(db: DatabaseSync, copy: string): boolean {
  // Of this thread alone: servers that start at once must not take each other's away.
  const partial = `${copy}.${process.pid}-${threadId}.partial`;
  try {
    // Made here and not by SQLite, so that nobody else can read it while it is being written.
    closeSync(openSync(partial, 'wx', 0o600));
    db.prepare('VACUUM INTO ?').run(partial);
    const written = openSync(partial, 'r');
    fsyncSync(written);
    closeSync(written);
    chmodSync(partial, 0o600);
    const isOfBefore = hasPendingChange(partial);
    if (isOfBefore) renameSync(partial, copy);
    else rmSync(partial);
    return isOfBefore;
  } catch (error) {
    for (const end of ['', '-journal']) rmSync(partial + end, { force: true });
    throw new StoreRefused(
      `the tables have to change for this version, and the copy ${copy} cannot be written before (${(error as Error).message})`,
      'free as much space as the database takes, or give this user write access to its directory',
    );
  }
}

function hasPendingChange(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return pendingChange(db) !== undefined;
  } finally {
    db.close();
  }
}

/** A copy that is still being made after so long was left by a process that is gone. */
const ABANDONED_MS = 3_600_000;

function forgetOlder(path: string): void {
  const folder = dirname(path);
  const names = readdirSync(folder);
  const copies = names.filter(name => /^\d{8}T\d{9}Z$/.test(ofCopy(name, path)));
  const abandoned = names.filter(name => {
    if (!/\.partial(?:-journal)?$/.test(ofCopy(name, path))) return false;
    const made = statSync(join(folder, name), { throwIfNoEntry: false });
    return made !== undefined && Date.now() - made.mtimeMs > ABANDONED_MS;
  });
  // Another process may do the same.
  for (const name of [...copies.sort().slice(0, -KEPT), ...abandoned])
    rmSync(join(folder, name), { force: true });
}

/** The moment in the name of a copy; whatever else is in the folder has none. */
function ofCopy(name: string, path: string): string {
  const begin = `${basename(path)}.before-`;
  return name.startsWith(begin) ? name.slice(begin.length) : '';
}
