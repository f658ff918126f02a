/**
 * Whether the files that a connection has open are still those at their path. SQLite goes on writing to a file that was
 * deleted or replaced, and all that it counts there is lost with the process.
 */

import { realpathSync, statSync } from 'node:fs';
import { StoreUnavailable } from '../../core/ports.ts';

export interface Guard {
  /** Behind every work, before it is said to be done; throws StoreUnavailable. Two calls of stat(2). */
  check(): void;
  /** The same, at most once in so long: a commit has 13 system calls, and is not to have two more (2026-11-16). */
  checkNowAndThen(): void;
}

const NOW_AND_THEN_MS = 100;

const identityOf = (path: string): string | undefined => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
};

/** From the moment at which the connection was opened. The journal (the WAL) may come later, and then stays. */
export function guardFile(path: string): Guard {
  const file = identityOf(path);
  // Behind a symbolic link SQLite puts it beside the file itself.
  const journalPath = `${realpathSync(path)}-wal`;
  let journal: string | undefined;
  let goodUntil = 0;

  function check(): void {
    const present = identityOf(journalPath);
    journal ??= present;
    if (identityOf(path) !== file || present !== journal)
      throw new StoreUnavailable(
        `the database ${path} was deleted or replaced while it was in use: put it back, or restart the service to go on with what is there now`,
      );
    goodUntil = performance.now() + NOW_AND_THEN_MS;
  }

  return { check, checkNowAndThen: () => void (performance.now() > goodUntil && check()) };
}
