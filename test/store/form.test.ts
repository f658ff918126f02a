/** A change of the store's form leaves a way back, and is told before it begins (P22). */

import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FormChange, toldOf } from '../../src/store/form.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { APPLICATION_ID, MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { anyPostgres, hasPostgres, type Postgres } from '../support/postgres.ts';
import { read, run } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

/** As an earlier version left it, with one key. */
function olderStore(version = MIGRATIONS.length): string {
  const path = join(temporaryFolder(), 'domain-risk.db');
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL');
  for (const step of MIGRATIONS.slice(0, version)) db.exec(step);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
  db.exec(`INSERT INTO key (id, name, digest, prefix, last4, origins, networks, created_at)
    VALUES ('k1', 'Shop', 'd', 'drk_abcd', 'wxyz', '[]', '[]', 1)`);
  db.close();
  return path;
}

async function open(path: string): Promise<{ changes: FormChange[]; names: string[] }> {
  const changes: FormChange[] = [];
  const fail = (error: Error) => {
    throw error;
  };
  const store = await openSqliteStore(path, fail, change => changes.push(change));
  const names = (await store.listKeys()).map(({ name }) => name);
  await store.close();
  return { changes, names };
}

const columnsOf = (path: string) =>
  read(path, "SELECT name FROM pragma_table_info('key')").map(({ name }) => name);
const copiesOf = (path: string) => readdirSync(dirname(path)).filter(name => name.includes('.before-'));

test('a file that gets new columns is copied before, for its own user only, and the version before can go on with it', async () => {
  const path = olderStore();
  const { changes, names } = await open(path);
  expect(names).toEqual(['Shop']);
  expect(changes).toEqual([{ copy: expect.stringContaining(`${path}.before-`), suitsPrevious: true }]);
  const { copy } = changes[0]!;
  expect(statSync(copy!).mode & 0o777).toBe(0o600);
  expect(read(copy!, 'SELECT name FROM key')).toEqual([{ name: 'Shop' }]);
  expect([columnsOf(copy!).includes('note'), columnsOf(path).includes('note')]).toEqual([false, true]);
  expect(read(path, 'PRAGMA user_version')).toEqual([{ user_version: MIGRATIONS.length }]);
  expect(toldOf(changes[0]!)).toContain(`the version before can go on with them, and the copy ${copy}`);
});

test('a file whose tables change is copied before, and it is said that the version before cannot read it', async () => {
  const path = olderStore(1);
  const { changes } = await open(path);
  expect(changes).toMatchObject([{ suitsPrevious: false }]);
  expect(toldOf(changes[0]!)).toContain(
    `cannot read them any more; the way back is the copy ${path}.before-`,
  );
  expect(read(changes[0]!.copy!, 'PRAGMA user_version')).toEqual([{ user_version: 1 }]);
});

test('what is up to date, and what is new, is not copied', async () => {
  const path = olderStore();
  await open(path);
  expect((await open(path)).changes).toEqual([]);
  expect(copiesOf(path)).toHaveLength(1);
  const fresh = join(temporaryFolder(), 'domain-risk.db');
  expect((await open(fresh)).changes).toEqual([]);
  expect(copiesOf(fresh)).toEqual([]);
});

test('the last three copies are kept, and nothing else in the folder is touched', async () => {
  const path = olderStore();
  const others = ['2025', '20250101T000000000Z.partial', '20250101T000000000Z-wal'].map(
    end => `${path}.before-${end}`,
  );
  const older = [1, 2, 3, 4].map(day => `${path}.before-2025010${day}T000000000Z`);
  for (const file of [...others, ...older]) writeFileSync(file, '');
  const { changes } = await open(path);
  const left = copiesOf(path).map(name => join(dirname(path), name));
  expect(left.sort()).toEqual([...others, ...older.slice(2), changes[0]!.copy!].sort());
});

test('what a process that was killed left of a copy is taken away an hour later', async () => {
  const path = olderStore();
  const [old, young] = ['1-0.partial', '2-0.partial'].map(end => `${path}.before-20250101T000000000Z.${end}`);
  for (const file of [old!, `${old}-journal`, young!]) writeFileSync(file, '');
  for (const file of [old!, `${old}-journal`]) utimesSync(file, 1_600_000_000, 1_600_000_000);
  await open(path);
  expect(copiesOf(path).filter(name => name.includes('.partial'))).toEqual([basename(young!)]);
});

test('commands that start at once on an older file all do their work, and every copy is of the form before', async () => {
  const path = olderStore();
  const env = { DATABASE_URL: `sqlite:${path}` };
  const ended = await Promise.all(Array.from({ length: 4 }, () => run(['keys', 'list'], { env })));
  expect(ended.map(({ code, stderr }) => [code, /cannot|ENOENT|EEXIST/.test(stderr)])).toEqual(
    Array(4).fill([0, false]),
  );
  const copies = copiesOf(path).map(name => join(dirname(path), name));
  expect(copies.length).toBeGreaterThan(0);
  for (const copy of copies) expect(columnsOf(copy)).not.toContain('note');
});

describe.runIf(hasPostgres())('PostgreSQL', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await anyPostgres();
  });
  afterAll(() => postgres?.close());

  test('tells before it begins that tables get new columns, once', async () => {
    const url = await postgres.newDatabase();
    const changes: FormChange[] = [];
    const reopen = async () =>
      (await openPostgresStore(url, Date.now, change => changes.push(change))).close();
    await reopen();
    expect(changes).toEqual([]);
    await postgres.query('ALTER TABLE domain_risk.key DROP COLUMN note', [], url);
    await reopen();
    await reopen();
    expect(changes).toEqual([{ copy: null, suitsPrevious: true }]);
  });
});
