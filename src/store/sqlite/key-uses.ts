/** Keys with what became of them, page by page, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { KeysQuery, KeyUses } from '../../core/key-store.ts';
import { KEY } from '../columns.ts';
import { toBytes } from '../lines.ts';
import type { SqliteRow } from '../table.ts';

const usesOf = (row: SqliteRow): KeyUses => ({
  key: KEY.sqlite.record(row),
  used: Number(row.used),
  lastUsedAt: row.last_at === null ? null : Number(row.last_at),
  days: JSON.parse(String(row.days)),
});

export type PagedKeys = ReturnType<typeof createKeyUses>;

export function createKeyUses(db: DatabaseSync) {
  const select = db.prepare(
    `SELECT ${KEY.names},
      coalesce((SELECT used FROM usage WHERE key_id = key.id AND month = ?), 0) AS used,
      (SELECT max(last_at) FROM usage WHERE key_id = key.id) AS last_at,
      (SELECT json_group_object(day, used) FROM usage_day WHERE key_id = key.id AND day >= ?) AS days
    FROM key WHERE (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`,
  );
  return {
    readKeys: ({ month, sinceDay, after, most }: KeysQuery): Uint8Array =>
      toBytes(select.all(month, sinceDay, after.createdAt, after.id, most).map(usesOf)),
  };
}
