/** Verdicts of each key by day, in the shared store: every server adds to the same rows. */

import { forgottenDays } from '../../core/forgetting.ts';
import { type DayVerdicts, VERDICT_COUNTS } from '../../core/mix.ts';
import { KEY_VERDICTS, VERDICT_DAY } from '../columns.ts';
import { BACKGROUND_MS, type Connections, LISTING_MS } from './connect.ts';
import { arraysOf, givenRows } from './rows.ts';
import { SCHEMA } from './session.ts';
import { inTurn, TURN } from './turn.ts';

export const VERDICT_DAY_TABLE = `CREATE TABLE ${SCHEMA}.verdict_day (
  key_id text COLLATE "C" NOT NULL,
  day text COLLATE "C" NOT NULL,
  ${VERDICT_COUNTS.map(name => `${name} bigint NOT NULL`).join(', ')},
  PRIMARY KEY (key_id, day)
);
CREATE INDEX verdict_day_by_day ON ${SCHEMA}.verdict_day (day)`;

const ADD = `
  INSERT INTO verdict_day (${VERDICT_DAY.names}) ${givenRows(VERDICT_DAY)}
  ON CONFLICT (${VERDICT_DAY.key}) DO UPDATE
  SET ${VERDICT_COUNTS.map(name => `${name} = verdict_day.${name} + excluded.${name}`).join(', ')}`;

export function createVerdicts({ run }: Connections) {
  return {
    addVerdicts: (verdicts: readonly DayVerdicts[], sinceDay: string) =>
      run(
        session =>
          inTurn(session, TURN.verdicts, async () => {
            await session.query(ADD, arraysOf(VERDICT_DAY, verdicts));
            const { day } = verdicts[0]!;
            const last = 'SELECT max(day) AS day FROM verdict_day WHERE day < $1';
            const gone = forgottenDays(day, sinceDay, (await session.query(last, [day])).rows[0]?.day);
            await session.query('DELETE FROM verdict_day WHERE day < $1', [gone]);
          }),
        BACKGROUND_MS,
      ),
    verdictsSince: (day: string, keyIds: readonly string[]) =>
      run(async session => {
        const sums = VERDICT_COUNTS.map(name => `sum(${name}) AS ${name}`).join(', ');
        // Key by key: before the first ANALYZE of a young table all days of all keys were read for each page of keys.
        const { rows } = await session.query(
          `SELECT wanted.key_id, sums.* FROM unnest($2::text[]) AS wanted (key_id) CROSS JOIN LATERAL (
            SELECT ${sums} FROM verdict_day WHERE verdict_day.key_id = wanted.key_id AND day >= $1 HAVING count(*) > 0
          ) AS sums ORDER BY wanted.key_id COLLATE "C"`,
          [day, keyIds],
        );
        return rows.map(KEY_VERDICTS.postgres.record);
      }, LISTING_MS),
  };
}
