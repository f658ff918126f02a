/** Operators in the shared store. */

import type { Act } from '../../core/audit.ts';
import { alike } from '../../core/label.ts';
import type { OperatorRecord } from '../../core/operator.ts';
import { OPERATOR } from '../columns.ts';
import { upsert } from '../table.ts';
import type { Connections } from './connect.ts';
import type { Revisions } from './revision.ts';
import { SCHEMA } from './session.ts';

const { names, postgres } = OPERATOR;

export const OPERATOR_TABLE = `CREATE TABLE ${SCHEMA}.operator (
  name text COLLATE "C" PRIMARY KEY,
  digest text COLLATE "C" NOT NULL UNIQUE,
  created_at bigint NOT NULL,
  revoked_at bigint
)`;

export function createOperators({ run }: Connections, { change }: Revisions) {
  return {
    addOperator: (operator: OperatorRecord, act: Act) =>
      change(act, async session => {
        const { rows } = await session.query('SELECT name FROM operator WHERE revoked_at IS NULL');
        if (rows.some(({ name }) => alike(String(name)) === alike(operator.name))) return false;
        await session.query(upsert(OPERATOR, postgres.places()), postgres.values(operator));
        return true;
      }),
    revokeOperator: (name: string, at: number, act: Act) =>
      change(act, async session => {
        const { count } = await session.query(
          'UPDATE operator SET revoked_at = $1 WHERE name = $2 AND revoked_at IS NULL',
          [at, name],
        );
        return count === 1;
      }),
    listOperators: () =>
      run(async session => {
        const { rows } = await session.query(`SELECT ${names} FROM operator ORDER BY name`);
        return rows.map(postgres.record);
      }),
  };
}
