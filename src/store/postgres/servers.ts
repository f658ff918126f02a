/** Signs of life of servers in the shared store, by the clock of the database: those of machines may differ. */

import { ALIVE_MS, type ServerSign, SIGNS_KEPT_MS } from '../../core/server.ts';
import { SERVER } from '../columns.ts';
import { upsert } from '../table.ts';
import type { Connections } from './connect.ts';
import type { Session } from './session.ts';

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** Also for who moves a store here. */
export async function listServersIn(session: Session): Promise<ServerSign[]> {
  const { rows } = await session.query(
    `SELECT ${SERVER.names} FROM server WHERE abs(${NOW} - seen_at) < $1 ORDER BY started_at, id`,
    [ALIVE_MS],
  );
  return rows.map(SERVER.postgres.record);
}

export function createServers({ run }: Connections) {
  return {
    showSign: (sign: Omit<ServerSign, 'seenAt'>) =>
      run(async session => {
        const values = SERVER.postgres.values({ ...sign, seenAt: 0 });
        await session.query(upsert(SERVER, SERVER.postgres.places()), values);
        await session.query(`UPDATE server SET seen_at = ${NOW} WHERE id = $1`, [sign.id]);
        await session.query(`DELETE FROM server WHERE seen_at BETWEEN 1 AND ${NOW} - $1`, [SIGNS_KEPT_MS]);
      }),
    removeSign: (id: string) =>
      run(async session => void (await session.query('DELETE FROM server WHERE id = $1', [id]))),
    listServers: () => run(listServersIn),
  };
}
