/** Signs of life of servers in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import { ALIVE_MS, type ServerSign, SIGNS_KEPT_MS } from '../../core/server.ts';
import { SERVER } from '../columns.ts';
import { upsert } from '../table.ts';

export type Servers = ReturnType<typeof createServers>;

/** Also for who moves the file. A clock that was set back leaves no sign that seems to be of the future. */
export function listServersIn(db: DatabaseSync): ServerSign[] {
  return db
    .prepare(`SELECT ${SERVER.names} FROM server WHERE abs(? - seen_at) < ? ORDER BY started_at, id`)
    .all(Date.now(), ALIVE_MS)
    .map(SERVER.sqlite.record);
}

export function createServers(db: DatabaseSync) {
  return {
    showSign(sign: Omit<ServerSign, 'seenAt'>): void {
      const now = Date.now();
      db.prepare(upsert(SERVER, SERVER.sqlite.places)).run(...SERVER.sqlite.values({ ...sign, seenAt: now }));
      db.prepare('DELETE FROM server WHERE seen_at < ?').run(now - SIGNS_KEPT_MS);
    },
    removeSign: (id: string): void => void db.prepare('DELETE FROM server WHERE id = ?').run(id),
    listServers: (): ServerSign[] => listServersIn(db),
  };
}
