/** Accepted versions of feeds in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import type { AcceptedSnapshot, SnapshotHead } from '../../core/feed.ts';
import { SNAPSHOT, SNAPSHOT_HEAD } from '../columns.ts';
import { upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import { inTransaction } from './transaction.ts';

export type Snapshots = ReturnType<typeof createSnapshots>;

export function createSnapshots(db: DatabaseSync) {
  const digestOf = (feed: string) =>
    db.prepare('SELECT digest FROM snapshot WHERE feed = ?').get(feed)?.digest ?? null;

  return {
    snapshots: (): SnapshotHead[] =>
      db
        .prepare(`SELECT ${SNAPSHOT_HEAD.names} FROM snapshot ORDER BY feed`)
        .all()
        .map(SNAPSHOT_HEAD.sqlite.record),
    snapshot(feed: string): AcceptedSnapshot | undefined {
      const row = db.prepare(`SELECT ${SNAPSHOT.names} FROM snapshot WHERE feed = ?`).get(feed);
      return row && SNAPSHOT.sqlite.record(row);
    },
    acceptSnapshot: (snapshot: AcceptedSnapshot, was: string | null, act: Act): boolean =>
      inTransaction(db, () => {
        if (digestOf(snapshot.feed) !== was) return false;
        const { places, values } = SNAPSHOT.sqlite;
        db.prepare(upsert(SNAPSHOT, places)).run(...values(snapshot));
        writeAct(db, act);
        return true;
      }),
    removeSnapshot: (feed: string, act: Act): boolean =>
      inTransaction(db, () => {
        if (digestOf(feed) === null) return false;
        db.prepare('DELETE FROM snapshot WHERE feed = ?').run(feed);
        writeAct(db, act);
        return true;
      }),
  };
}
