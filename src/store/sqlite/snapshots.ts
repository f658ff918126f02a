/** Accepted versions of feeds in the embedded store. */

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import type { AcceptedSnapshot, SnapshotHead } from '../../core/feed.ts';
import { writeAct } from './audit.ts';
import { inTransaction } from './transaction.ts';

export type Snapshots = ReturnType<typeof createSnapshots>;

export function createSnapshots(db: DatabaseSync) {
  const digestOf = (feed: string) =>
    db.prepare('SELECT digest FROM snapshot WHERE feed = ?').get(feed)?.digest ?? null;

  return {
    snapshots: (): SnapshotHead[] =>
      db
        .prepare('SELECT feed, version, digest, names, accepted_at FROM snapshot ORDER BY feed')
        .all()
        .map(headFrom),
    snapshot(feed: string): AcceptedSnapshot | undefined {
      const row = db.prepare('SELECT * FROM snapshot WHERE feed = ?').get(feed);
      return row && { ...headFrom(row), body: String(row.body) };
    },
    acceptSnapshot: (s: AcceptedSnapshot, was: string | null, act: Act): boolean =>
      inTransaction(db, () => {
        if (digestOf(s.feed) !== was) return false;
        db.prepare(
          'INSERT OR REPLACE INTO snapshot (feed, version, digest, names, accepted_at, body) VALUES (?, ?, ?, ?, ?, ?)',
        ).run(s.feed, s.version, s.digest, s.names, s.acceptedAt, s.body);
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

function headFrom(row: Record<string, SQLOutputValue>): SnapshotHead {
  return {
    feed: String(row.feed),
    version: String(row.version),
    digest: String(row.digest),
    names: Number(row.names),
    acceptedAt: Number(row.accepted_at),
  };
}

/** For `restore`: lists do not grow old again. */
export const RESTORE_SNAPSHOTS = `
  INSERT INTO snapshot SELECT * FROM backup.snapshot WHERE true
    ON CONFLICT DO UPDATE SET
      version = excluded.version, digest = excluded.digest, names = excluded.names,
      accepted_at = excluded.accepted_at, body = excluded.body
    WHERE excluded.accepted_at > accepted_at;`;
