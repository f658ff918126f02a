/** The operator's own feeds in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { AddedFeed } from '../../core/added-feed.ts';
import type { Act } from '../../core/audit.ts';
import { ADDED_FEED } from '../columns-of-lists.ts';
import { writeAct } from './audit.ts';
import { inTransaction } from './transaction.ts';

const { names, sqlite } = ADDED_FEED;

export type AddedFeeds = ReturnType<typeof createAddedFeeds>;

export function createAddedFeeds(db: DatabaseSync) {
  return {
    addedFeeds: (): AddedFeed[] =>
      db.prepare(`SELECT ${names} FROM added_feed ORDER BY name`).all().map(sqlite.record),
    addFeed: (feed: AddedFeed, most: number, act: Act): boolean =>
      inTransaction(db, () => {
        const { changes } = db
          .prepare(
            `INSERT INTO added_feed (${names}) SELECT ${sqlite.places}
            WHERE (SELECT count(*) FROM added_feed) < ? ON CONFLICT DO NOTHING`,
          )
          .run(...sqlite.values(feed), most);
        if (changes === 1) writeAct(db, act);
        return changes === 1;
      }),
    removeFeed: (name: string, act: Act): boolean =>
      inTransaction(db, () => {
        if (db.prepare('DELETE FROM added_feed WHERE name = ?').run(name).changes === 0) return false;
        for (const table of ['snapshot', 'past_snapshot', 'feed_check'])
          db.prepare(`DELETE FROM ${table} WHERE feed = ?`).run(name);
        writeAct(db, act);
        return true;
      }),
  };
}
