import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../src/config.ts';
import type { Store } from '../src/core/ports.ts';
import { backupAge, scheduleBackups } from '../src/scheduled-backups.ts';
import { StoreRefused } from '../src/store/refused.ts';
import { createCopies } from '../src/store/sqlite/copies.ts';
import { examine } from '../src/store/sqlite/open.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { ACT } from './support/act.ts';
import { keyRecord } from './support/records.ts';
import { startTestService, temporaryFolder } from './support/service.ts';

const HOUR = 3_600_000;

async function world(folder = join(temporaryFolder(), 'backups')) {
  const store: Store = await openSqliteStore(join(temporaryFolder(), 'store.db'), error => {
    throw error;
  });
  onTestFinished(() => store.close());
  await store.createKey(keyRecord(), ACT);
  const time = { now: Date.UTC(2026, 10, 16, 10, 20), ticks: 0 };
  const logged: string[] = [];
  const log = pino({}, { write: line => void logged.push(line) });
  const schedule = (with_: Store = store) => {
    const made = scheduleBackups({
      store: with_,
      folder,
      everyMs: HOUR,
      keep: 2,
      clock: () => time.now,
      ticks: () => time.ticks,
      log,
    });
    onTestFinished(made.close);
    return made;
  };
  return { store, folder, time, logged, schedule };
}

test('one backup in each slot of time, whole and for its own user only, the last ones kept and nothing else touched', async () => {
  const { folder, time, schedule, store } = await world();
  expect(backupAge(folder, time.now)).toBe(Number.POSITIVE_INFINITY);
  const [one, other] = [schedule(), schedule()];
  await Promise.all([one.look(), other.look()]);
  await other.look();
  expect(readdirSync(folder)).toEqual(['domain-risk-2026-11-16T100000Z.db']);
  const path = join(folder, 'domain-risk-2026-11-16T100000Z.db');
  expect([statSync(path).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
  const db = new DatabaseSync(path, { readOnly: true });
  expect(db.prepare('SELECT name FROM key').all()).toEqual([{ name: 'Shop' }]);
  db.close();
  expect(backupAge(folder, time.now)).toBe(20 * 60);

  writeFileSync(join(folder, 'domain-risk-mine.db'), 'mine');
  writeFileSync(join(folder, 'domain-risk-2026-11-16T090000Z.db.partial'), 'of one that was killed');
  for (let hour = 0; hour < 3; hour++) {
    time.now += HOUR;
    await one.look();
  }
  expect(readdirSync(folder).sort()).toEqual([
    'domain-risk-2026-11-16T120000Z.db',
    'domain-risk-2026-11-16T130000Z.db',
    'domain-risk-mine.db',
  ]);
  expect(await store.audit(9)).toHaveLength(1);
});

test('one that fails is in the log and in the audit, takes no older one away, and is tried again', async () => {
  const { folder, time, schedule, store, logged } = await world();
  const backups = schedule();
  await backups.look();
  time.now += HOUR;
  const broken = schedule({
    ...store,
    backup: (path, progress) => store.backup(join(path, 'none'), progress),
  });
  await broken.look();
  expect(readdirSync(folder)).toContain('domain-risk-2026-11-16T100000Z.db');
  expect(existsSync(join(folder, 'domain-risk-2026-11-16T110000Z.db'))).toBe(false);
  const [act] = await store.audit(1);
  expect(act).toMatchObject({ who: 'domain-risk', via: 'schedule', action: 'backup.fail', subject: folder });
  expect(logged.filter(line => line.includes('the backup failed'))).toHaveLength(1);
  expect(backupAge(folder, time.now)).toBe(80 * 60);
  await broken.look();
  expect((await store.audit(9)).filter(({ action }) => action === 'backup.fail')).toHaveLength(1);
  time.ticks += HOUR;
  await broken.look();
  expect((await store.audit(9)).filter(({ action }) => action === 'backup.fail')).toHaveLength(2);
});

test('a clock that was a year ahead: its backups are neither the last good ones nor kept before new ones, and nobody waits for it', async () => {
  const { folder, time, schedule, store } = await world();
  const right = time.now;
  const backups = schedule();
  const broken = schedule({
    ...store,
    backup: (path, progress) => store.backup(join(path, 'none'), progress),
  });
  time.now += 366 * 24 * HOUR;
  await broken.look();
  for (let hour = 0; hour < 2; hour++) {
    await backups.look();
    time.now += HOUR;
  }
  expect(readdirSync(folder).map(name => name.slice(12, 16))).toEqual(['2027', '2027']);
  time.now = right;
  expect(backupAge(folder, time.now)).toBe(Number.POSITIVE_INFINITY);
  await backups.look();
  expect(readdirSync(folder)).toContain('domain-risk-2026-11-16T100000Z.db');
  expect(backupAge(folder, time.now)).toBe(20 * 60);
  time.now += HOUR;
  await backups.look();
  expect(readdirSync(folder).map(name => name.slice(12, 16))).toEqual(['2026', '2026']);
  time.now += HOUR;
  time.ticks += HOUR;
  await broken.look();
  expect((await store.audit(9)).filter(({ action }) => action === 'backup.fail')).toHaveLength(2);
});

test('a copy that cannot be read back whole never has the name of a backup', async () => {
  const target = join(temporaryFolder(), 'copy.db');
  const spoiling = async (op: string, [path]: readonly unknown[]) => {
    if (op === 'backup') writeFileSync(String(path), 'no database\n'.repeat(1_000));
    else if (op === 'checkCopy') examine(`${pathToFileURL(String(path)).href}?immutable=1`, String(path));
  };
  const copies = createCopies(join(temporaryFolder(), 'store.db'), spoiling as never);
  await expect(copies.backup(target, () => {})).rejects.toThrow(StoreRefused);
  expect(readdirSync(dirname(target))).toEqual([]);
});

test('the age of the last good one is a metric, and PostgreSQL has backups of its own', async () => {
  const folder = temporaryFolder();
  const service = await startTestService({ env: { BACKUP_DIR: folder, BACKUP_EVERY: '6h' } });
  expect(await (await service.get('/metrics')).text()).toMatch(/^domain_risk_backup_age_seconds \+Inf$/m);
  const read = () => readConfig({ BACKUP_DIR: folder, DATABASE_URL: 'postgres://op@db/a' });
  expect(read).toThrow(/^BACKUP_DIR: must be empty with PostgreSQL/);
});
