/** Verdicts of each key by day, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import { forgottenDays } from '../../core/forgetting.ts';
import { type DayVerdicts, type KeyVerdicts, VERDICT_COUNTS, VERDICTS_AT_ONCE } from '../../core/mix.ts';
import { KEY_VERDICTS, VERDICT_DAY } from '../columns.ts';
import { added } from '../table.ts';
import { inTransaction } from './transaction.ts';

export const VERDICT_DAY_TABLE = `CREATE TABLE verdict_day (
  key_id TEXT NOT NULL,
  day TEXT NOT NULL,
  ${VERDICT_COUNTS.map(name => `${name} INTEGER NOT NULL`).join(', ')},
  PRIMARY KEY (key_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX verdict_day_by_day ON verdict_day (day)`;

/** More than come: what is old gets shorter while it is written. */
const FORGET =
  'DELETE FROM verdict_day WHERE (key_id, day) IN (SELECT key_id, day FROM verdict_day WHERE day < ? LIMIT ?)';

export type KeptVerdicts = ReturnType<typeof createVerdicts>;

export function createVerdicts(db: DatabaseSync) {
  return {
    addVerdicts(verdicts: readonly DayVerdicts[], sinceDay: string): void {
      const { sqlite } = VERDICT_DAY;
      inTransaction(db, () => {
        const add = db.prepare(added(VERDICT_DAY, sqlite.places));
        for (const one of verdicts) add.run(...sqlite.values(one));
        const { day } = verdicts[0]!;
        const before = db.prepare('SELECT max(day) AS day FROM verdict_day WHERE day < ?').get(day);
        db.prepare(FORGET).run(forgottenDays(day, sinceDay, before?.day), 2 * VERDICTS_AT_ONCE);
      });
    },
    verdictsSince: (day: string, keyIds: readonly string[]): KeyVerdicts[] =>
      db
        .prepare(
          `SELECT key_id, ${VERDICT_COUNTS.map(name => `sum(${name}) AS ${name}`).join(', ')} FROM verdict_day
          WHERE day >= ? AND key_id IN (SELECT value FROM json_each(?)) GROUP BY key_id ORDER BY key_id`,
        )
        .all(day, JSON.stringify(keyIds))
        .map(KEY_VERDICTS.sqlite.record),
  };
}
