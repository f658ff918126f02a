/** The operator's overrides in the shared store. */

import type { Act } from '../../core/audit.ts';
import type { Override } from '../../core/override.ts';
import type { Connections } from './connect.ts';
import type { Revisions } from './revision.ts';

/** As the core names them, so that a row is a record. */
const OVERRIDE = 'domain, action, below, note, author, created_at AS "createdAt", expires_at AS "expiresAt"';

export function createOverrides({ run }: Connections, { change }: Revisions) {
  return {
    setOverride: async (o: Override, act: Act) => {
      await change(act, async client => {
        await client.query(
          `INSERT INTO override (domain, action, below, note, author, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
          ON CONFLICT (domain) DO UPDATE SET (action, below, note, author, created_at, expires_at) =
            (excluded.action, excluded.below, excluded.note, excluded.author, excluded.created_at, excluded.expires_at)`,
          [o.domain, o.action, o.below, o.note, o.author, o.createdAt, o.expiresAt],
        );
        return true;
      });
    },
    removeOverride: (domain: string, act: Act) =>
      change(act, async client => {
        const { rowCount } = await client.query('DELETE FROM override WHERE domain = $1', [domain]);
        return rowCount === 1;
      }),
    listOverrides: () =>
      run(async client => {
        const { rows } = await client.query(
          `SELECT revision.value AS revision, ${OVERRIDE} FROM revision LEFT JOIN override ON true ORDER BY domain`,
        );
        const found = rows.map(({ revision, ...override }) => override as Override);
        return {
          overrides: found.filter(override => override.domain !== null),
          revision: Number(rows[0]?.revision),
        };
      }),
  };
}
