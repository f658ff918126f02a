/** The file as it was before its tables change, beside it. The last three are kept. */

import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { OnFormChange } from '../form.ts';
import { StoreRefused } from '../refused.ts';
import type { BeforeChange, Copy } from './change.ts';
import { unavailabilityOf } from './codes.ts';
import { LOCK_WAIT_MS } from './lock.ts';
import { makeOwnFile } from './owner.ts';

const KEPT = 3;

/**
 * For whoever opens the file for good. Under the write lock, so that there is one copy and it misses no call: a server
 * of the version before that still runs on the file cannot count meanwhile.
 */
export function copyingBefore(path: string, onChange: OnFormChange): BeforeChange {
  return change => {
    forgetAbandoned(path);
    const copy = copyOf(path);
    onChange({ copy: copy.name, ...change });
    return copy;
  };
}

/** Nothing has the name of a copy before it is a whole one, and on the disk (atomic rename). */
function copyOf(path: string): Copy & { readonly name: string } {
  const name = `${path}.before-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`;
  const partial = `${name}.partial`;
  const drop = () => [partial, `${partial}-journal`, name].forEach(remove);
  orRefuse(name, drop, () => write(path, partial));
  return {
    name,
    keep() {
      orRefuse(name, drop, () => {
        renameSync(partial, name);
        sync(dirname(name));
      });
    },
    drop,
    dropOlder: () => forgetOlder(path, name),
  };
}

function write(path: string, partial: string): void {
  makeOwnFile(partial);
  // On a connection of its own: one in a transaction cannot do it.
  const db = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS });
  try {
    // What is no copy yet need not be on the disk at every step: once it is whole is enough.
    db.exec('PRAGMA synchronous = OFF');
    db.prepare('VACUUM INTO ?').run(partial);
  } finally {
    db.close();
  }
  sync(partial);
}

function orRefuse(copy: string, drop: () => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    drop();
    const unavailable = unavailabilityOf(error);
    if (!unavailable) throw error;
    throw new StoreRefused(
      `the tables have to change for this version, and the copy ${copy} cannot be written before (${unavailable.message})`,
      'free as much space as the database takes, or give this user write access to its directory',
    );
  }
}

function sync(path: string): void {
  const opened = openSync(path, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Whoever finds it has the write lock now, so that it was left by a process that is gone. */
function forgetAbandoned(path: string): void {
  forget(path, end => /\.partial(?:-journal)?$/.test(end));
}

/** The newest by name are kept beside this one, which a clock that was set back may have made the oldest. */
function forgetOlder(path: string, copy: string): void {
  const others = endsOf(path).filter(end => /^\d{8}T\d{9}Z$/.test(end) && !copy.endsWith(end));
  const older = new Set(others.sort().slice(0, 1 - KEPT));
  forget(path, end => older.has(end));
}

function forget(path: string, isGone: (end: string) => boolean): void {
  for (const end of endsOf(path).filter(isGone)) remove(nameOf(path, end));
}

/** What cannot be removed, such as by a user who did not make it, is in nobody's way. */
function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {}
}

const nameOf = (path: string, end: string) => join(dirname(path), `${basename(path)}.before-${end}`);

/** What the names of copies end with; whatever else is in the folder, such as a folder of that name, is none. */
function endsOf(path: string): string[] {
  const begin = `${basename(path)}.before-`;
  return readdirSync(dirname(path), { withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.startsWith(begin))
    .map(({ name }) => name.slice(begin.length));
}
