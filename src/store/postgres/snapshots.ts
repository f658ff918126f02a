/** Accepted versions of feeds in the shared store: the one in use, and the last ones before it. */

import type { Act } from '../../core/audit.ts';
import type { AcceptedSnapshot, SnapshotHead } from '../../core/feed.ts';
import { historyOf, isHeld, KEPT_VERSIONS, othersIn, redated } from '../../core/history.ts';
import type { Accepting } from '../../core/list-store.ts';
import { PAST_SNAPSHOT, SNAPSHOT, SNAPSHOT_HEAD } from '../columns.ts';
import { upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import { BACKGROUND_MS, type Connections } from './connect.ts';
import { swapsCheck } from './feed-checks.ts';
import type { Session } from './session.ts';
import { inTurn, readIn, TURN } from './turn.ts';

const { names } = SNAPSHOT;

/** What is in use becomes a thing of the past. */
async function putAside(session: Session, feed: string): Promise<void> {
  const { key } = PAST_SNAPSHOT;
  await session.query(
    `DELETE FROM past_snapshot WHERE (${key}) IN (SELECT ${key} FROM snapshot WHERE feed = $1)`,
    [feed],
  );
  await session.query(
    `WITH was AS (DELETE FROM snapshot WHERE feed = $1 RETURNING ${names})
    INSERT INTO past_snapshot (${names}) SELECT ${names} FROM was`,
    [feed],
  );
}

async function isInUse(session: Session, feed: string, digest: string | null): Promise<boolean> {
  const { rows } = await session.query('SELECT digest FROM snapshot WHERE feed = $1', [feed]);
  return (rows[0]?.digest ?? null) === digest;
}

async function headsIn(session: Session, table: string): Promise<SnapshotHead[]> {
  const statement = `SELECT ${SNAPSHOT_HEAD.names} FROM ${table} ORDER BY feed, accepted_at`;
  return (await session.query(statement)).rows.map(SNAPSHOT_HEAD.postgres.record);
}

async function isHeldIn(session: Session, feed: string): Promise<boolean> {
  const past = await headsIn(session, PAST_SNAPSHOT.name);
  return isHeld(historyOf(feed, await headsIn(session, SNAPSHOT.name), past));
}

async function isAddedAt(session: Session, feed: string, at: number): Promise<boolean> {
  const found = 'SELECT 1 FROM added_feed WHERE name = $1 AND added_at = $2';
  return (await session.query(found, [feed, at])).count === 1;
}

async function isWanted(
  session: Session,
  feed: string,
  { unlessHeld = false, addedAt, others, check }: Accepting,
): Promise<boolean> {
  if (others !== undefined && othersIn(await headsIn(session, SNAPSHOT.name), feed) !== others) return false;
  if (unlessHeld && (await isHeldIn(session, feed))) return false;
  if (addedAt !== undefined && !(await isAddedAt(session, feed, addedAt))) return false;
  return check === undefined || swapsCheck(session, check.next, check.was);
}

export function createSnapshots({ run }: Connections) {
  /** One updater at a time: so it is seen whether another came between (compare and swap). */
  const change = (work: (session: Session) => Promise<boolean>) =>
    run(session => inTurn(session, TURN.snapshots, () => work(session)), BACKGROUND_MS);

  return {
    snapshots: () => run(session => headsIn(session, SNAPSHOT.name)),
    pastSnapshots: () => run(session => headsIn(session, PAST_SNAPSHOT.name)),
    snapshot: (feed: string, past?: number) =>
      run(async (session): Promise<AcceptedSnapshot | undefined> => {
        const isPast = past !== undefined;
        const from = isPast
          ? 'past_snapshot WHERE feed = $1 AND accepted_at = $2'
          : 'snapshot WHERE feed = $1';
        const place = isPast ? [feed, past] : [feed];
        const rows = await readIn(session, BACKGROUND_MS, `SELECT ${names} FROM ${from}`, place);
        return rows.map(SNAPSHOT.postgres.record)[0];
      }, BACKGROUND_MS),
    acceptSnapshot: (snapshot: AcceptedSnapshot, was: string | null, act: Act, where: Accepting = {}) =>
      change(async session => {
        const { feed } = snapshot;
        if (!(await isInUse(session, feed, was)) || !(await isWanted(session, feed, where))) return false;
        await putInUse(session, snapshot, was);
        await writeAct(session, act);
        return true;
      }),
    swapSnapshot: (feed: string, to: SnapshotHead | null, was: string | null, act: Act) =>
      change(async session => {
        const place = [feed, to?.acceptedAt, to?.digest];
        const where = 'FROM past_snapshot WHERE feed = $1 AND accepted_at = $2 AND digest = $3';
        const isThere = !to || (await session.query(`SELECT 1 ${where}`, place)).count === 1;
        if (!isThere || !(await isInUse(session, feed, was))) return false;
        await putAside(session, feed);
        if (to)
          await session.query(
            `WITH next AS (DELETE ${where} RETURNING ${names})
            INSERT INTO snapshot (${names}) SELECT ${names} FROM next`,
            place,
          );
        await writeAct(session, act);
        return true;
      }),
  };
}

/** In the place of the one that is in use, which is kept to go back to, with the last few before it. */
async function putInUse(session: Session, snapshot: AcceptedSnapshot, was: string | null): Promise<void> {
  const { feed, acceptedAt } = snapshot;
  // What an operator went back from is no version to go back to.
  await session.query(
    `DELETE FROM past_snapshot WHERE feed = $1 AND accepted_at >
      (SELECT coalesce(max(accepted_at), 0) FROM snapshot WHERE feed = $1)`,
    [feed],
  );
  // The same again is not one more to go back to.
  if (snapshot.digest !== was) await putAside(session, feed);
  const { places, values } = SNAPSHOT.postgres;
  await session.query(upsert(SNAPSHOT, places()), values(snapshot));
  const past = (await headsIn(session, PAST_SNAPSHOT.name)).filter(head => head.feed === feed);
  for (const { from, to } of redated(past, acceptedAt))
    await session.query('UPDATE past_snapshot SET accepted_at = $1 WHERE feed = $2 AND accepted_at = $3', [
      to,
      feed,
      from,
    ]);
  await session.query(
    `DELETE FROM past_snapshot WHERE feed = $1 AND accepted_at NOT IN (
      SELECT accepted_at FROM past_snapshot WHERE feed = $1 ORDER BY accepted_at DESC LIMIT $2)`,
    [feed, KEPT_VERSIONS - 1],
  );
}
