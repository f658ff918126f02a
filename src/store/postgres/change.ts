/** Brings the tables of the shared store up to date, once, however many servers start together. */

import { setTimeout as pause } from 'node:timers/promises';
import { TABLES } from '../columns.ts';
import type { OnFormChange } from '../form.ts';
import { StoreRefused } from '../refused.ts';
import { additionsTo } from '../table.ts';
import { LATER_TABLES, MIGRATIONS } from './schema.ts';
import { LOCKED, SCHEMA, type Session, sqlStateOf } from './session.ts';

/** Whoever holds this advisory lock changes the tables. Any fixed number does; this one reads "DRSK". */
const MIGRATION_LOCK = 0x4452534b;
/**
 * ALTER TABLE waits for everyone who reads the table, and all who come later wait behind it: so it gives up before
 * their own wait ends (`lock_timeout` in `session.ts`), lets them through, and tries again.
 */
const LOCK_MS = 300;
const PAUSE_MS = 500;
const CHANGE_MS = 30_000;

/**
 * Asked from the catalog's tables, which show what is committed: to_regclass and its like answer from a cache that
 * a wait for the advisory lock does not refresh.
 */
async function isMade(session: Session, what: 'schema' | 'table'): Promise<boolean> {
  const { rows } = await session.query(
    what === 'schema'
      ? 'SELECT 1 FROM pg_namespace WHERE nspname = $1'
      : "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version'",
    [SCHEMA],
  );
  return rows.length > 0;
}

async function versionOf(session: Session): Promise<number> {
  if (!(await isMade(session, 'table'))) return 0;
  const { rows: versions } = await session.query(`SELECT version FROM ${SCHEMA}.schema_version`);
  const version = Number(versions[0]?.version);
  if (version > MIGRATIONS.length) {
    throw new StoreRefused(
      `the database was written by a newer version (schema ${version}, this one knows ${MIGRATIONS.length})`,
      'update domain-risk, or restore a dump made before',
    );
  }
  return version;
}

/** Steps that leave the version as it is. */
async function additions(session: Session): Promise<string[]> {
  const { rows } = await session.query(
    `SELECT pg_class.relname, attname FROM pg_attribute
      JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = $1 AND attnum > 0`,
    [SCHEMA],
  );
  const present = new Set(rows.map(row => `${row.relname}.${row.attname}`));
  const tables = new Set(rows.map(row => row.relname));
  return [
    ...Object.keys(LATER_TABLES).flatMap(table => (tables.has(table) ? [] : LATER_TABLES[table]!)),
    ...additionsTo('postgres', TABLES, (table, column) => present.has(`${table}.${column}`)),
  ];
}

/** Whether anybody has made the tables yet. */
export const hasTables = (session: Session): Promise<boolean> => isMade(session, 'table');

/** Where the tables are up to date this only reads: it takes no lock and needs no right to make tables. */
export async function bringUpToDate(
  session: Session,
  onFormChange: OnFormChange = () => {},
  withinMs = CHANGE_MS,
): Promise<void> {
  const before = await versionOf(session);
  const isCurrent = before === MIGRATIONS.length;
  if (isCurrent && (await additions(session)).length === 0) return;
  if (before > 0) onFormChange({ copy: null, suitsPrevious: isCurrent });
  const until = performance.now() + withinMs;
  while (!(await hasChanged(session))) {
    if (performance.now() > until) {
      throw new StoreRefused(
        `the tables have to change for this version, and somebody else has used them for ${withinMs / 1_000} s without a pause`,
        'end that transaction or dump (pg_stat_activity shows it), then start again',
      );
    }
    await pause(PAUSE_MS);
  }
}

/** False, and nothing is changed, where a table could not be locked soon enough. */
async function hasChanged(session: Session): Promise<boolean> {
  try {
    await session.query('BEGIN');
    await session.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await session.query(`SET LOCAL lock_timeout = '${LOCK_MS}ms'`);
    await change(session);
    await session.query('COMMIT');
    return true;
  } catch (error) {
    if (sqlStateOf(error) !== LOCKED) throw error;
    await session.query('ROLLBACK');
    return false;
  }
}

async function change(session: Session): Promise<void> {
  const version = await versionOf(session);
  if (version === 0) {
    if (!(await isMade(session, 'schema'))) await session.query(`CREATE SCHEMA ${SCHEMA}`);
    await session.query(`
      CREATE TABLE ${SCHEMA}.schema_version (id smallint PRIMARY KEY CHECK (id = 1), version integer NOT NULL);
      INSERT INTO ${SCHEMA}.schema_version VALUES (1, 0)`);
  }
  for (const step of MIGRATIONS.slice(version)) await session.query(step);
  for (const step of await additions(session)) await session.query(step);
  await session.query(`UPDATE ${SCHEMA}.schema_version SET version = $1`, [MIGRATIONS.length]);
}
