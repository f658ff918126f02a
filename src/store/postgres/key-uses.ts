/** Keys with what became of them, page by page, in the shared store. */

import type { KeysQuery, KeyUses } from '../../core/key-store.ts';
import { KEY } from '../columns.ts';
import type { PostgresRow } from '../table.ts';
import { type Connections, LISTING_MS } from './connect.ts';

const usesOf = (row: PostgresRow): KeyUses => ({
  key: KEY.postgres.record(row),
  used: Number(row.used),
  lastUsedAt: row.last_at === null ? null : Number(row.last_at),
  days: JSON.parse(String(row.days)),
});

export function createKeyUses({ run }: Connections) {
  return {
    readKeys: ({ month, sinceDay, after, most }: KeysQuery): Promise<Iterable<KeyUses>> =>
      run(async session => {
        const { rows } = await session.query(
          `SELECT ${KEY.names},
            coalesce((SELECT used FROM usage WHERE key_id = key.id AND month = $1), 0) AS used,
            (SELECT max(last_at) FROM usage WHERE key_id = key.id) AS last_at,
            coalesce((SELECT json_object_agg(day, used)::text FROM usage_day
              WHERE key_id = key.id AND day >= $2), '{}') AS days
          FROM key WHERE (created_at, id) > ($3, $4) ORDER BY created_at, id LIMIT $5`,
          [month, sinceDay, after.createdAt, after.id, most],
        );
        return { [Symbol.iterator]: () => rows.values().map(usesOf) };
      }, LISTING_MS),
  };
}
