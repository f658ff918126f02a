/** Events that were raised, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { RaisedEvent } from '../../core/event.ts';
import { EVENT } from '../columns.ts';
import { inTransaction } from './transaction.ts';

export const EVENT_TABLE = `CREATE TABLE event (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`;

export type Events = ReturnType<typeof createEvents>;

export function createEvents(db: DatabaseSync) {
  const { names, sqlite } = EVENT;
  return {
    raiseEvent(event: RaisedEvent, since: number): boolean {
      // Most were raised before: whoever looks again takes no lock.
      const isKnown = db.prepare('SELECT 1 FROM event WHERE id = ? AND at >= ?').get(event.id, since);
      if (isKnown) return false;
      return inTransaction(db, () => {
        db.prepare('DELETE FROM event WHERE at < ?').run(since);
        const put = db.prepare(
          `INSERT INTO event (${names}) VALUES (${sqlite.places}) ON CONFLICT DO NOTHING`,
        );
        return put.run(...sqlite.values(event)).changes === 1;
      });
    },
  };
}
