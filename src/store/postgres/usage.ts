/** How many calls were counted, read from the shared store. Its spender counts them. */

import type { DayUsage } from '../../core/ports.ts';
import { type Connections, LISTING_MS } from './connect.ts';

export function createUsage({ run }: Connections) {
  return {
    used: (keyId: string, month: string) =>
      run(async client => {
        const { rows } = await client.query({
          name: 'used',
          text: 'SELECT used FROM usage WHERE key_id = $1 AND month = $2',
          values: [keyId, month],
        });
        return Number(rows[0]?.used ?? 0);
      }),
    usedInMonth: (month: string) =>
      run(async client => {
        const { rows } = await client.query('SELECT key_id, used FROM usage WHERE month = $1', [month]);
        return new Map<string, number>(rows.map(row => [row.key_id, row.used]));
      }, LISTING_MS),
    usageDays: (sinceDay: string, keyId: string | undefined) =>
      run(async client => {
        const { rows } = await client.query<DayUsage>(
          `SELECT key_id AS "keyId", day, used FROM usage_day
          WHERE day >= $1 AND ($2::text IS NULL OR key_id = $2) ORDER BY key_id, day`,
          [sinceDay, keyId ?? null],
        );
        return rows;
      }, LISTING_MS),
  };
}
