/** Decisions that callers were told, in the embedded store. */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { type Decision, type DecisionQuery, MOST_DECISIONS } from '../../core/decision.ts';
import { DECISION, NEW_DECISION } from '../columns.ts';
import { CHUNK, inChunk, inChunks } from './transaction.ts';

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

  function forget(which: string, bound: number): void {
    const remove = db.prepare(
      `DELETE FROM decision WHERE id IN (SELECT id FROM decision WHERE ${which} LIMIT ${CHUNK})`,
    );
    while (inChunk(db, () => Number(remove.run(bound).changes)) === CHUNK);
  }

  return {
    writeDecisions(decisions: readonly Decision[], since: number): void {
      const put = db.prepare(`INSERT INTO decision (${names}) VALUES (${sqlite.places})`);
      inChunks(db, decisions, one => void put.run(...sqlite.values(one)));
      const { first, last } = db.prepare('SELECT min(at) AS first, max(id) AS last FROM decision').get()!;
      if (first === null) return;
      if (Number(first) < since) forget('at < ?', since);
      forget('id <= ?', Number(last) - MOST_DECISIONS);
    },
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
