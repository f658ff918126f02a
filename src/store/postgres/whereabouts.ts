/** Where mail hosts are, in the shared store. */

import type { Whereabouts } from '../../core/whereabouts.ts';
import { MET } from '../columns-of-hosts.ts';
import { BEYOND_BOUNDS, dayOfKeeping, goneBefore, MET_AGAIN } from '../whereabouts.ts';
import { BACKGROUND_MS, type Connections } from './connect.ts';
import { arraysOf, givenRows } from './rows.ts';
import { inTurn, readIn, TURN } from './turn.ts';

const { names, postgres } = MET;
const KEEP = `INSERT INTO whereabouts (${names}) ${givenRows(MET)} ${MET_AGAIN}`;

export function createWhereabouts({ run }: Connections) {
  return {
    keepWhereabouts: (kept: readonly Whereabouts[], sinceDay: string) =>
      run(
        session =>
          inTurn(session, TURN.hosts, async () => {
            await session.query(KEEP, arraysOf(MET, kept));
            const before = 'SELECT max(day) AS day FROM whereabouts WHERE day < $1';
            const { rows } = await session.query(before, [dayOfKeeping(sinceDay)]);
            const gone = goneBefore(sinceDay, rows[0]?.day);
            await session.query('DELETE FROM whereabouts WHERE day < $1', [gone]);
            await session.query(`DELETE FROM whereabouts WHERE host IN (${BEYOND_BOUNDS})`);
          }),
        BACKGROUND_MS,
      ),
    whereabouts: (sinceDay: string): Promise<Iterable<Whereabouts>> =>
      run(async session => {
        const found = `SELECT ${names} FROM whereabouts WHERE day >= $1`;
        const rows = await readIn(session, BACKGROUND_MS, found, [sinceDay]);
        return { [Symbol.iterator]: () => rows.values().map(postgres.record) };
      }, BACKGROUND_MS),
  };
}
