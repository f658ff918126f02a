/** How many calls were counted, read from the embedded store. Its spender counts them. */

import type { DatabaseSync } from 'node:sqlite';
import type { DayUsage } from '../../core/ports.ts';
import { USAGE_DAY } from '../columns.ts';

export type Usage = ReturnType<typeof createUsage>;

export function createUsage(db: DatabaseSync) {
  const selectUsed = db.prepare('SELECT used FROM usage WHERE key_id = ? AND month = ?');
  const selectDays = db.prepare(
    `SELECT ${USAGE_DAY.names} FROM usage_day WHERE day >= ? AND key_id = ? ORDER BY day`,
  );

  return {
    used: (keyId: string, month: string) => Number(selectUsed.get(keyId, month)?.used ?? 0),
    usageDays: (sinceDay: string, keyId: string): DayUsage[] =>
      selectDays.all(sinceDay, keyId).map(USAGE_DAY.sqlite.record),
  };
}
