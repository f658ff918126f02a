/**
 * Whether the files that a connection has open are still those at their path. SQLite goes on writing to a file that was
 * deleted or replaced, and all that it counts there is lost with the process.
 */

import { closeSync, openSync, realpathSync, type Stats } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { StoreUnavailable } from '../../core/ports.ts';
import { canFollow, canFollowJournal, headOf, type JournalHead, journalHeadOf } from './heads.ts';
import { notePair, statOf } from './pair.ts';

export interface Guard {
  /** Behind every work, before it is said to be done; throws StoreUnavailable. Five system calls. */
  check(): void;
  /**
   * Behind a commit of calls, before one of them is answered: whether the file is at its path, and nobody has written to
   * it. Where somebody has, which may have been a checkpoint, all is looked at. One system call: 11 µs beside the 27 of a
   * commit in memory and the 110 to 2,600 of one on a disk, once for all calls in it (2026-11-17).
   */
  checkFile(): void;
  /**
   * The same, at most once in so long, and its heads more rarely still: a commit has 13 system calls, and is not to have
   * many more (2026-11-17). Before every work: what is written beside another process that has other files would destroy
   * the store for both.
   */
  checkNowAndThen(): void;
  /** Ends the connection; where the files are no longer its own, without a last word in them. */
  close(db: DatabaseSync): void;
}

const NOW_AND_THEN_MS = 100;
const HEADS_MS = 500;
/**
 * A head is noted when it has stood for so long: by then the checkpoint that wrote it is on the disk. One that a power cut
 * takes back would look like another file's, and the journal that makes it good would be set aside.
 */
const SETTLED_MS = 5_000;

const placeOf = (found: Stats | undefined) => found && `${found.dev} ${found.ino}`;

/** What the folder shows: whether the file is at its path, and what lies beside it still the same. */
interface Seen {
  readonly isThere: boolean;
  readonly areBeside: boolean;
  readonly size: number;
  readonly journalSize: number;
}

/** The journal (the WAL) and its index may come later than the connection, and then stay. */
function watchFolder(path: string, real: string): () => Seen {
  const file = placeOf(statOf(path));
  const was: (string | undefined)[] = [];
  return () => {
    const present = statOf(path);
    const beside = [statOf(`${real}-wal`), statOf(`${real}-shm`)];
    const areBeside = beside.map(placeOf).every((now, at) => {
      was[at] ??= now;
      return now === was[at];
    });
    const isThere = placeOf(present) === file;
    return { isThere, areBeside, size: present?.size ?? 0, journalSize: beside[0]?.size ?? 0 };
  };
}

/**
 * From the moment at which the connection was opened; `opened` is a descriptor of the file. What lies beside the file is
 * noted by the first one, and when its head has moved on.
 */
export function guardFile(path: string, opened: number, isFirst: boolean): Guard {
  // Behind a symbolic link SQLite puts everything beside the file itself.
  const real = realpathSync(path);
  const look = watchFolder(path, real);
  const journal = watchJournal(`${real}-wal`);
  let head = headOf(opened);
  let goodUntil = 0;
  let headsUntil = 0;
  let file: Stats | undefined;
  let settledAt = Number.POSITIVE_INFINITY;
  if (isFirst) notePair(path, head);

  /** Nobody has written another file over it, or cut it off. */
  function isOurs({ size, journalSize }: Seen): boolean {
    const next = headOf(opened, size);
    if (!canFollow(next, head) || !journal.isOurs(journalSize)) return false;
    const now = performance.now();
    if (!isDeepStrictEqual(next, head)) settledAt = now + SETTLED_MS;
    head = next;
    if (now > settledAt) {
      notePair(path, head);
      settledAt = Number.POSITIVE_INFINITY;
    }
    headsUntil = now + HEADS_MS;
    return true;
  }

  function check(withHeads = true): void {
    const seen = look();
    if (!seen.isThere || !seen.areBeside || (withHeads && !isOurs(seen))) {
      goodUntil = headsUntil = 0;
      throw new StoreUnavailable(
        `the database ${path} was deleted or replaced while it was in use: put it back, or restart the service to go on with what is there now`,
      );
    }
    goodUntil = performance.now() + NOW_AND_THEN_MS;
  }

  return {
    check: () => check(),
    checkFile() {
      const now = statOf(path);
      if (now && now.mtimeMs === file?.mtimeMs && now.ino === file.ino && now.dev === file.dev) return;
      check();
      file = now;
    },
    checkNowAndThen() {
      const now = performance.now();
      if (now > goodUntil) check(now > headsUntil);
    },
    close(db) {
      const seen = look();
      if (seen.isThere && !(seen.areBeside && isOurs(seen))) closeBeside(db, path);
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
    isOurs(size: number): boolean {
      if (size === 0) return true;
      file ??= openSync(path, 'r');
      const next = journalHeadOf(file, size);
      const isGood = next === undefined || canFollowJournal(next, was);
      // The size may be of a moment before it began anew.
      if (isGood) was = next && { ...next, size: next.salts === was?.salts ? next.size : 0 };
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
  let reader: DatabaseSync | undefined;
  try {
    reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
  } catch {
    // What cannot be read any more has nothing to lose.
  }
  db.close();
  reader?.close();
}
