/** A change of the store's form leaves a way back, and is told before it begins (P22). */

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FormChange, toldOf } from '../../src/store/form.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { olderStore } from '../support/older.ts';
import { anyPostgres, hasPostgres, type Postgres } from '../support/postgres.ts';
import { hasTool, read, run } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

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

test('the last three copies are kept, whatever the clock says, and nothing else in the folder is touched', async () => {
  const path = olderStore();
  const others = ['2025', '20250101T000000000Z-wal'].map(end => `${path}.before-${end}`);
  // The last of them from a clock that was set back since.
  const older = [2024, 2025, 2026, 2999].map(year => `${path}.before-${year}0101T000000000Z`);
  for (const file of [...others, ...older]) writeFileSync(file, '');
  const { changes } = await open(path);
  const left = copiesOf(path).map(name => join(dirname(path), name));
  expect(left.sort()).toEqual([...others, ...older.slice(2), changes[0]!.copy!].sort());
});

test('what a process that was killed left of a copy is taken away with the next one', async () => {
  const path = olderStore();
  const left = `${path}.before-20250101T000000000Z.partial`;
  for (const file of [left, `${left}-journal`]) writeFileSync(file, '');
  const { changes } = await open(path);
  expect(copiesOf(path)).toEqual([basename(changes[0]!.copy!)]);
});

/** What the program had on the disk, in this order; a copy goes by its end. */
function diskWork(trace: string, path: string): string[] {
  return trace.split('\n').flatMap(line => {
    if (!line.endsWith(' = 0')) return [];
    const name = line.includes('.partial')
      ? 'copy'
      : line.includes(`<${dirname(path)}>`)
        ? 'folder'
        : 'store';
    if (/ fsync\(| fdatasync\(/.test(line)) return [`synced ${name}`];
    return / rename/.test(line) ? [`renamed ${name}`] : [];
  });
}

test('of commands that start at once on an older file all do their work, and one copies it: on the disk before the change', async () => {
  const path = olderStore();
  const env = { DATABASE_URL: `sqlite:${path}` };
  const isTraced = hasTool('strace');
  const traces = [0, 1, 2, 3].map(at => `${path}.trace${at}`);
  const calls = 'trace=fsync,fdatasync,rename,renameat,renameat2';
  const ended = await Promise.all(
    traces.map(file => {
      const through = isTraced ? ['strace', '-f', '-y', '--seccomp-bpf', '-e', calls, '-o', file] : [];
      return run(['keys', 'list'], { env, through });
    }),
  );
  expect(ended.map(({ code, stderr }) => [code, /cannot|ENOENT|EEXIST/.test(stderr)])).toEqual(
    Array(4).fill([0, false]),
  );
  const [copy, ...more] = copiesOf(path).map(name => join(dirname(path), name));
  expect(more).toEqual([]);
  expect(columnsOf(copy!)).not.toContain('note');
  expect(ended.filter(({ stderr }) => stderr.includes(copy!))).toHaveLength(1);
  if (!isTraced) return;
  const works = traces.map(file => diskWork(readFileSync(file, 'utf8'), path));
  const copier = works.filter(work => work.includes('renamed copy'));
  expect(copier).toHaveLength(1);
  const after = copier[0]!.indexOf('renamed copy');
  expect(copier[0]!.slice(after - 1, after + 3)).toEqual([
    'synced copy',
    'renamed copy',
    'synced folder',
    'synced store',
  ]);
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
