/** Operators in the shared store. */

import type { Act } from '../../core/audit.ts';
import type { OperatorRecord } from '../../core/operator.ts';
import { OPERATOR } from '../columns.ts';
import { upsert } from '../table.ts';
import type { Connections } from './connect.ts';
import type { Revisions } from './revision.ts';

const { names, postgres } = OPERATOR;

export function createOperators({ run }: Connections, { change }: Revisions) {
  return {
    addOperator: (operator: OperatorRecord, act: Act) =>
      change(act, async session => {
        const { count } = await session.query(
          `${upsert(OPERATOR, postgres.places())} WHERE operator.revoked_at IS NOT NULL`,
          postgres.values(operator),
        );
        return count === 1;
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
