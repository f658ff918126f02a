/** What became of each feed when it was last looked at, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { type AskedNames, MOST_READ, wholeOf } from '../../core/asked.ts';
import type { Act } from '../../core/audit.ts';
import { forgottenDays } from '../../core/forgetting.ts';
import type { FeedCheck } from '../../core/freshness.ts';
import { ASKED, FEED_CHECK } from '../columns-of-lists.ts';
import { upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import { inTransaction } from './transaction.ts';

const { names, sqlite } = FEED_CHECK;

export type FeedChecks = ReturnType<typeof createFeedChecks>;

/** Within a transaction; false where another came between. */
export function swapsCheck(db: DatabaseSync, check: FeedCheck, was?: FeedCheck | null): boolean {
  const row = db.prepare(`SELECT ${names} FROM feed_check WHERE feed = ?`).get(check.feed);
  if (was !== undefined && !isDeepStrictEqual(row ? sqlite.record(row) : null, was)) return false;
  db.prepare(upsert(FEED_CHECK, sqlite.places)).run(...sqlite.values(check));
  return true;
}

export function createFeedChecks(db: DatabaseSync) {
  return {
    feedChecks: (): FeedCheck[] =>
      db.prepare(`SELECT ${names} FROM feed_check ORDER BY feed`).all().map(sqlite.record),
    noteCheck: (check: FeedCheck, was?: FeedCheck | null, act?: Act): boolean =>
      inTransaction(db, () => {
        if (!swapsCheck(db, check, was)) return false;
        if (act) writeAct(db, act);
        return true;
      }),
    keepAsked: (asked: AskedNames, sinceDay: string): void =>
      inTransaction(db, () => {
        db.prepare(upsert(ASKED, ASKED.sqlite.places)).run(...ASKED.sqlite.values(asked));
        const before = db.prepare('SELECT max(day) AS day FROM asked WHERE day < ?').get(asked.day);
        db.prepare('DELETE FROM asked WHERE day < ?').run(forgottenDays(asked.day, sinceDay, before?.day));
      }),
    askedNames: (): AskedNames[] =>
      db
        .prepare(`
          SELECT day, server,
            substr(names || ' ', 1,
              (length(names) + 1) * ${MOST_READ} / sum(length(names) + 1) OVER (PARTITION BY day)) AS names
          FROM asked ORDER BY day DESC, server`)
        .all()
        .map(ASKED.sqlite.record)
        .map(row => ({ ...row, names: wholeOf(row.names) })),
  };
}
