/** The audit in the shared store. */

import { type Act, MOST_ACTS } from '../../core/audit.ts';
import { ACT } from '../columns.ts';
import { type Connections, LISTING_MS } from './connect.ts';
import { arraysOf, unnested } from './rows.ts';
import type { Session } from './session.ts';

const { names, postgres } = ACT;
const INSERT = `INSERT INTO audit (${names}) SELECT ${names} FROM ${unnested(ACT)} ORDER BY n`;

/**
 * Inside the transaction of the change that they tell of. The first written go, whatever the clock said then: by their
 * numbers, since counting the rows of a full audit takes milliseconds.
 */
export async function writeActs(session: Session, acts: readonly Act[]): Promise<void> {
  await session.query(INSERT, arraysOf(ACT, acts));
  await session.query('DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - $1', [MOST_ACTS]);
}

export const writeAct = (session: Session, act: Act) => writeActs(session, [act]);

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
