/** The operator's overrides in the shared store. */

import type { Act } from '../../core/audit.ts';
import type { Override } from '../../core/override.ts';
import { OVERRIDE } from '../columns.ts';
import { type PostgresRow, replaced, upsert } from '../table.ts';
import { writeActs } from './audit.ts';
import type { Connections } from './connect.ts';
import type { Revisions } from './revision.ts';
import { arraysOf, givenRows } from './rows.ts';
import { CHUNK } from './turn.ts';

const { names, postgres } = OVERRIDE;

const PUT_OVERRIDES = `
  INSERT INTO override (${names}) ${givenRows(OVERRIDE)}
  ON CONFLICT (${OVERRIDE.key}) DO UPDATE SET ${replaced(OVERRIDE, OVERRIDE.key)}`;

export function createOverrides({ run }: Connections, { change }: Revisions) {
  return {
    setOverride: async (override: Override, act: Act) => {
      await change(act, async session => {
        await session.query(upsert(OVERRIDE, postgres.places()), postgres.values(override));
        return true;
      });
    },
    setOverrides: async (overrides: readonly Override[], act: Act, more: readonly Act[] = []) => {
      await change(act, async session => {
        if (more.length > 0) await writeActs(session, more);
        for (let at = 0; at < overrides.length; at += CHUNK)
          await session.query(PUT_OVERRIDES, arraysOf(OVERRIDE, overrides.slice(at, at + CHUNK)));
        return true;
      });
    },
    removeOverride: (domain: string, act: Act) =>
      change(act, async session => {
        const { count } = await session.query('DELETE FROM override WHERE domain = $1', [domain]);
        return count === 1;
      }),
    /** One statement sees one state of the database: the overrides, their mark and the revision belong together. */
    readOverrides: (known: string | undefined) =>
      run(async session => {
        const { rows } = await session.query(
          `SELECT revision.value AS revision, override_mark.value AS mark, ${names}
          FROM revision LEFT JOIN override_mark ON true LEFT JOIN override ON override_mark.value IS DISTINCT FROM $1`,
          [known ?? null],
        );
        const mark = String(rows[0]?.mark ?? '');
        const overrides = mark === known ? undefined : recordsOf(rows);
        return { revision: Number(rows[0]?.revision), mark, overrides };
      }),
    /** The same of these and the revision. */
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

/** Each is made when it is asked for. Where there is none, there is a row without any. */
function* recordsOf(rows: readonly PostgresRow[]): Generator<Override> {
  for (const row of rows) if (row.domain !== null) yield postgres.record(row);
}
