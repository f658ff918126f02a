/** How many calls were counted, read from the embedded store. Its spender counts them. */

import type { DatabaseSync } from 'node:sqlite';
import type { DayUsage } from '../../core/ports.ts';
import { USAGE, USAGE_DAY } from '../columns.ts';
import { LAST_USES } from '../last-uses.ts';

export type Usage = ReturnType<typeof createUsage>;

export function createUsage(db: DatabaseSync) {
  const selectUsed = db.prepare('SELECT used FROM usage WHERE key_id = ? AND month = ?');

  return {
    used: (keyId: string, month: string) => Number(selectUsed.get(keyId, month)?.used ?? 0),
    usedInMonth: (month: string): ReadonlyMap<string, number> =>
      new Map(
        db
          .prepare(`SELECT ${USAGE.names} FROM usage WHERE month = ?`)
          .all(month)
          .map(USAGE.sqlite.record)
          .map(({ keyId, used }) => [keyId, used]),
      ),
    lastUses: (): ReadonlyMap<string, number> =>
      new Map(
        db
          .prepare(LAST_USES)
          .all()
          .map(row => [String(row.key_id), Number(row.last_at)]),
      ),
    usageDays: (sinceDay: string, keyId: string | undefined): DayUsage[] =>
      db
        .prepare(
          `SELECT ${USAGE_DAY.names} FROM usage_day WHERE day >= ?1 ${keyId === undefined ? '' : 'AND key_id = ?2'}
          ORDER BY key_id, day`,
        )
        .all(...(keyId === undefined ? [sinceDay] : [sinceDay, keyId]))
        .map(USAGE_DAY.sqlite.record),
  };
}
