/** Makes and reads copies of the store, on a disk that may not answer; it has no connection of its own in between. */

import { randomInt } from 'node:crypto';
import { backup, DatabaseSync } from 'node:sqlite';
import { LOCK_WAIT_MS } from './lock.ts';
import { isCopyOf, isWholeCopy } from './own-copy.ts';

export interface Copier {
  backup(path: string): Promise<void>;
  /** Reads every page of a copy: what cannot be read back is none. */
  isWholeCopy(path: string): boolean;
  isOwnCopy(path: string): boolean;
  close(): void;
}

/** Of the store at `path`. */
export function createCopier(path: string, reporting: () => (done: number, total: number) => void): Copier {
  return {
    backup: target => backUp(path, target, reporting()),
    isWholeCopy,
    isOwnCopy: copy => isCopyOf(path, copy),
    close() {},
  };
}

/**
 * From a connection of its own that stays in one read transaction: SQLite's online backup starts anew whenever another
 * connection has written, and beside a busy server it would never end.
 */
async function backUp(
  path: string,
  target: string,
  report: (done: number, total: number) => void,
): Promise<void> {
  const source = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS });
  try {
    source.exec('BEGIN; SELECT value FROM revision');
    await backup(source, target, {
      progress: ({ totalPages, remainingPages }) => report(totalPages - remainingPages, totalPages),
    });
  } finally {
    source.close();
  }
  markCopy(target);
}

/** By which it can be told from the store, should it be put in its place while that is in use: as in heads.ts. */
function markCopy(path: string): void {
  const copy = new DatabaseSync(path, { defensive: false });
  try {
    copy.exec(`PRAGMA schema_version = ${randomInt(1, 2 ** 30)}`);
  } finally {
    copy.close();
  }
}
