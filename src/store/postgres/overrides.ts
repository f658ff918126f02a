/** The operator's overrides in the shared store. */

import type { Act } from '../../core/audit.ts';
import { actOver, type ChangedOverrides, type Override } from '../../core/override.ts';
import { CHANGES_KEPT } from '../changed-overrides.ts';
import { OVERRIDE } from '../columns.ts';
import { type PostgresRow, replaced, upsert } from '../table.ts';
import { writeActs } from './audit.ts';
import type { Connections } from './connect.ts';
import type { Revisions } from './revision.ts';
import { arraysOf, givenRows } from './rows.ts';
import { type Session, sqlStateOf } from './session.ts';
import { CHUNK, readIn } from './turn.ts';

const { names, postgres } = OVERRIDE;

const PUT_OVERRIDES = `
  INSERT INTO override (${names}) ${givenRows(OVERRIDE)}
  ON CONFLICT (${OVERRIDE.key}) DO UPDATE SET ${replaced(OVERRIDE, OVERRIDE.key)}`;

/**
 * 400,000 take 1.2 s of processor time here and 0.6 s there (2026-11-18), and nobody is answered without them: in the time
 * of a call no server started with so many, nor with 100,000 on a machine with ten times too much to do.
 */
const ALL_MS = 10_000;

/**
 * One way there and back: all calls wait for it. With four of them 18 changes a second left 151 of 2,389 calls (two busy
 * cores, 2026-11-19).
 */
const CHANGED = {
  name: 'changed-overrides',
  text: `
    WITH since AS (SELECT min(id) AS id FROM override_change WHERE was = $1),
      change AS (SELECT DISTINCT unnest(domains) AS changed FROM override_change, since WHERE override_change.id >= since.id LIMIT ${CHANGES_KEPT + 1})
    SELECT revision.value AS revision, override_mark.value AS mark, since.id IS NOT NULL AS is_known, changed, ${names}
    FROM revision LEFT JOIN override_mark ON true CROSS JOIN since LEFT JOIN change ON true LEFT JOIN override ON domain = changed`,
};

const markIn = (rows: readonly PostgresRow[]) => ({
  revision: Number(rows[0]?.revision),
  mark: String(rows[0]?.mark ?? ''),
});

async function readMark(session: Session) {
  const { rows } = await session.query(
    'SELECT revision.value AS revision, override_mark.value AS mark FROM revision LEFT JOIN override_mark ON true',
  );
  return markIn(rows);
}

const changingOne =
  ({ change }: Revisions) =>
  (domain: string, act: Act, work: (session: Session) => Promise<boolean>) => {
    let was: Override | undefined;
    return change(
      () => actOver(was, act),
      async session => {
        const { rows } = await session.query(`SELECT ${names} FROM override WHERE domain = $1`, [domain]);
        was = rows[0] && postgres.record(rows[0]);
        return work(session);
      },
    );
  };

export function createOverrides({ run }: Connections, revisions: Revisions) {
  const { change } = revisions;
  const changeOne = changingOne(revisions);
  const readAll = (text: string) => run(session => readIn(session, ALL_MS, text), ALL_MS);

  return {
    setOverride: async (override: Override, act: Act) => {
      await changeOne(override.domain, act, async session => {
        await session.query(upsert(OVERRIDE, postgres.places()), postgres.values(override));
        return true;
      });
    },
    setOverrides: (overrides: readonly Override[], was: string, act: Act, more: readonly Act[] = []) =>
      change(act, async session => {
        if ((await readMark(session)).mark !== was) return false;
        if (more.length > 0) await writeActs(session, more);
        for (let at = 0; at < overrides.length; at += CHUNK)
          await session.query(PUT_OVERRIDES, arraysOf(OVERRIDE, overrides.slice(at, at + CHUNK)));
        return true;
      }),
    removeOverride: (domain: string, act: Act) =>
      changeOne(domain, act, async session => {
        const { count } = await session.query('DELETE FROM override WHERE domain = $1', [domain]);
        return count === 1;
      }),
    /** One statement sees one state of the database: the overrides, their mark and the revision belong together. */
    readOverrides: async (known: string | undefined) => {
      if (known !== undefined) {
        const { revision, mark } = await run(readMark);
        if (mark === known) return { revision, mark, overrides: undefined };
      }
      const rows = await readAll(
        `SELECT revision.value AS revision, override_mark.value AS mark, ${names}
        FROM revision LEFT JOIN override_mark ON true LEFT JOIN override ON true`,
      );
      return { ...markIn(rows), overrides: recordsOf(rows) };
    },
    changedOverrides: async (known: string): Promise<ChangedOverrides | undefined> => {
      const rows = await run(session => session.query({ ...CHANGED, values: [known] })).then(
        result => result.rows,
        whereUnreadable,
      );
      if (!rows) return undefined;
      const { revision, mark } = markIn(rows);
      const isKnown = rows[0]?.is_known === true && rows.length <= CHANGES_KEPT;
      if (!isKnown && mark !== known) return undefined;
      const gone = rows.filter(({ changed, domain }) => changed !== null && domain === null);
      return { revision, mark, overrides: [...recordsOf(rows)], gone: gone.map(row => String(row.changed)) };
    },
    /** The same of these and the revision. */
    listOverrides: async () => {
      const rows = await readAll(
        `SELECT revision.value AS revision, ${names} FROM revision LEFT JOIN override ON true ORDER BY domain`,
      );
      return { overrides: recordsOf(rows), revision: Number(rows[0]?.revision) };
    },
  };
}

/**
 * All of them can be read still where what has changed cannot: in a database of another form, or where this user has no
 * right to that. All calls failed after the next change (2026-11-19).
 */
function whereUnreadable(error: unknown): undefined {
  if (!sqlStateOf(error)?.startsWith('42')) throw error;
}

/** Each is made when it is asked for. Where there is none, there is a row without any. */
function* recordsOf(rows: readonly PostgresRow[]): Generator<Override> {
  for (const row of rows) if (row.domain !== null) yield postgres.record(row);
}
