/** Decisions that callers were told, in the embedded store. */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { type Decision, type DecisionQuery, FORGOTTEN_AT_ONCE, MOST_DECISIONS } from '../../core/decision.ts';
import { dayBefore, forgottenBefore } from '../../core/forgetting.ts';
import { DECISION, NEW_DECISION } from '../columns.ts';
import { inTransaction } from './transaction.ts';

export const DECISION_TABLE = `CREATE TABLE decision (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    domain TEXT NOT NULL,
    score INTEGER NOT NULL,
    reason TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    degraded INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX decision_by_domain ON decision (domain);
  CREATE INDEX decision_by_time ON decision (at)`;

export type Decisions = ReturnType<typeof createDecisions>;

export function createDecisions(db: DatabaseSync) {
  const { names, sqlite } = NEW_DECISION;

  function forget(which: string, bound: number): number {
    const some = `SELECT id FROM decision WHERE ${which} LIMIT ${FORGOTTEN_AT_ONCE}`;
    return Number(db.prepare(`DELETE FROM decision WHERE id IN (${some})`).run(bound).changes);
  }

  return {
    writeDecisions: (decisions: readonly Decision[], now: number, keptMs: number): boolean =>
      inTransaction(db, () => {
        const put = db.prepare(`INSERT INTO decision (${names}) VALUES (${sqlite.places})`);
        for (const one of decisions) put.run(...sqlite.values(one));
        const { previous, last } = db
          .prepare(
            'SELECT (SELECT max(at) FROM decision WHERE at < ?) AS previous, max(id) AS last FROM decision',
          )
          .get(dayBefore(now)) as { previous: number | null; last: number | null };
        const gone = [
          forget('at < ?', forgottenBefore(now, keptMs, previous)),
          forget('id <= ?', Number(last) - MOST_DECISIONS),
        ];
        return gone.includes(FORGOTTEN_AT_ONCE);
      }),
    /** As JSON: on its way to another thread a text costs less than a thousand objects. */
    decisions({ domain, keyIds, since, before, most }: DecisionQuery): string {
      // With the +, rows are read in the order of their numbers: an index by time would have all of them sorted.
      const conditions: [string, SQLInputValue][] = [['+at >= ?', since]];
      if (domain !== undefined) conditions.push(['domain = ?', domain]);
      if (keyIds) conditions.push(['key_id IN (SELECT value FROM json_each(?))', JSON.stringify(keyIds)]);
      if (before !== undefined) conditions.push(['id < ?', before]);
      const where = conditions.map(([condition]) => condition).join(' AND ');
      const rows = db
        .prepare(`SELECT ${DECISION.names} FROM decision WHERE ${where} ORDER BY id DESC LIMIT ?`)
        .all(...conditions.map(([, value]) => value), most);
      return JSON.stringify(rows.map(DECISION.sqlite.record));
    },
  };
}
