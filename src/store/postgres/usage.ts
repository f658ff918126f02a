/** How many calls were counted, read from the shared store. Its spender counts them. */

import { USAGE_DAY } from '../columns.ts';
import { gathering } from '../gather.ts';
import { type Connections, inTime } from './connect.ts';

export function createUsage({ run }: Connections) {
  const readUsed = gathering(
    (wanted: readonly { keyId: string; month: string }[]) =>
      run(async session => {
        const { rows } = await session.query({
          name: 'used',
          text: `SELECT coalesce(used, 0) AS used
          FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (key_id, month, n)
          LEFT JOIN usage USING (key_id, month) ORDER BY n`,
          values: [wanted.map(({ keyId }) => keyId), wanted.map(({ month }) => month)],
        });
        return rows.map(row => Number(row.used));
      }),
    inTime,
  );
  /** Of those that callers ask for, each once: one key may ask a thousand times at once. */
  const readDays = gathering(
    (wanted: readonly { keyId: string; sinceDay: string }[]) =>
      run(async session => {
        // The earliest last, which stays.
        const latestFirst = wanted.toSorted((a, b) => (a.sinceDay < b.sinceDay ? 1 : -1));
        const sinceDays = new Map(latestFirst.map(({ keyId, sinceDay }) => [keyId, sinceDay]));
        const { rows } = await session.query({
          name: 'usage-days',
          text: `SELECT ${USAGE_DAY.names} FROM usage_day
          JOIN unnest($1::text[], $2::text[]) AS wanted (key_id, since_day) USING (key_id)
          WHERE day >= since_day ORDER BY key_id, day`,
          values: [[...sinceDays.keys()], [...sinceDays.values()]],
        });
        const days = Map.groupBy(rows.map(USAGE_DAY.postgres.record), ({ keyId }) => keyId);
        return wanted.map(({ keyId, sinceDay }) =>
          (days.get(keyId) ?? []).filter(({ day }) => day >= sinceDay),
        );
      }),
    inTime,
  );
  return {
    used: (keyId: string, month: string) => readUsed({ keyId, month }),
    usageDays: (sinceDay: string, keyId: string) => readDays({ keyId, sinceDay }),
  };
}
