/** The audit in the shared store. */

import { type Act, MOST_ACTS } from '../../core/audit.ts';
import { ACT } from '../columns.ts';
import { type Connections, LISTING_MS } from './connect.ts';
import type { Session } from './session.ts';

const { names, postgres } = ACT;

/** Inside the transaction of the change that it tells of. The first written go, whatever the clock said then. */
export async function writeAct(session: Session, act: Act): Promise<void> {
  await session.query(`INSERT INTO audit (${names}) VALUES (${postgres.places()})`, postgres.values(act));
  await session.query(
    'DELETE FROM audit WHERE id <= (SELECT id FROM audit ORDER BY id DESC LIMIT 1 OFFSET $1)',
    [MOST_ACTS],
  );
}

export function createAudit({ run }: Connections) {
  return {
    recordAct: (act: Act) => run(session => writeAct(session, act)),
    audit: (most: number): Promise<Act[]> =>
      run(async session => {
        const { rows } = await session.query(
          `SELECT ${names} FROM audit ORDER BY at DESC, id DESC LIMIT $1`,
          [most],
        );
        return rows.map(postgres.record);
      }, LISTING_MS),
  };
}
