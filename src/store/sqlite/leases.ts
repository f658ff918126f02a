/** Who does what only one server should do, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { Lease } from '../../core/lease.ts';
import { LEASE } from '../columns.ts';
import { inTransaction } from './transaction.ts';

const { names, sqlite } = LEASE;

export type Leases = ReturnType<typeof createLeases>;

export function createLeases(db: DatabaseSync) {
  return {
    lease(name: string): Lease | undefined {
      const row = db.prepare(`SELECT ${names} FROM lease WHERE name = ?`).get(name);
      return row && sqlite.record(row);
    },
    swapLease: (lease: Lease, was: Lease | undefined): boolean =>
      inTransaction(db, () => {
        const { changes } = was
          ? db
              .prepare(
                `UPDATE lease SET (${names}) = (${sqlite.places})
                WHERE name = ? AND holder IS ? AND until = ? AND due_at = ?`,
              )
              .run(...sqlite.values(lease), ...sqlite.values(was))
          : db
              .prepare(`INSERT INTO lease (${names}) VALUES (${sqlite.places}) ON CONFLICT DO NOTHING`)
              .run(...sqlite.values(lease));
        return changes === 1;
      }),
  };
}
