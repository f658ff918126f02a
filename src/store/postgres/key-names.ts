/** Keys by what operators call them, and in their order, in the shared store. */

import { alike } from '../../core/label.ts';
import type { Connections } from './connect.ts';
import { SCHEMA, type Session } from './session.ts';

/** In whatever locale, and of plain letters only. */
const LOWER = 'lower(name COLLATE "C")';
/** With other than ASCII letters: only of the others the store tells which are alike. */
const IS_ODD = 'octet_length(name) > length(name)';
/** So many names are compared within a millisecond. */
const ODD_AT_ONCE = 1_000;

export const KEY_INDEXES = {
  key_by_age: `CREATE INDEX key_by_age ON ${SCHEMA}.key (created_at, id)`,
  key_by_name: `CREATE INDEX key_by_name ON ${SCHEMA}.key (${LOWER})`,
  key_by_odd_name: `CREATE INDEX key_by_odd_name ON ${SCHEMA}.key (id, name) WHERE revoked_at IS NULL AND ${IS_ODD}`,
};

/** PostgreSQL has no text with such a sign: whoever asks for one is told that it is not there. */
export const mayBeKept = (text: string) => !text.includes('\0');

/** The ids of live keys whose names people take for this one. */
export async function idsNamed(session: Session, name: string): Promise<string[]> {
  const wanted = alike(name);
  const plain = await session.query(
    `SELECT id FROM key WHERE ${LOWER} = $1 AND revoked_at IS NULL AND NOT (${IS_ODD})`,
    [wanted],
  );
  const ids = plain.rows.map(({ id }) => String(id));
  for (let after = '', isLast = false; !isLast; ) {
    const { rows } = await session.query(
      `SELECT id, name FROM key WHERE revoked_at IS NULL AND ${IS_ODD} AND id > $1 ORDER BY id LIMIT ${ODD_AT_ONCE}`,
      [after],
    );
    for (const row of rows) if (alike(String(row.name)) === wanted) ids.push(String(row.id));
    isLast = rows.length < ODD_AT_ONCE;
    after = String(rows.at(-1)?.id);
  }
  return ids;
}

export function createKeyNames({ run }: Connections) {
  return {
    keyIdsOf: async (idOrName: string) => {
      if (!mayBeKept(idOrName)) return [];
      return run(async session => {
        const { rows } = await session.query(
          `SELECT id FROM key WHERE id = $1
          UNION SELECT id FROM key WHERE ${LOWER} = lower($1 COLLATE "C") AND name = $1
            AND NOT EXISTS (SELECT 1 FROM key WHERE id = $1)`,
          [idOrName],
        );
        return rows.map(({ id }) => String(id));
      });
    },
    keyNames: (ids: readonly string[]) =>
      run(async session => {
        const { rows } = await session.query('SELECT id, name FROM key WHERE id = ANY ($1)', [ids]);
        return new Map(rows.map(({ id, name }) => [String(id), String(name)]));
      }),
  };
}
