/** The audit in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import { type Act, MOST_ACTS } from '../../core/audit.ts';
import { ACT } from '../columns.ts';
import { inTransaction } from './transaction.ts';

const { names, sqlite } = ACT;

/**
 * Inside the transaction of the change that it tells of. The first written go, whatever the clock said then: by their
 * numbers, since counting the rows of a full audit took 8 ms of the write lock for each act (2026-11-17).
 */
export function writeAct(db: DatabaseSync, act: Act): void {
  db.prepare(`INSERT INTO audit (${names}) VALUES (${sqlite.places})`).run(...sqlite.values(act));
  db.prepare('DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?').run(MOST_ACTS);
}

export type Audit = ReturnType<typeof createAudit>;

export function createAudit(db: DatabaseSync) {
  return {
    recordAct: (act: Act): void => inTransaction(db, () => writeAct(db, act)),
    audit: (most: number): Act[] =>
      db.prepare(`SELECT ${names} FROM audit ORDER BY at DESC, id DESC LIMIT ?`).all(most).map(sqlite.record),
  };
}
