/**
 * Whether the files that a connection has open are still those at their path. SQLite goes on writing to a file that was
 * deleted or replaced, and all that it counts there is lost with the process.
 */

import { closeSync, openSync, realpathSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { StoreUnavailable } from '../../core/ports.ts';
import { canFollow, canFollowJournal, headOf, type JournalHead, journalHeadOf } from './heads.ts';
import { notePair } from './pair.ts';

export interface Guard {
  /** Behind every work, before it is said to be done; throws StoreUnavailable. Ten system calls. */
  check(): void;
  /**
   * The same, at most once in so long: a commit has 13 system calls, and is not to have more (2026-11-16). Before every work:
   * what is written beside another process that has other files would destroy the store for both.
   */
  checkNowAndThen(): void;
  /** Ends the connection; where the files are no longer its own, without a last word in them. */
  close(db: DatabaseSync): void;
}

const NOW_AND_THEN_MS = 100;

const identityOf = (path: string): string | undefined => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
};

/**
 * From the moment at which the connection was opened; `opened` is a descriptor of the file. The journal (the WAL) and its
 * index may come later, and then stay. What lies beside the file is noted by the first one, and whenever its head moves on.
 */
export function guardFile(path: string, opened: number, isFirst: boolean): Guard {
  const file = identityOf(path);
  // Behind a symbolic link SQLite puts them beside the file itself.
  const real = realpathSync(path);
  const beside: { path: string; was?: string | undefined }[] = ['-wal', '-shm'].map(end => ({
    path: real + end,
  }));
  const journal = watchJournal(`${real}-wal`);
  let head = headOf(opened);
  let goodUntil = 0;
  if (isFirst) notePair(path, head);

  const isThere = () => identityOf(path) === file;

  function areBeside(): boolean {
    return beside.every(other => {
      const present = identityOf(other.path);
      other.was ??= present;
      return present === other.was;
    });
  }

  /** Nobody has written another file over it, or cut it off. */
  function isOurs(): boolean {
    const next = headOf(opened);
    if (!canFollow(next, head) || !journal.isOurs()) return false;
    const hasMoved = !isDeepStrictEqual(next, head);
    head = next;
    if (hasMoved) notePair(path, head);
    return true;
  }

  function check(): void {
    if (!isThere() || !areBeside() || !isOurs()) {
      goodUntil = 0;
      throw new StoreUnavailable(
        `the database ${path} was deleted or replaced while it was in use: put it back, or restart the service to go on with what is there now`,
      );
    }
    goodUntil = performance.now() + NOW_AND_THEN_MS;
  }

  return {
    check,
    checkNowAndThen: () => void (performance.now() > goodUntil && check()),
    close(db) {
      if (isThere() && !(areBeside() && isOurs())) closeBeside(db, path);
      else db.close();
      journal.close();
    },
  };
}

/** On the journal there are no locks: its descriptor may be closed at any time. */
function watchJournal(path: string) {
  let file: number | undefined;
  let was: JournalHead | undefined;
  return {
    isOurs(): boolean {
      if (!statSync(path, { throwIfNoEntry: false })) return true;
      file ??= openSync(path, 'r');
      const next = journalHeadOf(file);
      const isGood = next === undefined || canFollowJournal(next, was);
      if (isGood) was = next;
      return isGood;
    },
    close: () => void (file !== undefined && closeSync(file)),
  };
}

/**
 * The last one out empties the journal into the file and removes it: not one that another process may use by now. SQLite
 * itself sees to this only where the file is another. Whoever reads keeps it from being the last one, and one that only
 * reads cannot empty anything.
 */
function closeBeside(db: DatabaseSync, path: string): void {
  const reader = new DatabaseSync(path, { readOnly: true });
  try {
    reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
  } catch {
    // What cannot be read is not worth it.
  }
  db.close();
  reader.close();
}
