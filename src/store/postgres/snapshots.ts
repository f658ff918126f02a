/** Accepted versions of feeds in the shared store. */

import type { Act } from '../../core/audit.ts';
import type { AcceptedSnapshot } from '../../core/feed.ts';
import { SNAPSHOT, SNAPSHOT_HEAD } from '../columns.ts';
import { upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import { BACKGROUND_MS, type Connections } from './connect.ts';
import type { Session } from './session.ts';
import { inTurn, TURN } from './turn.ts';

export function createSnapshots({ run }: Connections) {
  /** One updater at a time: so it is seen whether another came between (compare and swap). */
  const change = (work: (session: Session) => Promise<boolean>) =>
    run(session => inTurn(session, TURN.snapshots, () => work(session)), BACKGROUND_MS);

  return {
    snapshots: () =>
      run(async session => {
        const { rows } = await session.query(`SELECT ${SNAPSHOT_HEAD.names} FROM snapshot ORDER BY feed`);
        return rows.map(SNAPSHOT_HEAD.postgres.record);
      }),
    snapshot: (feed: string) =>
      run(async (session): Promise<AcceptedSnapshot | undefined> => {
        const { rows } = await session.query(`SELECT ${SNAPSHOT.names} FROM snapshot WHERE feed = $1`, [
          feed,
        ]);
        return rows.map(SNAPSHOT.postgres.record)[0];
      }, BACKGROUND_MS),
    acceptSnapshot: (snapshot: AcceptedSnapshot, was: string | null, act: Act) =>
      change(async session => {
        const { rows } = await session.query('SELECT digest FROM snapshot WHERE feed = $1', [snapshot.feed]);
        if ((rows[0]?.digest ?? null) !== was) return false;
        const { places, values } = SNAPSHOT.postgres;
        await session.query(upsert(SNAPSHOT, places()), values(snapshot));
        await writeAct(session, act);
        return true;
      }),
    removeSnapshot: (feed: string, act: Act) =>
      change(async session => {
        const { count } = await session.query('DELETE FROM snapshot WHERE feed = $1', [feed]);
        if (count !== 1) return false;
        await writeAct(session, act);
        return true;
      }),
  };
}
