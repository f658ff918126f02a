/** What became of each feed when it was last looked at, in the shared store. */

import { isDeepStrictEqual } from 'node:util';
import { type AskedNames, MOST_READ, wholeOf } from '../../core/asked.ts';
import type { Act } from '../../core/audit.ts';
import { forgottenDays } from '../../core/forgetting.ts';
import type { FeedCheck } from '../../core/freshness.ts';
import { ASKED, FEED_CHECK } from '../columns-of-lists.ts';
import { upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import { BACKGROUND_MS, type Connections } from './connect.ts';
import type { Session } from './session.ts';
import { inTurn, readIn, TURN } from './turn.ts';

const { names, postgres } = FEED_CHECK;

/** In turn with other updaters; false where another came between. */
export async function swapsCheck(
  session: Session,
  check: FeedCheck,
  was?: FeedCheck | null,
): Promise<boolean> {
  const row = `SELECT ${names} FROM feed_check WHERE feed = $1`;
  const [now = null] = (await session.query(row, [check.feed])).rows.map(postgres.record);
  if (was !== undefined && !isDeepStrictEqual(now, was)) return false;
  await session.query(upsert(FEED_CHECK, postgres.places()), postgres.values(check));
  return true;
}

export function createFeedChecks({ run }: Connections) {
  return {
    feedChecks: () =>
      run(async (session): Promise<FeedCheck[]> => {
        const { rows } = await session.query(`SELECT ${names} FROM feed_check ORDER BY feed`);
        return rows.map(postgres.record);
      }),
    noteCheck: (check: FeedCheck, was?: FeedCheck | null, act?: Act) =>
      run(
        session =>
          inTurn(session, TURN.snapshots, async () => {
            if (!(await swapsCheck(session, check, was))) return false;
            if (act) await writeAct(session, act);
            return true;
          }),
        BACKGROUND_MS,
      ),
    keepAsked: (asked: AskedNames, sinceDay: string) =>
      run(async session => {
        await session.query(upsert(ASKED, ASKED.postgres.places()), ASKED.postgres.values(asked));
        const last = 'SELECT max(day) AS day FROM asked WHERE day < $1';
        const { rows } = await session.query(last, [asked.day]);
        const gone = forgottenDays(asked.day, sinceDay, rows[0]?.day);
        await session.query('DELETE FROM asked WHERE day < $1', [gone]);
      }, BACKGROUND_MS),
    askedNames: () =>
      run(async (session): Promise<AskedNames[]> => {
        const statement = `SELECT day, server,
            substr(names || ' ', 1, least(length(names) + 1,
              (length(names) + 1) * ${MOST_READ}::bigint / sum(length(names) + 1) OVER (PARTITION BY day))::int) AS names
          FROM asked ORDER BY day DESC, server`;
        // 28 MB at the most, 1.9 s of the database's processor time (2026-11-18).
        const rows = await readIn(session, BACKGROUND_MS, statement);
        return rows.map(ASKED.postgres.record).map(row => ({ ...row, names: wholeOf(row.names) }));
      }, BACKGROUND_MS),
  };
}
