/** The revision of keys and overrides in the embedded store: read beside what it belongs to, raised with every change. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import { writeAct } from './audit.ts';
import { inTransaction } from './transaction.ts';

export type Revisions = ReturnType<typeof createRevisions>;

export function createRevisions(db: DatabaseSync) {
  const read = db.prepare('SELECT value FROM revision');
  const revision = () => Number(read.get()?.value);
  const raise = () => db.exec('UPDATE revision SET value = value + 1');

  return {
    revision,

    /** Inside the transaction of a change. */
    raise,

    /**
     * A change that running servers must see before they answer their next call; false when there was nothing to do. The
     * act may be made of what the work has found.
     */
    change: (act: Act | (() => Act), work: () => boolean): boolean =>
      inTransaction(db, () => {
        if (!work()) return false;
        writeAct(db, typeof act === 'function' ? act() : act);
        raise();
        return true;
      }),

    /** Two reads that belong together see one state of the database. */
    together<T>(work: () => T): T {
      db.exec('BEGIN');
      try {
        return work();
      } finally {
        db.exec('COMMIT');
      }
    },
  };
}
