/** Verdicts that were given, and the ranking made of them, in the shared store. */

import { dayOfWindow, forgottenDays } from '../../core/forgetting.ts';
import { type Flag, MOST_FLAGS } from '../../core/ranking.ts';
import { GIVEN_FLAG, RANKED } from '../columns-of-flags.ts';
import { BY_SEVERAL, CUSTOMER_ENDS, gatheredBefore, gathering, IS_NO_URL, TIMES } from '../flags.ts';
import { rowsToRemove } from '../prune.ts';
import { replaced } from '../table.ts';
import { BACKGROUND_MS, type Connections, LISTING_MS } from './connect.ts';
import { arraysOf, lastOfEach, unnested } from './rows.ts';
import type { Session } from './session.ts';
import { CHUNK, inTurn, TURN } from './turn.ts';

/** Counting the table with every flush of every server would cost more than writing to it. */
const PRUNE_EVERY = 1_000;

export function createFlags({ run }: Connections) {
  let written = PRUNE_EVERY;
  let prunedSince = '';

  return {
    flag: (flags: readonly Flag[], sinceDay: string) =>
      run(async session => {
        for (let i = 0; i < flags.length; i += CHUNK) {
          await inTurn(session, TURN.flags, () =>
            session.query(PUT_FLAGS, arraysOf(GIVEN_FLAG, flags.slice(i, i + CHUNK))),
          );
        }
        written += flags.length;
        if (written < PRUNE_EVERY && prunedSince === sinceDay) return;
        await inTurn(session, TURN.flags, () => prune(session, sinceDay));
        written = 0;
        prunedSince = sinceDay;
      }, BACKGROUND_MS),
    ranking: (sinceDay: string, most: number, reason: string | undefined) =>
      run(async session => {
        const { rows } = await session.query(RANKING, [sinceDay, most, reason ?? null]);
        return rows.map(RANKED.postgres.record);
      }, LISTING_MS),
  };
}

/** On the last day before $1 there were calls, or names that were flagged. */
const LAST_DAY = `
  SELECT greatest((SELECT max(day) FROM flag WHERE day < $1), (SELECT max(day) FROM usage_day WHERE day < $1)) AS day`;

async function prune(session: Session, sinceDay: string): Promise<void> {
  const day = dayOfWindow(sinceDay);
  const last = await session.query(LAST_DAY, [day]);
  const gone = forgottenDays(day, sinceDay, last.rows[0]?.day);
  await session.query('DELETE FROM flag WHERE day < $1', [gone]);
  await session.query('DELETE FROM usage_day WHERE day < $1', [gone]);
  const { rows } = await session.query('SELECT count(*) AS n FROM flag');
  const excess = rowsToRemove(Number(rows[0]?.n), MOST_FLAGS);
  if (excess === 0) return;
  const gathered = await session.query(GATHER, [gatheredBefore(sinceDay), excess]);
  const left = excess - Number(gathered.rows[0]?.n);
  if (left > 0) await session.query(REMOVE_LEAST_COUNTED, [left]);
}

/** Of a customer in place of its key. No key has such an id. */
const OF_CUSTOMERS = `(
  SELECT ${GIVEN_FLAG.columns.map(({ name }) => (name === 'key_id' ? 'coalesce(customer, key_id) AS key_id' : name)).join(', ')}, n
  FROM ${unnested(GIVEN_FLAG)} LEFT JOIN (
    SELECT id, 'customer ' || lower(split_part(name, '${CUSTOMER_ENDS}', 1)) AS customer
    FROM key WHERE strpos(name, '${CUSTOMER_ENDS}') > 1 AND ${IS_NO_URL}
  ) AS owner ON owner.id = given.key_id
) AS of_customers`;

const PUT_FLAGS = `
  INSERT INTO flag (${GIVEN_FLAG.names}) ${lastOfEach(GIVEN_FLAG, OF_CUSTOMERS)}
  ON CONFLICT (${GIVEN_FLAG.key}) DO UPDATE SET ${replaced(GIVEN_FLAG, GIVEN_FLAG.key)}`;

/** Makes one row of several of a name and day, which loses nothing; how many fewer there are. */
const GATHER = `
  WITH gone AS (
    DELETE FROM flag USING (${gathering('$1')} LIMIT $2) AS going
    WHERE (flag.domain, flag.day, flag.key_id) = (going.domain, going.day, going.key_id)
    RETURNING flag.domain, flag.day, kept, coalesce(times, 1) AS times, listed
  ), kept AS (
    UPDATE flag SET times = coalesce(flag.times, 1) + more.times, listed = flag.listed OR more.listed
    FROM (
      SELECT domain, day, kept, sum(times)::bigint AS times, bool_or(listed) AS listed FROM gone GROUP BY domain, day, kept
    ) AS more
    WHERE (flag.domain, flag.day, flag.key_id) = (more.domain, more.day, more.kept)
  )
  SELECT count(*) AS n FROM gone`;

/**
 * Whole names from the least counted on, and of the last one its oldest days, until $1 rows are gone. Names that are not
 * shown first: they are what a flood of made-up names brings.
 */
const REMOVE_LEAST_COUNTED = `
  DELETE FROM flag USING (
    SELECT domain, day, key_id FROM flag JOIN (
      SELECT domain, bool_or(listed) AS ever_listed, ${BY_SEVERAL} AS by_several, ${TIMES} AS all_times, max(day) AS last_day
      FROM flag GROUP BY domain
    ) AS name USING (domain)
    ORDER BY ever_listed OR by_several, all_times, ever_listed, last_day, domain, day LIMIT $1
  ) AS least
  WHERE (flag.domain, flag.day, flag.key_id) = (least.domain, least.day, least.key_id)`;

/** A name's latest row is found as one text that sorts by day and key, with the verdict behind: no second look-up. */
const RANKING = `
  SELECT domain, times, listed, reason, score, last_day FROM (
    SELECT domain, times, listed, split_part(latest, ' ', 1) AS last_day, split_part(latest, ' ', 3)::integer AS score,
      split_part(latest, ' ', 4) AS reason
    FROM (
      SELECT domain, ${TIMES}::integer AS times, bool_or(listed) AS listed,
        min(key_id) <> max(key_id) OR count(times) > 0 AS by_several,
        max(concat_ws(' ', day, key_id, score, reason) COLLATE "C") AS latest
      FROM flag WHERE day >= $1 GROUP BY domain
    ) AS name
    WHERE listed OR by_several
  ) AS candidate
  WHERE $3::text IS NULL OR reason = $3
  ORDER BY times DESC, score DESC, domain LIMIT $2`;
