import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { backupRecord, knownIdOf } from '../src/backup-record.ts';
import { backupsFinding } from '../src/commands/findings.ts';
import { readConfig } from '../src/config.ts';
import { LEASE_MS } from '../src/core/lease.ts';
import type { Store } from '../src/core/ports.ts';
import { createRaise } from '../src/raise.ts';
import { BackupStatus, scheduleBackups } from '../src/scheduled-backups.ts';
import { ACT } from './support/act.ts';
import { keyRecord, overrideOf } from './support/records.ts';
import { startTestService, temporaryFolder } from './support/service.ts';
import { storeAt } from './support/store.ts';

const HOUR = 3_600_000;

async function world(
  folder = join(temporaryFolder(), 'backups'),
  key = keyRecord(),
  path = join(temporaryFolder(), 'store.db'),
) {
  const store: Store = await storeAt(path);
  await store.createKey(key, ACT);
  const time = { now: Date.UTC(2026, 10, 16, 10, 20), ticks: 0 };
  const logged: string[] = [];
  const log = pino({}, { write: line => void logged.push(line) });
  const status = new BackupStatus();
  const schedule = (with_: Store = store, pageMs = 60_000) => {
    const made = scheduleBackups({
      ...{ store: with_, file: path, status, folder, everyMs: HOUR, keep: 2, log, answerMs: 60_000, pageMs },
      ...{ clock: () => time.now, ticks: () => time.ticks },
    });
    onTestFinished(made.close);
    return made;
  };
  const age = () => status.age(time.now);
  return { store, path, folder, time, logged, schedule, status, age };
}

/** Without what makes them one store's own. */
const slotsIn = (folder: string) =>
  readdirSync(folder)
    .map(name => name.replace(/-[0-9a-f]{8}\.db$/, ''))
    .sort();
const failures = async (store: Store) =>
  (await store.audit(9)).filter(({ action }) => action === 'backup.fail').map(({ detail }) => detail);

test('one backup in each slot of time, whole and for its own user only, the last ones kept and nothing else touched', async () => {
  const { folder, time, schedule, store, age } = await world();
  expect(age()).toBe(Number.POSITIVE_INFINITY);
  const [one, other] = [schedule(), schedule()];
  await Promise.all([one.look(), other.look()]);
  await other.look();
  expect(readdirSync(folder)).toEqual([
    expect.stringMatching(/^domain-risk-2026-11-16T100000Z-[0-9a-f]{8}\.db$/),
  ]);
  const path = join(folder, readdirSync(folder)[0]!);
  expect([statSync(path).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
  const db = new DatabaseSync(path, { readOnly: true });
  expect(db.prepare('SELECT name FROM key').all()).toEqual([{ name: 'Shop' }]);
  db.close();
  expect(age()).toBe(20 * 60);

  writeFileSync(join(folder, 'domain-risk-mine.db'), 'mine');
  writeFileSync(join(folder, 'domain-risk-2026-11-16T090000Z.db.partial'), 'of one that was killed');
  // A service of a version whose backups had no id shares the folder.
  writeFileSync(join(folder, 'domain-risk-2026-11-16T130000Z.db.partial'), 'of one that writes it now');
  mkdirSync(path.replace('T10', 'T08'));
  for (let hour = 0; hour < 3; hour++) {
    time.now += HOUR;
    await one.look();
  }
  expect(slotsIn(folder)).toEqual([
    'domain-risk-2026-11-16T080000Z',
    'domain-risk-2026-11-16T120000Z',
    'domain-risk-2026-11-16T130000Z',
    'domain-risk-2026-11-16T130000Z.db.partial',
    'domain-risk-mine.db',
  ]);
  expect(await store.audit(9)).toHaveLength(1);
});

test('one that fails is in the log and in the audit, takes no older one away, and is tried again', async () => {
  const { folder, time, schedule, store, logged, status, age } = await world();
  const backups = schedule();
  await backups.look();
  time.now += HOUR;
  expect(status.problem).toBeUndefined();
  const broken = schedule({
    ...store,
    backup: (path, progress) => store.backup(join(path, 'none'), progress),
  });
  await broken.look();
  expect(slotsIn(folder)).toEqual(['domain-risk-2026-11-16T100000Z']);
  const [act] = await store.audit(1);
  expect(act).toMatchObject({ who: 'domain-risk', via: 'schedule', action: 'backup.fail', subject: folder });
  expect(logged.filter(line => line.includes('the backup failed'))).toHaveLength(1);
  expect(age()).toBe(80 * 60);
  await broken.look();
  expect(await failures(store)).toHaveLength(1);
  time.ticks += HOUR;
  await broken.look();
  expect(await failures(store)).toHaveLength(2);
  expect(status.problem).toMatch(/^cannot write /);
  await backups.look();
  expect(status.problem).toBeUndefined();
});

/** What an operator sees of it: the metric, the events, and the doctor's state where the folder says nothing of use. */
async function seenOf({ store, folder, time, status, age }: Awaited<ReturnType<typeof world>>) {
  const events: string[] = [];
  const raising = createRaise({
    ...{ store, clock: () => time.now, feeds: [] },
    backups: { folder, status },
    health: () => ({ servers: [] }) as never,
    tell: ({ kind, text }) => events.push(`${kind}: ${text}`),
    onError(error) {
      throw error;
    },
  });
  onTestFinished(raising.close);
  await raising.look();
  const record = await backupRecord(store, folder);
  return {
    age: age(),
    events,
    doctor: backupsFinding({ folder, everyMs: HOUR }, 0, { ...record, slot: 0 }, time.now).state,
  };
}

test('backups that fail from the first start on: the metric, an event and the doctor all say so, with the reason', async () => {
  const all = await world('/proc/none/backups');
  await all.schedule().look();
  expect(await seenOf(all)).toEqual({
    age: Number.POSITIVE_INFINITY,
    events: [expect.stringMatching(/^backup\.failed: .* mkdir '\/proc\/none'$/)],
    doctor: 'failed',
  });
});

test('a restart without the disk of backups: the age goes on from the last good one, and each such time is an event', async () => {
  const all = await world();
  const { folder, schedule, time } = all;
  for (let times = 0; times < 2; times++) {
    await schedule().look();
    expect(await seenOf(all)).toMatchObject({ events: [], doctor: 'warning' });
    const gone = `${folder}.${times}`;
    renameSync(folder, gone);
    writeFileSync(folder, 'no folder');
    all.status.lastGood = 0;
    time.now += 60_000;
    await schedule().look();
    expect(await seenOf(all)).toEqual({
      age: (time.now % HOUR) / 1_000,
      events: [expect.stringContaining('backup.failed: ')],
      doctor: 'failed',
    });
    rmSync(folder);
    renameSync(gone, folder);
    time.now += HOUR;
  }
});

/** As if the last one had been made while another disk was mounted there. */
async function onAnotherDisk(store: Store): Promise<void> {
  const row = (await store.lease('backup.made'))!;
  const holder = JSON.stringify({ ...JSON.parse(row.holder!), device: -1 });
  expect(await store.swapLease({ ...row, holder }, row)).toBe(true);
}

test('a disk of backups that is no longer mounted: nothing is written to the one below, and what to do is told', async () => {
  const all = await world();
  const { store, folder, time, schedule } = all;
  const next = async () => {
    time.now += HOUR;
    time.ticks += HOUR;
    await schedule().look();
    return failures(store);
  };
  await schedule().look();
  // The same disk, under another number.
  await onAnotherDisk(store);
  expect(await next()).toEqual([]);
  expect(slotsIn(folder)).toHaveLength(2);
  await onAnotherDisk(store);
  const mounted = `${folder}.mounted`;
  renameSync(folder, mounted);
  expect(await next()).toEqual([
    expect.stringMatching(/is on another disk .* mount the disk of before; or, /),
  ]);
  expect(existsSync(folder)).toBe(false);
  mkdirSync(folder);
  const [problem] = await next();
  expect(readdirSync(folder)).toEqual([]);
  expect((await seenOf(all)).events).toEqual([expect.stringContaining('is on another disk')]);
  // Mounted again, and then another one for good.
  rmSync(folder, { recursive: true });
  renameSync(mounted, folder);
  expect(await next()).toHaveLength(2);
  expect(slotsIn(folder)).toHaveLength(2);
  await onAnotherDisk(store);
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  const told = /run "domain-risk backup (.*)"/.exec(problem!)![1]!;
  await store.backup(told, () => {});
  expect(await next()).toHaveLength(2);
  // What was removed by hand is no reason to stop.
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  expect(await next()).toHaveLength(2);
  expect(slotsIn(folder)).toHaveLength(1);
});

test('a clock that was a year ahead: its backups are neither the last good ones nor kept before new ones, and nobody waits for it', async () => {
  const { folder, time, schedule, store, age } = await world();
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
  await backups.look();
  expect(slotsIn(folder)).toContain('domain-risk-2026-11-16T100000Z');
  expect(age()).toBe(20 * 60);
  time.now += HOUR;
  await backups.look();
  expect(readdirSync(folder).map(name => name.slice(12, 16))).toEqual(['2026', '2026']);
  time.now += HOUR;
  time.ticks += HOUR;
  await broken.look();
  expect(await failures(store)).toHaveLength(2);
});

test('a copy that cannot be read back whole never has the name of a backup, and the service goes on', async () => {
  const { store, path, folder, schedule } = await world();
  await store.setOverrides(
    Array.from({ length: 200 }, (_, at) => overrideOf(`n${at}.com`)),
    (await store.readOverrides(undefined)).mark,
    ACT,
  );
  const db = new DatabaseSync(path);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const root = Number(
    db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'override'").get()!.rootpage,
  );
  db.close();
  // What a disk may do while the store is in use.
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4_096, 0xa5), 0, 4_096, (root - 1) * 4_096);
  closeSync(file);
  await schedule().look();
  expect(readdirSync(folder)).toEqual([]);
  expect(await failures(store)).toEqual([expect.stringContaining('cannot be read back whole')]);
});

test('services that share a folder each have their own, those of the version before included', async () => {
  const { folder, time, schedule, age } = await world();
  const other = await world(folder, keyRecord({ id: 'key_other' }));
  await schedule().look();
  const [own] = readdirSync(folder);
  await other.schedule().look();
  expect(slotsIn(folder)).toEqual(Array.from({ length: 2 }, () => 'domain-risk-2026-11-16T100000Z'));
  renameSync(join(folder, own!), join(folder, 'domain-risk-2026-11-16T090000Z.db'));
  writeFileSync(join(folder, 'domain-risk-2026-11-16T080000Z.db'), 'nobody knows whose');
  other.time.now += HOUR;
  await other.schedule().look();
  expect(readdirSync(folder)).toHaveLength(4);
  for (time.now += HOUR; time.now < other.time.now + 2 * HOUR; time.now += HOUR) await schedule().look();
  time.now -= HOUR;
  expect(age()).toBe(20 * 60);
  expect(slotsIn(folder)).toEqual([
    'domain-risk-2026-11-16T080000Z.db',
    'domain-risk-2026-11-16T100000Z',
    'domain-risk-2026-11-16T110000Z',
    'domain-risk-2026-11-16T110000Z',
    'domain-risk-2026-11-16T120000Z',
  ]);
});

test('a copy of a store has backups of its own in the same folder, and neither touches those of the other', async () => {
  const real = await world();
  const { folder, time } = real;
  await real.schedule().look();
  await real.store.close();
  const copied = join(temporaryFolder(), 'store.db');
  copyFileSync(real.path, copied);
  const copy = await world(folder, keyRecord({ id: 'key_copy', digest: 'copy' }), copied);
  const again = await world(folder, keyRecord({ id: 'key_real', digest: 'real' }), real.path);
  // As the doctor does: the server is to notice it, and to say so.
  expect(await knownIdOf(again.store, real.path)).toMatch(/^[0-9a-f]{8}$/);
  expect(await knownIdOf(copy.store, copied)).toBeUndefined();
  const keysIn = (name: string) => {
    const db = new DatabaseSync(join(folder, name), { readOnly: true });
    const rows = db.prepare("SELECT id FROM key WHERE id IN ('key_copy', 'key_real')").all();
    db.close();
    return rows.map(({ id }) => id);
  };
  for (let hour = 0; hour < 2; hour++) {
    // The copy comes first each time, and is told that it is one once.
    copy.time.now = again.time.now = time.now += HOUR;
    await copy.schedule().look();
    await again.schedule().look();
  }
  expect(copy.logged.filter(line => line.includes('is a copy'))).toHaveLength(1);
  expect(again.logged.filter(line => line.includes('is a copy'))).toEqual([]);
  expect(readdirSync(folder).flatMap(keysIn).sort()).toEqual([
    'key_copy',
    'key_copy',
    'key_real',
    'key_real',
  ]);
  expect([copy.age(), again.age()]).toEqual([20 * 60, 20 * 60]);
});

test('a disk that does not answer is told of and waited for by nobody, and one that answers again is used at once', async () => {
  const { store, folder, time, schedule, logged, age } = await world();
  const disk = Promise.withResolvers<void>();
  const backups = schedule(
    {
      ...store,
      async backup(path, progress) {
        await disk.promise;
        return store.backup(path, progress);
      },
    },
    20,
  );
  await backups.look();
  expect(await failures(store)).toEqual([`${folder} does not answer`]);
  expect([age(), logged.length]).toEqual([Number.POSITIVE_INFINITY, 1]);
  await backups.look();
  disk.resolve();
  await vi.waitFor(() => expect(logged.at(-1)).toContain('answers again'), 5_000);
  expect(slotsIn(folder)).toEqual(['domain-risk-2026-11-16T100000Z']);
  time.now += HOUR;
  await schedule().look();
  expect([age(), (await failures(store)).length]).toEqual([20 * 60, 1]);
});

test('a folder that cannot be used from the first start on has no good backup, so that whoever watches is told', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const { folder, schedule, store, age } = await world(join(file, 'backups'));
  await schedule().look();
  expect(await failures(store)).toEqual([expect.stringContaining(`'${folder}'`)]);
  expect(age()).toBe(Number.POSITIVE_INFINITY);
});

test('nothing below BACKUP_DIR is asked for on the event loop', () => {
  for (const file of ['scheduled-backups.ts', 'backup-folder.ts', 'store/sqlite/copies.ts'])
    expect(readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8')).not.toMatch(/\w+Sync\(/);
});

test('what a server that was killed had begun is made by the next one, which waits for a living one', async () => {
  const { store, folder, time, schedule } = await world();
  await schedule().look();
  const [whole] = readdirSync(folder);
  const partial = `${whole}.partial-4194304-00000000`;
  renameSync(join(folder, whole!), join(folder, partial));
  writeFileSync(join(folder, `${partial}-journal`), '');
  const killed = { name: 'backup', holder: 'killed', until: time.now + LEASE_MS, dueAt: time.now };
  await store.swapLease(killed, await store.lease('backup'));
  await schedule().look();
  expect(readdirSync(folder)).not.toContain(whole);
  time.now += LEASE_MS;
  await schedule().look();
  expect(readdirSync(folder)).toEqual([whole]);
  // One that ends in peace leaves it to the next at once.
  time.now += HOUR;
  const begun = Promise.withResolvers<void>();
  const ending = schedule({
    ...store,
    backup() {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  void ending.look();
  await begun.promise;
  await ending.close();
  await schedule().look();
  expect(readdirSync(folder)).toHaveLength(2);
});

test('the age of the last good one is a metric, and PostgreSQL has backups of its own', async () => {
  const folder = temporaryFolder();
  const backups = new BackupStatus();
  backups.lastGood = 0;
  const service = await startTestService({ env: { BACKUP_DIR: folder, BACKUP_EVERY: '6h' }, backups });
  expect(await (await service.get('/metrics')).text()).toMatch(/^domain_risk_backup_age_seconds \+Inf$/m);
  const read = () => readConfig({ BACKUP_DIR: folder, DATABASE_URL: 'postgres://op@db/a' });
  expect(read).toThrow(/^BACKUP_DIR: must be empty with PostgreSQL/);
});
