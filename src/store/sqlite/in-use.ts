/**
 * Whether any process has the store open: each holds a lock on a file beside it, shared, for as long as it has. The kernel
 * takes it back from whoever dies, and sees it in other containers too, of which /proc/locks says nothing.
 */

import { rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { codeOf, SQLITE } from './codes.ts';
import { OPEN_WAIT_MS, takeLock } from './lock.ts';
import { explain, makeMissing } from './open.ts';

export interface Use {
  /** Does it while nobody else has the store open, where it is still needed by then; false where somebody has. */
  alone(work: () => void, isNeeded: () => boolean, waitMs: number): boolean;
  end(): void;
}

/** An empty database of its own, since Node has no other way to such locks. No file comes with it. */
const SHARED = 'PRAGMA journal_mode = MEMORY; BEGIN; SELECT 1 FROM sqlite_schema';
const EXCLUSIVE = 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE';

/** `real`: the store's file, which need not be there, in a folder that is. */
export function enterUse(real: string): Use {
  const lock = `${real}.in-use`;
  const enter = () => lockOn(lock, SHARED, OPEN_WAIT_MS);
  let held = enter();

  function alone(work: () => void, isNeeded: () => boolean, waitMs: number): boolean {
    held.close();
    try {
      const exclusive = lockOn(lock, EXCLUSIVE, waitMs, isNeeded);
      try {
        if (exclusive.isTransaction) work();
      } finally {
        exclusive.close();
      }
      return true;
    } catch (error) {
      if (codeOf(error) !== SQLITE.busy) throw error;
      return false;
    } finally {
      held = enter();
    }
  }

  return {
    alone,
    end() {
      held.close();
      try {
        const exclusive = lockOn(lock, EXCLUSIVE, 0);
        rmSync(lock, { force: true });
        exclusive.close();
      } catch {
        // It is the last one's to remove.
      }
    },
  };
}

/** The last one out removes it: a lock on one that is gone would be seen by nobody, and is taken anew. */
function lockOn(lock: string, sql: string, waitMs: number, isNeeded = () => true): DatabaseSync {
  for (;;) {
    const before = inoOf(lock);
    if (before === undefined) makeMissing(lock);
    const db = open(lock);
    try {
      takeLock(() => {
        if (isNeeded()) db.exec(sql);
      }, waitMs);
      if (before !== undefined && inoOf(lock) === before) return db;
    } catch (error) {
      db.close();
      throw error;
    }
    db.close();
  }
}

function open(lock: string): DatabaseSync {
  try {
    return new DatabaseSync(lock, { timeout: 0 });
  } catch (error) {
    throw explain(error, lock);
  }
}

const inoOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;
