/** Who does what only one server should do, in the shared store. */

import type { Lease } from '../../core/lease.ts';
import { LEASE } from '../columns.ts';
import type { Connections } from './connect.ts';

const { names, postgres } = LEASE;

export function createLeases({ run }: Connections) {
  return {
    /** Of the database: those of machines may differ. */
    moment: () =>
      run(async session => {
        const { rows } = await session.query(
          'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
        );
        return Number(rows[0]!.now);
      }),
    lease: (name: string) =>
      run(async (session): Promise<Lease | undefined> => {
        const { rows } = await session.query(`SELECT ${names} FROM lease WHERE name = $1`, [name]);
        return rows.map(postgres.record)[0];
      }),
    swapLease: (lease: Lease, was: Lease | undefined) =>
      run(async session => {
        const given = postgres.values(lease);
        const { count } = was
          ? await session.query(
              `UPDATE lease SET (${names}) = (${postgres.places()})
              WHERE name = $5 AND holder IS NOT DISTINCT FROM $6 AND until = $7 AND due_at = $8`,
              [...given, ...postgres.values(was)],
            )
          : await session.query(
              `INSERT INTO lease (${names}) VALUES (${postgres.places()}) ON CONFLICT DO NOTHING`,
              given,
            );
        return count === 1;
      }),
  };
}
