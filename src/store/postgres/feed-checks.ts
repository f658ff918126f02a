/** What became of each feed when it was last looked at, in the shared store. */

import type { FeedCheck } from '../../core/freshness.ts';
import { FEED_CHECK } from '../columns.ts';
import { upsert } from '../table.ts';
import type { Connections } from './connect.ts';

const { names, postgres } = FEED_CHECK;

export function createFeedChecks({ run }: Connections) {
  return {
    feedChecks: () =>
      run(async (session): Promise<FeedCheck[]> => {
        const { rows } = await session.query(`SELECT ${names} FROM feed_check ORDER BY feed`);
        return rows.map(postgres.record);
      }),
    noteCheck: (check: FeedCheck) =>
      run(async session => {
        await session.query(upsert(FEED_CHECK, postgres.places()), postgres.values(check));
      }),
  };
}
