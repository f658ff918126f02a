/** The operator's own feeds in the shared store. */

import type { AddedFeed } from '../../core/added-feed.ts';
import type { Act } from '../../core/audit.ts';
import { ADDED_FEED } from '../columns-of-lists.ts';
import { writeAct } from './audit.ts';
import { BACKGROUND_MS, type Connections } from './connect.ts';
import type { Session } from './session.ts';
import { inTurn, TURN } from './turn.ts';

const { names, columns, postgres } = ADDED_FEED;

export function createAddedFeeds({ run }: Connections) {
  const change = (work: (session: Session) => Promise<boolean>) =>
    run(session => inTurn(session, TURN.snapshots, () => work(session)), BACKGROUND_MS);
  return {
    addedFeeds: () =>
      run(async (session): Promise<AddedFeed[]> => {
        const { rows } = await session.query(`SELECT ${names} FROM added_feed ORDER BY name`);
        return rows.map(postgres.record);
      }),
    addFeed: (feed: AddedFeed, most: number, act: Act) =>
      change(async session => {
        const { count } = await session.query(
          `INSERT INTO added_feed (${names}) SELECT ${casts}
          WHERE (SELECT count(*) FROM added_feed) < $${columns.length + 1} ON CONFLICT DO NOTHING`,
          [...postgres.values(feed), most],
        );
        if (count === 1) await writeAct(session, act);
        return count === 1;
      }),
    removeFeed: (name: string, act: Act) =>
      change(async session => {
        const { count } = await session.query('DELETE FROM added_feed WHERE name = $1', [name]);
        if (count === 0) return false;
        for (const table of ['snapshot', 'past_snapshot', 'feed_check'])
          await session.query(`DELETE FROM ${table} WHERE feed = $1`, [name]);
        await writeAct(session, act);
        return true;
      }),
  };
}

/** Outside of VALUES the types of parameters are not known by their columns. */
const casts = columns.map(({ types }, at) => `$${at + 1}::${types.postgres}`).join(', ');
