/**
 * Whether any process has the store open: each holds a lock on a file beside it, shared, for as long as it has. The kernel
 * takes it back from whoever dies, and sees it in other containers too, of which /proc/locks says nothing.
 */

import { rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreRefused } from '../refused.ts';
import { codeOf, SQLITE } from './codes.ts';
import { OPEN_WAIT_MS, takeLock } from './lock.ts';
import { explain, makeMissing } from './open.ts';

export interface Use {
  /** Does it while nobody else has the store open, where it is still needed by then; false where somebody has. */
  alone(work: () => void, isNeeded: () => boolean, waitMs: number): boolean;
  /** Until the end nobody else opens the store; false, and nothing changed, where somebody has. */
  keepOthersOut(waitMs: number): boolean;
  end(): void;
}

/** An empty database of its own, since Node has no other way to such locks. No file comes with it. */
const SHARED = 'PRAGMA journal_mode = MEMORY; BEGIN; SELECT 1 FROM sqlite_schema';
const EXCLUSIVE = 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE';

/** `real`: the store's file, which need not be there, in a folder that is. */
export function enterUse(real: string, waitMs = OPEN_WAIT_MS): Use {
  const lock = `${real}.in-use`;
  const enter = () => enterOn(lock, real, waitMs);
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

  function keepOthersOut(waitMs: number): boolean {
    held.close();
    try {
      held = lockOn(lock, EXCLUSIVE, waitMs);
      return true;
    } catch (error) {
      held = enter();
      if (codeOf(error) !== SQLITE.busy) throw error;
      return false;
    }
  }

  return {
    alone,
    keepOthersOut,
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

function enterOn(lock: string, real: string, waitMs: number): DatabaseSync {
  try {
    return lockOn(lock, SHARED, waitMs);
  } catch (error) {
    if (codeOf(error) !== SQLITE.busy) throw error;
    throw new StoreRefused(
      `${real} is being moved to another store ("domain-risk migrate")`,
      'wait until that has ended, then start on the store that it names',
    );
  }
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
