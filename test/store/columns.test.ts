/** The one table of columns, held against what both stores really have. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVER, TABLES } from '../../src/store/columns.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { anyPostgres, hasPostgres, type Postgres } from '../support/postgres.ts';
import { read } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

type Layout = Record<string, Record<string, string>>;

/** By table and column, the type. */
function layoutOf(rows: readonly Record<string, unknown>[]): Layout {
  const tables = Map.groupBy(rows, ({ table }) => String(table));
  return Object.fromEntries(
    [...tables].map(([name, columns]) => [
      name,
      Object.fromEntries(columns.map(({ column, type }) => [String(column), String(type)])),
    ]),
  );
}

function expected(store: 'sqlite' | 'postgres'): Layout {
  return layoutOf(
    [...TABLES, SERVER].flatMap(table =>
      table.columns.map(({ name, types }) => ({ table: table.name, column: name, type: types[store] })),
    ),
  );
}

test('of what the embedded store keeps no column is forgotten, and each has the type that it is said to have', () => {
  const path = join(temporaryFolder(), 'store.db');
  openDatabase(path).close();
  const rows = read(
    path,
    `SELECT t.name AS "table", c.name AS "column", c.type AS type
    FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'`,
  );
  const { revision, override_mark: mark, override_change: change, ...kept } = layoutOf(rows);
  expect([revision, mark, change]).not.toContain(undefined);
  expect(kept).toEqual(expected('sqlite'));
});

describe.runIf(hasPostgres())('PostgreSQL', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await anyPostgres();
  });
  afterAll(() => postgres?.close());

  test('of what the shared store keeps no column is forgotten, and each has the type that it is said to have', async () => {
    const url = await postgres.newDatabase();
    await (await openPostgresStore(url)).close();
    const rows = await postgres.query(
      `SELECT c.relname AS "table", a.attname AS "column", format_type(a.atttypid, NULL) AS type
      FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
      WHERE c.relnamespace = 'domain_risk'::regnamespace AND c.relkind = 'r' AND a.attnum > 0`,
      [],
      url,
    );
    const narrow = new Set<unknown>(['smallint', 'integer']);
    const {
      revision,
      proof,
      schema_version,
      override_mark: mark,
      override_change: change,
      ...kept
    } = layoutOf(rows.map(row => ({ ...row, type: narrow.has(row.type) ? 'bigint' : row.type })));
    expect([revision, proof, schema_version, mark, change]).not.toContain(undefined);
    // Of the last batch that was counted, for the statement that counts: nothing that is kept.
    const { quota, granted, ...usage } = kept.usage!;
    expect([quota, granted]).not.toContain(undefined);
    expect({ ...kept, usage }).toEqual(expected('postgres'));
  });
});
