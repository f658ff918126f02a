/** The operator's overrides in the shared store. */

import type { Act } from '../../core/audit.ts';
import type { Override } from '../../core/override.ts';
import { OVERRIDE } from '../columns.ts';
import { upsert } from '../table.ts';
import type { Connections } from './connect.ts';
import type { Revisions } from './revision.ts';

const { names, postgres } = OVERRIDE;

export function createOverrides({ run }: Connections, { change }: Revisions) {
  return {
    setOverride: async (override: Override, act: Act) => {
      await change(act, async session => {
        await session.query(upsert(OVERRIDE, postgres.places()), postgres.values(override));
        return true;
      });
    },
    removeOverride: (domain: string, act: Act) =>
      change(act, async session => {
        const { count } = await session.query('DELETE FROM override WHERE domain = $1', [domain]);
        return count === 1;
      }),
    /** One statement sees one state of the database: the overrides and the revision belong together. */
    listOverrides: () =>
      run(async session => {
        const { rows } = await session.query(
          `SELECT revision.value AS revision, ${names} FROM revision LEFT JOIN override ON true ORDER BY domain`,
        );
        return {
          overrides: rows.filter(row => row.domain !== null).map(postgres.record),
          revision: Number(rows[0]?.revision),
        };
      }),
  };
}
