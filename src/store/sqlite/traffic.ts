/** Calls by minute and hour, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import { dayBefore, forgottenBefore } from '../../core/forgetting.ts';
import { COUNTS, KEPT, LATENCIES, type TrafficSlot } from '../../core/traffic.ts';
import { TRAFFIC } from '../columns.ts';
import { added } from '../table.ts';
import { inTransaction } from './transaction.ts';

const { names, sqlite } = TRAFFIC;

export const TRAFFIC_TABLE = `CREATE TABLE traffic (
  span INTEGER NOT NULL,
  at INTEGER NOT NULL,
  ${[...COUNTS, ...LATENCIES].map(name => `${name} INTEGER NOT NULL`).join(', ')},
  PRIMARY KEY (span, at)
) STRICT, WITHOUT ROWID`;

export type TrafficSlots = ReturnType<typeof createTraffic>;

export function createTraffic(db: DatabaseSync) {
  return {
    addTraffic: (slots: readonly TrafficSlot[], now: number): void =>
      inTransaction(db, () => {
        const add = db.prepare(added(TRAFFIC, sqlite.places));
        for (const slot of slots) add.run(...sqlite.values(slot));
        const before = db.prepare('SELECT max(at) AS previous FROM traffic WHERE at < ?').get(dayBefore(now));
        const previous = before?.previous as number | null;
        const forget = db.prepare('DELETE FROM traffic WHERE span = ? AND at < ?');
        for (const { span, forMs } of KEPT) forget.run(span, forgottenBefore(now, forMs, previous));
      }),
    traffic: (span: number, from: number): TrafficSlot[] =>
      db
        .prepare(`SELECT ${names} FROM traffic WHERE span = ? AND at >= ? ORDER BY at`)
        .all(span, from)
        .map(sqlite.record),
  };
}
