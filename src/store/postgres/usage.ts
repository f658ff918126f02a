/** How many calls were counted, read from the shared store. Its spender counts them. */

import { USAGE, USAGE_DAY } from '../columns.ts';
import { LAST_USES } from '../last-uses.ts';
import { type Connections, LISTING_MS } from './connect.ts';

export function createUsage({ run }: Connections) {
  return {
    used: (keyId: string, month: string) =>
      run(async session => {
        const { rows } = await session.query({
          name: 'used',
          text: 'SELECT used FROM usage WHERE key_id = $1 AND month = $2',
          values: [keyId, month],
        });
        return Number(rows[0]?.used ?? 0);
      }),
    usedInMonth: (month: string) =>
      run(async session => {
        const { rows } = await session.query(`SELECT ${USAGE.names} FROM usage WHERE month = $1`, [month]);
        return new Map(rows.map(USAGE.postgres.record).map(({ keyId, used }) => [keyId, used]));
      }, LISTING_MS),
    lastUses: () =>
      run(async session => {
        const { rows } = await session.query(LAST_USES);
        return new Map(rows.map(row => [String(row.key_id), Number(row.last_at)]));
      }, LISTING_MS),
    usageDays: (sinceDay: string, keyId: string | undefined) =>
      run(async session => {
        const { rows } = await session.query(
          `SELECT ${USAGE_DAY.names} FROM usage_day
          WHERE day >= $1 AND ($2::text IS NULL OR key_id = $2) ORDER BY key_id, day`,
          [sinceDay, keyId ?? null],
        );
        return rows.map(USAGE_DAY.postgres.record);
      }, LISTING_MS),
  };
}
