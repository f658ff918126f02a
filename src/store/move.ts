/** Moves a whole store from SQLite to an empty PostgreSQL database, counts included, and verifies every row. */

import { existsSync } from 'node:fs';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Client } from 'pg';
import type { Act } from '../core/audit.ts';
import { writeAct } from './postgres/audit.ts';
import { withConnection } from './postgres/open.ts';
import { NEXT_REVISION } from './postgres/revision.ts';
import { bringUpToDate, checkServer } from './postgres/schema.ts';
import { StoreRefused } from './refused.ts';
import { examine, isMarked, openDatabase } from './sqlite/open.ts';

const CHUNK = 1_000;

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** The first so many columns are the primary key. */
  readonly keys: number;
}

/** In an order in which every row finds what it refers to; a host's counts follow its guests. */
const TABLES: readonly Table[] = [
  {
    name: 'key',
    columns: [
      ...['id', 'name', 'digest', 'prefix', 'last4', 'previous_digest', 'previous_until', 'quota', 'rate'],
      ...['origins', 'networks', 'created_at', 'expires_at', 'revoked_at'],
    ],
    keys: 1,
  },
  { name: 'usage', columns: ['key_id', 'month', 'used'], keys: 2 },
  { name: 'usage_day', columns: ['key_id', 'day', 'used'], keys: 2 },
  {
    name: 'override',
    columns: ['domain', 'action', 'below', 'note', 'author', 'created_at', 'expires_at'],
    keys: 1,
  },
  { name: 'flag', columns: ['domain', 'day', 'key_id', 'listed', 'reason', 'score'], keys: 3 },
  { name: 'guest', columns: ['host', 'domain', 'entry', 'day'], keys: 2 },
  {
    name: 'host',
    columns: ['name', 'flagged', 'innocent', 'last_day', 'shared_day', 'forgotten_at'],
    keys: 1,
  },
  { name: 'sweep', columns: ['id', 'generation', 'last', 'ended_at'], keys: 1 },
  {
    name: 'snapshot',
    columns: ['feed', 'version', 'digest', 'names', 'accepted_at', 'body'],
    keys: 1,
  },
  { name: 'audit', columns: ['id', 'at', 'who', 'via', 'action', 'subject', 'detail'], keys: 1 },
];

/** Columns for which PostgreSQL has a better type than SQLite. */
const CONVERTED: Readonly<Record<string, (value: SQLOutputValue) => unknown>> = {
  origins: value => JSON.parse(String(value)),
  networks: value => JSON.parse(String(value)),
  below: value => value === 1,
  listed: value => value === 1,
};

type Row = Record<string, unknown>;

function* rowsOf(db: DatabaseSync, { name, columns, keys }: Table): Generator<Row> {
  const order = columns.slice(0, keys).join(', ');
  for (const row of db.prepare(`SELECT ${columns.join(', ')} FROM ${name} ORDER BY ${order}`).iterate()) {
    yield Object.fromEntries(columns.map(column => [column, (CONVERTED[column] ?? same)(row[column]!)]));
  }
}
const same = (value: SQLOutputValue) => value;

async function refuseUnlessEmpty(client: Client): Promise<void> {
  const { rows } = await client.query(
    TABLES.map(({ name }) => `SELECT '${name}' AS name FROM ${name} HAVING count(*) > 0`).join(' UNION ALL '),
  );
  if (rows.length === 0) return;
  throw new StoreRefused(
    `the target is not empty (it has rows in: ${rows.map(row => row.name).join(', ')}): name an empty database, before any server was started on it`,
  );
}

async function copy(client: Client, { name, columns, keys }: Table, rows: readonly Row[]): Promise<void> {
  // Hosts are there already, made by their guests, but for those that have none.
  const update = columns.slice(keys).map(column => `${column} = excluded.${column}`);
  const again = name === 'host' ? `ON CONFLICT (name) DO UPDATE SET ${update.join(', ')}` : '';
  await client.query(
    `INSERT INTO ${name} (${columns.join(', ')})
    SELECT ${columns.join(', ')} FROM json_populate_recordset(NULL::${name}, $1) ${again}`,
    [JSON.stringify(rows)],
  );
}

/** Both sides in the order of their bytes, every column of every row. */
async function verify(client: Client, db: DatabaseSync, table: Table): Promise<void> {
  const { name, columns, keys } = table;
  const order = columns.slice(0, keys).join(', ');
  const { rows } = await client.query(`SELECT ${columns.join(', ')} FROM ${name} ORDER BY ${order}`);
  let at = 0;
  for (const row of rowsOf(db, table)) {
    if (JSON.stringify(row) !== JSON.stringify(rows[at++])) throw differs(name);
  }
  if (at !== rows.length) throw differs(name);
}

function differs(table: string): StoreRefused {
  return new StoreRefused(`what arrived in "${table}" differs from what was sent: nothing was kept`);
}

export type MoveProgress = (table: string, done: number, total: number) => void;

/** How many rows of each table were moved. All of it or nothing; the file stays as it is. */
export async function moveStore(
  path: string,
  url: string,
  progress: MoveProgress,
  act: Act,
): Promise<Record<string, number>> {
  if (!existsSync(path)) throw new StoreRefused(`${path} does not exist: name the SQLite file to move`);
  examine(path);
  if (!isMarked(path))
    throw new StoreRefused(`${path} is no store of this program: name the SQLite file to move`);
  const db = openDatabase(path);
  try {
    hold(db, path);
    return await withConnection(url, async client => {
      await checkServer(client);
      await bringUpToDate(client);
      await client.query(`BEGIN; ${NEXT_REVISION}`);
      await refuseUnlessEmpty(client);
      const moved = await copyAll(client, db, progress);
      for (const table of TABLES) await verify(client, db, table);
      await client.query("SELECT setval(pg_get_serial_sequence('audit', 'id'), max(id)) FROM audit");
      await writeAct(client, act);
      await client.query('COMMIT');
      return moved;
    });
  } finally {
    db.close();
  }
}

/** Until it is closed: a server that still runs on the file cannot count what would not be moved. */
function hold(db: DatabaseSync, path: string): void {
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    throw new StoreRefused(`${path} is in use (${(error as Error).message}): stop the servers on it first`);
  }
}

async function copyAll(
  client: Client,
  db: DatabaseSync,
  progress: MoveProgress,
): Promise<Record<string, number>> {
  const count = ({ name }: Table) => Number(db.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.n);
  const total = TABLES.reduce((sum, table) => sum + count(table), 0);
  const moved: Record<string, number> = {};
  let done = 0;
  for (const table of TABLES) {
    moved[table.name] = 0;
    let chunk: Row[] = [];
    const flush = async () => {
      if (chunk.length > 0) await copy(client, table, chunk);
      moved[table.name]! += chunk.length;
      done += chunk.length;
      chunk = [];
      progress(table.name, done, total);
    };
    for (const row of rowsOf(db, table)) {
      chunk.push(row);
      if (chunk.length === CHUNK) await flush();
    }
    await flush();
  }
  return moved;
}
