/** Accepted versions of feeds in the embedded store: the one in use, and the last ones before it. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import type { AcceptedSnapshot, SnapshotHead } from '../../core/feed.ts';
import { historyOf, isHeld, KEPT_VERSIONS, othersIn, redated } from '../../core/history.ts';
import type { Accepting } from '../../core/list-store.ts';
import { PAST_SNAPSHOT, SNAPSHOT, SNAPSHOT_HEAD } from '../columns.ts';
import { upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import { swapsCheck } from './feed-checks.ts';
import { inTransaction } from './transaction.ts';

export type Snapshots = ReturnType<typeof createSnapshots>;

const { names } = SNAPSHOT;

function headsIn(db: DatabaseSync, table: string): SnapshotHead[] {
  const statement = `SELECT ${SNAPSHOT_HEAD.names} FROM ${table} ORDER BY feed, accepted_at`;
  return db.prepare(statement).all().map(SNAPSHOT_HEAD.sqlite.record);
}

const isHeldIn = (db: DatabaseSync, feed: string) =>
  isHeld(historyOf(feed, headsIn(db, SNAPSHOT.name), headsIn(db, PAST_SNAPSHOT.name)));

function isWanted(
  db: DatabaseSync,
  feed: string,
  { unlessHeld = false, addedAt, others, check }: Accepting,
): boolean {
  const isSame = others === undefined || othersIn(headsIn(db, SNAPSHOT.name), feed) === others;
  if (!isSame || (unlessHeld && isHeldIn(db, feed))) return false;
  const added = db.prepare('SELECT added_at FROM added_feed WHERE name = ?').get(feed);
  if (addedAt !== undefined && added?.added_at !== addedAt) return false;
  return check === undefined || swapsCheck(db, check.next, check.was);
}

/** What is in use becomes a thing of the past. */
function putAside(db: DatabaseSync, feed: string): void {
  db.prepare(
    `INSERT OR REPLACE INTO past_snapshot (${names}) SELECT ${names} FROM snapshot WHERE feed = ?`,
  ).run(feed);
  db.prepare('DELETE FROM snapshot WHERE feed = ?').run(feed);
}

export function createSnapshots(db: DatabaseSync) {
  const digestOf = (feed: string) =>
    db.prepare('SELECT digest FROM snapshot WHERE feed = ?').get(feed)?.digest ?? null;
  return {
    snapshots: () => headsIn(db, SNAPSHOT.name),
    pastSnapshots: () => headsIn(db, PAST_SNAPSHOT.name),
    snapshot(feed: string, past?: number): AcceptedSnapshot | undefined {
      const row =
        past === undefined
          ? db.prepare(`SELECT ${names} FROM snapshot WHERE feed = ?`).get(feed)
          : db
              .prepare(`SELECT ${names} FROM past_snapshot WHERE feed = ? AND accepted_at = ?`)
              .get(feed, past);
      return row && SNAPSHOT.sqlite.record(row);
    },
    acceptSnapshot: (
      snapshot: AcceptedSnapshot,
      was: string | null,
      act: Act,
      where: Accepting = {},
    ): boolean =>
      inTransaction(db, () => {
        const { feed } = snapshot;
        if (digestOf(feed) !== was || !isWanted(db, feed, where)) return false;
        putInUse(db, snapshot, was);
        writeAct(db, act);
        return true;
      }),
    swapSnapshot: (feed: string, to: SnapshotHead | null, was: string | null, act: Act): boolean =>
      inTransaction(db, () => {
        const isThere = (head: SnapshotHead) =>
          db
            .prepare('SELECT 1 FROM past_snapshot WHERE feed = ? AND accepted_at = ? AND digest = ?')
            .get(feed, head.acceptedAt, head.digest) !== undefined;
        if (digestOf(feed) !== was || (to && !isThere(to))) return false;
        putAside(db, feed);
        if (to) {
          const place = [feed, to.acceptedAt] as const;
          const where = 'FROM past_snapshot WHERE feed = ? AND accepted_at = ?';
          db.prepare(`INSERT INTO snapshot (${names}) SELECT ${names} ${where}`).run(...place);
          db.prepare(`DELETE ${where}`).run(...place);
        }
        writeAct(db, act);
        return true;
      }),
  };
}

/** In the place of the one that is in use, which is kept to go back to, with the last few before it. */
function putInUse(db: DatabaseSync, snapshot: AcceptedSnapshot, was: string | null): void {
  const { feed, acceptedAt } = snapshot;
  // What an operator went back from is no version to go back to.
  db.prepare(
    `DELETE FROM past_snapshot WHERE feed = ? AND accepted_at >
      (SELECT coalesce(max(accepted_at), 0) FROM snapshot WHERE feed = ?)`,
  ).run(feed, feed);
  // The same again is not one more to go back to.
  if (snapshot.digest !== was) putAside(db, feed);
  const { places, values } = SNAPSHOT.sqlite;
  db.prepare(upsert(SNAPSHOT, places)).run(...values(snapshot));
  const past = headsIn(db, PAST_SNAPSHOT.name).filter(head => head.feed === feed);
  for (const { from, to } of redated(past, acceptedAt))
    db.prepare('UPDATE past_snapshot SET accepted_at = ? WHERE feed = ? AND accepted_at = ?').run(
      ...[to, feed, from],
    );
  db.prepare(
    `DELETE FROM past_snapshot WHERE feed = ? AND accepted_at NOT IN (
      SELECT accepted_at FROM past_snapshot WHERE feed = ? ORDER BY accepted_at DESC LIMIT ?)`,
  ).run(feed, feed, KEPT_VERSIONS - 1);
}
