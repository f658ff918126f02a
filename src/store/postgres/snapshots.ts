/** Accepted versions of feeds in the shared store. */

import type { ClientBase } from 'pg';
import type { Act } from '../../core/audit.ts';
import type { AcceptedSnapshot, SnapshotHead } from '../../core/feed.ts';
import { writeAct } from './audit.ts';
import { BACKGROUND_MS, type Connections } from './connect.ts';
import { inTurn, TURN } from './turn.ts';

/** As the core names them, so that a row is a head. */
const HEAD = 'feed, version, digest, names, accepted_at AS "acceptedAt"';

export function createSnapshots({ run }: Connections) {
  /** One updater at a time: so it is seen whether another came between. */
  const change = (work: (client: ClientBase) => Promise<boolean>) =>
    run(client => inTurn(client, TURN.snapshots, () => work(client)), BACKGROUND_MS);

  return {
    snapshots: () =>
      run(async client => {
        const { rows } = await client.query<SnapshotHead>(`SELECT ${HEAD} FROM snapshot ORDER BY feed`);
        return rows;
      }),
    snapshot: (feed: string) =>
      run(async (client): Promise<AcceptedSnapshot | undefined> => {
        const { rows } = await client.query(`SELECT ${HEAD}, body FROM snapshot WHERE feed = $1`, [feed]);
        return rows[0];
      }, BACKGROUND_MS),
    acceptSnapshot: (s: AcceptedSnapshot, was: string | null, act: Act) =>
      change(async client => {
        const { rows } = await client.query('SELECT digest FROM snapshot WHERE feed = $1', [s.feed]);
        if ((rows[0]?.digest ?? null) !== was) return false;
        await client.query(
          `INSERT INTO snapshot (feed, version, digest, names, accepted_at, body) VALUES ($1, $2, $3, $4, $5, $6)
          ON CONFLICT (feed) DO UPDATE SET (version, digest, names, accepted_at, body) =
            (excluded.version, excluded.digest, excluded.names, excluded.accepted_at, excluded.body)`,
          [s.feed, s.version, s.digest, s.names, s.acceptedAt, s.body],
        );
        await writeAct(client, act);
        return true;
      }),
    removeSnapshot: (feed: string, act: Act) =>
      change(async client => {
        const { rowCount } = await client.query('DELETE FROM snapshot WHERE feed = $1', [feed]);
        if (rowCount !== 1) return false;
        await writeAct(client, act);
        return true;
      }),
  };
}
