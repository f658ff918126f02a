/** A change of the store's form leaves a way back, and is told before it begins (P22). */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type FormChange, toldOf } from '../../src/store/form.ts';
import { moveStore } from '../../src/store/move.ts';
import { bringUpToDate } from '../../src/store/postgres/change.ts';
import { withConnection } from '../../src/store/postgres/open.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { StoreRefused } from '../../src/store/refused.ts';
import { copyingBefore } from '../../src/store/sqlite/before.ts';
import { enterUse } from '../../src/store/sqlite/in-use.ts';
import { openFirst } from '../../src/store/sqlite/open.ts';
import { realOf } from '../../src/store/sqlite/pair.ts';
import { MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/act.ts';
import { olderStore } from '../support/older.ts';
import { anyPostgres, hasPostgres, type Postgres } from '../support/postgres.ts';
import { hasTool, read, run } from '../support/process.ts';
import { eventually } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';

async function open(path: string): Promise<{ changes: FormChange[]; names: string[] }> {
  const changes: FormChange[] = [];
  const fail = (error: Error) => {
    throw error;
  };
  const store = await openSqliteStore(path, fail, change => changes.push(change as FormChange));
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
  expect(toldOf(changes[0]!)).toContain(
    `the version before can go on with them, but not restore backups that are made from now on; the copy ${copy} has none`,
  );
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
  // Most of them from a clock that was set back since.
  const older = [2025, 2997, 2998, 2999].map(year => `${path}.before-${year}0101T000000000Z`);
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

test('a change that never succeeds takes no older copy away, and leaves none of its own', async () => {
  const path = olderStore();
  const db = new DatabaseSync(path);
  db.exec('DROP TABLE sweep');
  db.close();
  const older = [2023, 2024, 2025].map(year => `${path}.before-${year}0101T000000000Z`);
  for (const file of older) writeFileSync(file, '');
  for (let i = 0; i < 2; i++) await expect(open(path)).rejects.toThrow(/no such table/);
  expect(copiesOf(path).sort()).toEqual(older.map(file => basename(file)));
});

test('a copy that cannot have its name is refused with the fix, nothing of it is left, and nothing changes', () => {
  const path = olderStore();
  vi.useFakeTimers({ now: Date.UTC(2026, 0), toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const copy = `${path}.before-20260101T000000000Z`;
  mkdirSync(copy);
  expect(() =>
    openFirst(
      path,
      copyingBefore(path, () => {}),
    ),
  ).toThrow(/cannot be written.*free as much/);
  expect(copiesOf(path)).toEqual([basename(copy)]);
  expect(columnsOf(path)).not.toContain('note');
});

/** node:sqlite as if our own code had called it wrongly, for statements that begin so. */
function stumbleOver(begin: string, method: 'exec' | 'prepare'): void {
  const real = DatabaseSync.prototype[method];
  const spy = vi.spyOn(DatabaseSync.prototype, method).mockImplementation(function (
    this: DatabaseSync,
    sql: string,
  ) {
    if (sql.startsWith(begin)) throw new TypeError('ours');
    return real.call(this, sql) as never;
  });
  onTestFinished(() => spy.mockRestore());
}

test('a fault of ours is not taken for a disk without space, nor for a file in use: it has its stack', async () => {
  const path = olderStore();
  stumbleOver('VACUUM INTO', 'prepare');
  expect(() =>
    openFirst(
      path,
      copyingBefore(path, () => {}),
    ),
  ).toThrow(TypeError);
  expect(copiesOf(path)).toEqual([]);
  vi.restoreAllMocks();
  await open(path);
  stumbleOver('BEGIN IMMEDIATE', 'exec');
  const moving = moveStore(
    path,
    'postgres://127.0.0.1:1/none',
    () => {},
    ACT,
    () => {},
  );
  await expect(moving).rejects.toThrow(TypeError);
});

test('a file is not moved that somebody has opened, and nothing of it is changed', async () => {
  const path = olderStore();
  const other = enterUse(realOf(path));
  onTestFinished(() => other.end());
  const onFormChange = vi.fn();
  const moving = moveStore(path, 'postgres://127.0.0.1:1/none', () => {}, ACT, onFormChange);
  await expect(moving).rejects.toThrow(/is open in another process/);
  expect(onFormChange).not.toHaveBeenCalled();
});

test('whoever wants to open a file that is being moved is refused; after a move that failed it is open to all', async () => {
  const path = olderStore();
  const open = () => enterUse(realOf(path), 0);
  const onFormChange = vi.fn(() => {
    expect(open).toThrow(/is being moved to another store .*: wait until that has ended/);
  });
  const moving = moveStore(path, 'postgres://127.0.0.1:1/none', () => {}, ACT, onFormChange);
  await expect(moving).rejects.toThrow(/cannot reach/);
  expect(onFormChange).toHaveBeenCalledTimes(1);
  open().end();
});

test('directories with the names of copies are none of them, and keep no change from being made', async () => {
  const path = olderStore();
  const folders = ['x.partial', '20230101T000000000Z', '20240101T000000000Z', '20250101T000000000Z'];
  for (const end of folders) mkdirSync(`${path}.before-${end}`);
  const older = ['20210101T000000000Z', '20220101T000000000Z'];
  for (const end of older) writeFileSync(`${path}.before-${end}`, '');
  const { changes } = await open(path);
  const left = [...[...folders, ...older].map(end => `${path}.before-${end}`), changes[0]!.copy!];
  expect(copiesOf(path).sort()).toEqual(left.map(file => basename(file)).sort());
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
  let url: string;
  beforeAll(async () => {
    postgres = await anyPostgres();
    url = await postgres.newDatabase();
  });
  afterAll(() => postgres?.close());

  const query = (text: string) => postgres.query(text, [], url);
  const hasNote = async () =>
    (
      await query(
        "SELECT 1 FROM pg_attribute WHERE attrelid = 'domain_risk.key'::regclass AND attname = 'note'",
      )
    ).length > 0;

  async function reopen(): Promise<FormChange[]> {
    const changes: FormChange[] = [];
    await (await openPostgresStore(url, Date.now, change => changes.push(change as FormChange))).close();
    return changes;
  }

  test('tells before it begins that tables get new columns, once', async () => {
    expect(await reopen()).toEqual([]);
    await query('ALTER TABLE domain_risk.key DROP COLUMN note');
    expect(await reopen()).toEqual([{ copy: null, suitsPrevious: true }]);
    expect(await reopen()).toEqual([]);
  });

  test('a long reader keeps the change waiting and no call, and one that never ends is refused with the fix', async () => {
    await reopen();
    await query('ALTER TABLE domain_risk.key DROP COLUMN note');
    const reader = new pg.Client({ connectionString: url });
    await reader.connect();
    onTestFinished(() => reader.end());
    await reader.query('BEGIN; SELECT * FROM domain_risk.key');
    const refused = await withConnection(url, session => bringUpToDate(session, () => {}, 0)).catch(
      error => error,
    );
    expect(refused).toBeInstanceOf(StoreRefused);
    expect(refused.problem).toMatch(/^the tables have to change for this version, and somebody else/);
    expect(refused.fix).toContain('pg_stat_activity');
    expect(await hasNote()).toBe(false);

    const opening = openPostgresStore(url);
    await eventually('it waits for the reader', async () => {
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'relation'";
      return (await query(waiting)).length > 0;
    });
    // As long as a call waits for a lock.
    await query("SET lock_timeout = '750ms'; SELECT * FROM domain_risk.key");
    await reader.query('COMMIT');
    await (await opening).close();
    expect(await hasNote()).toBe(true);
  });

  test('a file that is moved there is copied before it is brought up to date, and nobody opens it meanwhile', async () => {
    const path = olderStore();
    const changes: FormChange[] = [];
    const open = () => enterUse(realOf(path), 0);
    const moved = await moveStore(
      path,
      await postgres.newDatabase(),
      () => expect(open).toThrow(/is being moved to another store/),
      ACT,
      change => changes.push(change as FormChange),
    );
    expect(moved.key).toBe(1);
    expect(changes).toEqual([{ copy: expect.stringContaining(`${path}.before-`), suitsPrevious: true }]);
    const { copy } = changes[0]!;
    expect(columnsOf(copy!)).not.toContain('note');
    expect(columnsOf(path)).toContain('note');
  });
});
