/** Operators in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import { alike } from '../../core/label.ts';
import type { OperatorRecord } from '../../core/operator.ts';
import { OPERATOR } from '../columns.ts';
import { upsert } from '../table.ts';
import type { Revisions } from './revision.ts';

const { names, sqlite } = OPERATOR;

export const OPERATOR_TABLE = `CREATE TABLE operator (
  name TEXT PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID`;

export type Operators = ReturnType<typeof createOperators>;

export function createOperators(db: DatabaseSync, { change }: Revisions) {
  const isThere = (name: string) =>
    db
      .prepare('SELECT name FROM operator WHERE revoked_at IS NULL')
      .all()
      .some(one => alike(String(one.name)) === alike(name));

  return {
    addOperator: (operator: OperatorRecord, act: Act): boolean =>
      change(act, () => {
        if (isThere(operator.name)) return false;
        db.prepare(upsert(OPERATOR, sqlite.places)).run(...sqlite.values(operator));
        return true;
      }),
    revokeOperator: (name: string, at: number, act: Act): boolean =>
      change(
        act,
        () =>
          db.prepare('UPDATE operator SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL').run(at, name)
            .changes === 1,
      ),
    listOperators: (): OperatorRecord[] =>
      db.prepare(`SELECT ${names} FROM operator ORDER BY name`).all().map(sqlite.record),
  };
}
