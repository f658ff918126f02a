/** The file as it was before its tables change, beside it. The last three are kept. */

import { chmodSync, closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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
    write(db, copy);
    forgetOlder(path);
    onChange({ copy, ...change });
  } finally {
    db.close();
  }
}

/** Nothing has the name of a copy before it is a whole one, and on the disk (atomic rename). */
function write(db: DatabaseSync, copy: string): void {
  const partial = `${copy}.partial`;
  try {
    // Made here and not by SQLite, so that nobody else can read it while it is being written.
    closeSync(openSync(partial, 'wx', 0o600));
    db.prepare('VACUUM INTO ?').run(partial);
    const written = openSync(partial, 'r');
    fsyncSync(written);
    closeSync(written);
    chmodSync(partial, 0o600);
    renameSync(partial, copy);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new StoreRefused(
      `the tables have to change for this version, and the copy ${copy} cannot be written before (${(error as Error).message})`,
      'free as much space as the database takes, or give this user write access to its directory',
    );
  }
}

function forgetOlder(path: string): void {
  const folder = dirname(path);
  const copies = readdirSync(folder).filter(name => /^\d{8}T\d{9}Z$/.test(ofCopy(name, path)));
  for (const name of copies.sort().slice(0, -KEPT)) rmSync(join(folder, name));
}

/** The moment in the name of a copy; whatever else is in the folder has none. */
function ofCopy(name: string, path: string): string {
  const begin = `${basename(path)}.before-`;
  return name.startsWith(begin) ? name.slice(begin.length) : '';
}
