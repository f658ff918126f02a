/** Moves a whole store from SQLite to an empty PostgreSQL database, counts included, and verifies every row. */

import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { Act } from '../core/audit.ts';
import { DOCTOR } from '../core/lease.ts';
import { ALIVE_MS, type ServerSign } from '../core/server.ts';
import { AUDIT, DECISION, HOST, LEASE, TABLES } from './columns.ts';
import type { OnFormChange } from './form.ts';
import { writeAct } from './postgres/audit.ts';
import { bringUpToDate } from './postgres/change.ts';
import { withConnection } from './postgres/open.ts';
import { NEXT_REVISION } from './postgres/revision.ts';
import { checkServer } from './postgres/schema.ts';
import { listServersIn as serversThere } from './postgres/servers.ts';
import type { Session } from './postgres/session.ts';
import { StoreRefused } from './refused.ts';
import { copyingBefore } from './sqlite/before.ts';
import { codeOf, SQLITE } from './sqlite/codes.ts';
import { enterUse, type Use } from './sqlite/in-use.ts';
import { markMoved } from './sqlite/moved.ts';
import { refuseOtherNames } from './sqlite/one-name.ts';
import { examine, explain, isMarked, openDatabase, read, refuseUnknownColumns } from './sqlite/open.ts';
import { realOf, setStrangersAside } from './sqlite/pair.ts';
import { listServersIn } from './sqlite/servers.ts';
import { replaced, type Table } from './table.ts';

const CHUNK = 1_000;

/** Every row in the order of its key, as the core knows it. */
function* recordsOf<R>(db: DatabaseSync, { name, names, key, sqlite }: Table<R>): Generator<R> {
  const rows = db.prepare(`SELECT ${names} FROM ${name} ORDER BY ${key}`).iterate();
  for (const row of rows) yield sqlite.record(row);
}

async function refuseUnlessEmpty(session: Session): Promise<void> {
  // Whoever looks at the target first, to be sure, has not begun to use it.
  await session.query(`DELETE FROM ${LEASE.name} WHERE name = $1`, [DOCTOR]);
  const { rows } = await session.query(
    TABLES.map(({ name }) => `SELECT '${name}' AS name FROM ${name} HAVING count(*) > 0`).join(' UNION ALL '),
  );
  if (rows.length === 0) return;
  throw new StoreRefused(
    `the target is not empty (it has rows in: ${rows.map(row => row.name).join(', ')})`,
    'name an empty database, before any server was started on it',
  );
}

async function copy<R>(session: Session, table: Table<R>, records: readonly R[]): Promise<void> {
  const { name, names, key, columns, postgres } = table;
  const rows = records.map(record => {
    const values = postgres.values(record);
    return Object.fromEntries(columns.map((column, at) => [column.name, values[at]]));
  });
  // Hosts are there already, made by their guests, but for those that have none.
  const again = name === HOST.name ? `ON CONFLICT (${key}) DO UPDATE SET ${replaced(table, key)}` : '';
  await session.query(
    `INSERT INTO ${name} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${name}, $1) ${again}`,
    [JSON.stringify(rows)],
  );
}

/** Both sides in the order of their bytes, every column of every row. */
async function verify<R>(session: Session, db: DatabaseSync, table: Table<R>): Promise<void> {
  const { name, names, key, postgres } = table;
  const { rows } = await session.query(`SELECT ${names} FROM ${name} ORDER BY ${key}`);
  let at = 0;
  for (const record of recordsOf(db, table)) {
    const arrived = rows[at++];
    if (!arrived || !isDeepStrictEqual(postgres.record(arrived), record)) throw differs(name);
  }
  if (at !== rows.length) throw differs(name);
}

function differs(table: string): StoreRefused {
  return new StoreRefused(`what arrived in "${table}" differs from what was sent`, 'nothing was kept');
}

export type MoveProgress = (table: string, done: number, total: number) => void;

/** Without user, password and parameters. */
function shownUrl(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

/** How many rows of each table were moved. All of it or nothing; the file keeps what it holds, and a mark that it was moved. */
export async function moveStore(
  path: string,
  url: string,
  progress: MoveProgress,
  act: Act,
  onFormChange: OnFormChange,
): Promise<Record<string, number>> {
  if (!existsSync(path)) throw new StoreRefused(`${path} does not exist`, 'name the SQLite file to move');
  const real = realOf(path);
  refuseOtherNames(real);
  const use = enterUse(real);
  try {
    setStrangersAside(path, use, false);
    return await moveOpened(path, use, url, progress, act, onFormChange);
  } finally {
    use.end();
  }
}

async function moveOpened(
  path: string,
  use: Use,
  url: string,
  progress: MoveProgress,
  act: Act,
  onFormChange: OnFormChange,
): Promise<Record<string, number>> {
  examine(path);
  if (!isMarked(path))
    throw new StoreRefused(`${path} is no store of this program`, 'name the SQLite file to move');
  refuseWhileServed(path, read(path, serversOf));
  refuseOthers(path, use);
  const db = openDatabase(path, copyingBefore(path, onFormChange));
  try {
    refuseUnknownColumns(db, path, 'update domain-risk');
    hold(db, path);
    // A version from before nobody was kept out.
    refuseWhileServed(path, serversOf(db));
    return await withConnection(url, async session => {
      await checkServer(session);
      await bringUpToDate(session, onFormChange);
      refuseWhileServed('the target', await serversThere(session));
      await session.query(`BEGIN; ${NEXT_REVISION}`);
      await refuseUnlessEmpty(session);
      const moved = await copyAll(session, db, progress);
      for (const table of TABLES) await verify(session, db, table);
      for (const { name } of [AUDIT, DECISION])
        await session.query(`SELECT setval(pg_get_serial_sequence('${name}', 'id'), max(id)) FROM ${name}`);
      await writeAct(session, act);
      markMoved(db, { target: shownUrl(url), at: act.at });
      await session.query('COMMIT');
      // A crash in this very moment leaves a file without the mark, and never a mark without the rows.
      db.exec('COMMIT');
      return moved;
    });
  } finally {
    db.close();
  }
}

/** A version from before they left signs has no such table. */
function serversOf(db: DatabaseSync): ServerSign[] {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'server'").get();
  return table ? listServersIn(db) : [];
}

/** What it counts from now on would be lost, or be somewhere else than what was moved. */
function refuseWhileServed(where: string, servers: readonly ServerSign[]): void {
  if (servers.length === 0) return;
  const who = servers.map(({ version, host }) => `version ${version} on ${host}`).join(', ');
  throw new StoreRefused(
    `${where} is served (${who})`,
    `stop the servers on it first; one that was killed counts as gone after ${ALIVE_MS / 1_000} s`,
  );
}

/** Commands have it open for a moment. */
const OPEN_WAIT_MS = 2_000;

/**
 * A server that stands still (SIGSTOP, a container or a machine that is paused) leaves no sign of life, and goes on counting
 * when it goes on: 101 calls in a file that had been moved. One that was started while 600,000 rows were copied went on
 * counting there too (2026-11-19): nobody opens it from here on.
 */
function refuseOthers(path: string, use: Use): void {
  if (use.keepOthersOut(OPEN_WAIT_MS)) return;
  throw new StoreRefused(
    `${path} is open in another process: a command, or a server that stands still`,
    'end it first',
  );
}

/** Until it is closed: a server that still runs on the file cannot count what would not be moved. */
function hold(db: DatabaseSync, path: string): void {
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    if (codeOf(error) !== SQLITE.busy) throw explain(error, path);
    throw new StoreRefused(`${path} is in use (${(error as Error).message})`, 'stop the servers on it first');
  }
}

async function copyAll(
  session: Session,
  db: DatabaseSync,
  progress: MoveProgress,
): Promise<Record<string, number>> {
  const count = ({ name }: Table<object>) => Number(db.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.n);
  const total = TABLES.reduce((sum, table) => sum + count(table), 0);
  const moved: Record<string, number> = {};
  let done = 0;
  for (const table of TABLES) {
    moved[table.name] = 0;
    let chunk: object[] = [];
    const flush = async () => {
      if (chunk.length > 0) await copy(session, table, chunk);
      moved[table.name]! += chunk.length;
      done += chunk.length;
      chunk = [];
      progress(table.name, done, total);
    };
    for (const record of recordsOf(db, table)) {
      chunk.push(record);
      if (chunk.length === CHUNK) await flush();
    }
    await flush();
  }
  return moved;
}
