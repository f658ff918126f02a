/** Counts calls in the shared store: one statement, one commit, whatever number of calls and keys. */

import type { SpendGroup, SpendResult } from '../spend-group.ts';
import type { Session } from './session.ts';

/**
 * Exact for any number of servers, because each of its three questions is answered by something that cannot be wrong:
 *
 * - *Was the key judged under the current revision?* `revision` is read in the statement's own snapshot, which is
 *   taken after every call of the batch has come in. A change that was committed before a call came is therefore
 *   always seen by it; one that is committed meanwhile is simultaneous with it, and either order is right. So no lock
 *   on the revision is needed, which all servers would queue for, and nothing has to be announced (LISTEN/NOTIFY)
 *   nor polled: a lost connection cannot make a server miss a change.
 * - *Is there anything left?* `seen` may be old, but a count only grows: what is used up in an old snapshot is used up.
 *   Those calls are refused without a write.
 * - *How much is granted?* That is computed by DO UPDATE from the row as it stands under its lock (`u.used`), however
 *   long the statement had to wait for it, or by the INSERT where the unique index proves that there was no row.
 *   `least` ignores NULL, so an unlimited key is granted what it asks for. `first` are calls with several names: all
 *   of these or none.
 *
 * Rows are locked in the order of the key, so that two servers never wait for each other, and a day's row only by
 * who holds its month's. One snapshot per statement and rows as they stand are what READ COMMITTED gives; `prepare`
 * has set it.
 */
export const COUNT = `
  WITH asked AS MATERIALIZED (
    SELECT a.n, a.key_id, a.day, left(a.day, 7) AS month, a.quota, a.calls, a.whole,
      a.revision = revision.value AS current,
      coalesce(usage.used, 0) AS seen
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
      WITH ORDINALITY AS a (key_id, day, quota, revision, calls, whole, n)
    CROSS JOIN revision
    LEFT JOIN usage ON usage.key_id = a.key_id AND usage.month = left(a.day, 7)
  ), counted AS (
    INSERT INTO usage AS u (key_id, month, used, granted, quota, last_at)
    SELECT key_id, month, first + least(calls, quota - first), first + least(calls, quota - first), quota,
      (extract(epoch FROM clock_timestamp()) * 1000)::bigint
    FROM asked CROSS JOIN LATERAL (SELECT CASE WHEN whole > quota THEN 0 ELSE whole END) AS whole_first (first)
    WHERE current AND (seen < quota) IS NOT FALSE
    ORDER BY key_id, month
    ON CONFLICT (key_id, month) DO UPDATE SET last_at = excluded.last_at, (used, granted, quota) = (
      SELECT u.used + first + least(calls, asked.quota - u.used - first),
        first + least(calls, asked.quota - u.used - first), asked.quota
      FROM asked
      CROSS JOIN LATERAL (SELECT CASE WHEN whole > asked.quota - u.used THEN 0 ELSE whole END) AS whole_first (first)
      WHERE current AND asked.key_id = u.key_id AND asked.month = u.month)
    WHERE (u.used < excluded.quota) IS NOT FALSE
    RETURNING u.key_id, u.month, u.used, u.granted
  ), dated AS (
    INSERT INTO usage_day AS d (key_id, day, used)
    SELECT key_id, day, granted FROM counted JOIN asked USING (key_id, month) WHERE current
    ON CONFLICT (key_id, day) DO UPDATE SET used = d.used + excluded.used
  )
  SELECT asked.current, coalesce(counted.granted, 0) AS granted,
    coalesce(counted.used, greatest(asked.seen, asked.quota)) AS used
  FROM asked LEFT JOIN counted
    ON asked.current AND counted.key_id = asked.key_id AND counted.month = asked.month
  ORDER BY asked.n`;

export function countValues(groups: readonly SpendGroup[]): unknown[] {
  return [
    groups.map(group => group.keyId),
    groups.map(group => group.day),
    groups.map(group => group.quota),
    groups.map(group => group.revision),
    groups.map(group => group.calls),
    groups.map(group => group.whole ?? 0),
  ];
}

export async function count(session: Session, groups: readonly SpendGroup[]): Promise<SpendResult[]> {
  const { rows } = await session.query({ name: 'count', text: COUNT, values: countValues(groups) });
  return rows.map(({ current, granted, used }) =>
    current === true ? { granted: Number(granted), used: Number(used) } : 'changed',
  );
}

/**
 * Writes durably, as a count would, and tells the database's time. Counting nothing needs the same tables and rights: while
 * somebody had locked one of them it was ready, and no call was counted (2026-11-19).
 */
export async function prove(session: Session): Promise<number> {
  await count(session, []);
  const { rows } = await session.query(
    'UPDATE proof SET at = clock_timestamp() RETURNING (extract(epoch FROM at) * 1000)::bigint AS now',
  );
  return Number(rows[0]?.now);
}
