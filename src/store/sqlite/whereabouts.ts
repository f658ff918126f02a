/** Where mail hosts are, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { Whereabouts } from '../../core/whereabouts.ts';
import { MET } from '../columns-of-hosts.ts';
import { toBytes } from '../lines.ts';
import { BEYOND_BOUNDS, dayOfKeeping, goneBefore, MET_AGAIN } from '../whereabouts.ts';
import { inChunks } from './transaction.ts';

export type KeptWhereabouts = ReturnType<typeof createWhereabouts>;

export function createWhereabouts(db: DatabaseSync) {
  const { names, sqlite } = MET;
  return {
    keepWhereabouts(kept: readonly Whereabouts[], sinceDay: string): void {
      const put = db.prepare(`INSERT INTO whereabouts (${names}) VALUES (${sqlite.places}) ${MET_AGAIN}`);
      inChunks(db, kept, one => void put.run(...sqlite.values(one)));
      const before = db.prepare('SELECT max(day) AS day FROM whereabouts WHERE day < ?');
      // Found without the lock: that takes 10 ms where 5,000 are kept (2026-11-17), and mostly nothing goes.
      const gone = db
        .prepare(`SELECT host FROM whereabouts WHERE day < ? UNION ${BEYOND_BOUNDS}`)
        .all(goneBefore(sinceDay, before.get(dayOfKeeping(sinceDay))?.day));
      const remove = db.prepare('DELETE FROM whereabouts WHERE host = ?');
      inChunks(db, gone, ({ host }) => void remove.run(String(host)));
    },
    whereabouts: (sinceDay: string): Uint8Array<ArrayBuffer> =>
      toBytes(db.prepare(`SELECT ${names} FROM whereabouts WHERE day >= ?`).all(sinceDay).map(sqlite.record)),
  };
}
