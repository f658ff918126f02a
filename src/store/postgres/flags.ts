/** Verdicts that were given, and the ranking made of them, in the shared store. */

import type { ClientBase } from 'pg';
import type { Flag, Ranked } from '../../core/ranking.ts';
import { BACKGROUND_MS, type Connections, LISTING_MS } from './connect.ts';
import { CHUNK, inTurn, TURN } from './turn.ts';

/** The table of flags stays about here; the least counted names go first. */
const MOST_FLAGS = 100_000;
/** Counting the table with every flush of every server would cost more than writing to it. */
const PRUNE_EVERY = 1_000;

export function createFlags({ run }: Connections) {
  let written = PRUNE_EVERY;
  let prunedSince = '';

  return {
    flag: (flags: readonly Flag[], sinceDay: string) =>
      run(async client => {
        for (let i = 0; i < flags.length; i += CHUNK) {
          await inTurn(client, TURN.flags, () =>
            client.query(PUT_FLAGS, flagValues(flags.slice(i, i + CHUNK))),
          );
        }
        written += flags.length;
        if (written < PRUNE_EVERY && prunedSince === sinceDay) return;
        await inTurn(client, TURN.flags, () => prune(client, sinceDay));
        written = 0;
        prunedSince = sinceDay;
      }, BACKGROUND_MS),
    ranking: (sinceDay: string, most: number, reason: string | undefined): Promise<Ranked[]> =>
      run(async client => {
        const { rows } = await client.query<Ranked>(RANKING, [sinceDay, most, reason ?? null]);
        return rows;
      }, LISTING_MS),
  };
}

async function prune(client: ClientBase, sinceDay: string): Promise<void> {
  await client.query('DELETE FROM flag WHERE day < $1', [sinceDay]);
  await client.query('DELETE FROM usage_day WHERE day < $1', [sinceDay]);
  const { rows } = await client.query('SELECT count(*) AS n FROM flag');
  const excess = Number(rows[0]?.n) - MOST_FLAGS;
  if (excess <= 0) return;
  // More than must go, so that a flood of names does not pay for this scan each time.
  await client.query(REMOVE_LEAST_COUNTED, [excess + MOST_FLAGS / 20]);
}

/** Of equal rows in one batch the last one counts: a statement may touch a row only once. */
const PUT_FLAGS = `
  INSERT INTO flag (day, domain, key_id, listed, reason, score)
  SELECT DISTINCT ON (domain, day, key_id) day, domain, key_id, listed, reason, score
  FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::integer[])
    WITH ORDINALITY AS f (day, domain, key_id, listed, reason, score, n)
  ORDER BY domain, day, key_id, n DESC
  ON CONFLICT (domain, day, key_id) DO UPDATE SET (listed, reason, score) =
    (excluded.listed, excluded.reason, excluded.score)`;

/** Whole names from the least counted on, and of the last one its oldest days, until $1 rows are gone. */
const REMOVE_LEAST_COUNTED = `
  DELETE FROM flag USING (
    SELECT domain, day, key_id FROM flag JOIN (
      SELECT domain, bool_or(listed) AS ever_listed, count(*) AS times, max(day) AS last_day FROM flag GROUP BY domain
    ) AS name USING (domain)
    ORDER BY ever_listed, times, last_day, domain, day LIMIT $1
  ) AS least
  WHERE (flag.domain, flag.day, flag.key_id) = (least.domain, least.day, least.key_id)`;

/** A name's latest row is found as one text that sorts by day and key, with the verdict behind: no second look-up. */
const RANKING = `
  SELECT domain, times, listed, reason, score FROM (
    SELECT domain, times, listed, split_part(latest, ' ', 3)::integer AS score, split_part(latest, ' ', 4) AS reason
    FROM (
      SELECT domain, count(*) AS times, bool_or(listed) AS listed, min(key_id) <> max(key_id) AS by_several,
        max(concat_ws(' ', day, key_id, score, reason) COLLATE "C") AS latest
      FROM flag WHERE day >= $1 GROUP BY domain
    ) AS name
    WHERE listed OR by_several
  ) AS candidate
  WHERE $3::text IS NULL OR reason = $3
  ORDER BY times DESC, score DESC, domain LIMIT $2`;

function flagValues(flags: readonly Flag[]): unknown[] {
  return [
    flags.map(flag => flag.day),
    flags.map(flag => flag.domain),
    flags.map(flag => flag.keyId),
    flags.map(flag => flag.listed),
    flags.map(flag => flag.reason),
    flags.map(flag => flag.score),
  ];
}
