/** What became of each feed when it was last looked at, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { FeedCheck } from '../../core/freshness.ts';
import { FEED_CHECK } from '../columns.ts';
import { upsert } from '../table.ts';
import { inTransaction } from './transaction.ts';

const { names, sqlite } = FEED_CHECK;

export type FeedChecks = ReturnType<typeof createFeedChecks>;

export function createFeedChecks(db: DatabaseSync) {
  return {
    feedChecks: (): FeedCheck[] =>
      db.prepare(`SELECT ${names} FROM feed_check ORDER BY feed`).all().map(sqlite.record),
    noteCheck: (check: FeedCheck): void =>
      inTransaction(db, () => {
        db.prepare(upsert(FEED_CHECK, sqlite.places)).run(...sqlite.values(check));
      }),
  };
}
