import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ACT } from '../support/act.ts';
import {
  CLI,
  HANGS_MS,
  hasTool,
  type MadeKey,
  NO_DNS,
  openBeside,
  run,
  runJson,
  startChild,
} from '../support/process.ts';
import { overrideOf } from '../support/records.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const PATH = '/v1/public/domain/gmail.com';

test('a backup while serving, and a restore while serving that rewinds no counter', async () => {
  const service = await startTestService();
  const { folder } = service;
  const status = async (secret: string) => (await service.get(PATH, secret)).status;
  const kept = await service.key({ name: 'kept', quota: 3 });
  expect(await status(kept.secret)).toBe(200);
  const file = join(temporaryFolder(), 'copy.db');
  expect(await runJson(['backup', file], { folder })).toEqual({ file });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file).includes(kept.secret)).toBe(false);

  const later = await service.key({ name: 'later' });
  expect([await status(later.secret), await status(kept.secret)]).toEqual([200, 200]);
  await runJson(['overrides', 'set', 'gmail.com', 'deny'], { folder });
  await service.store.updateKey({ ...kept.key, quota: 99 }, kept.key, ACT);
  const change = { action: 'key.update', subject: kept.key.id, detail: 'quota 99 → 3' };
  const planned = await runJson(['restore', file, '--dry-run'], { folder });
  expect(planned).toEqual({ file, dry_run: true, changes: [change], rows: {}, warnings: [] });
  expect(await service.store.listKeys()).toContainEqual({ ...kept.key, quota: 99 });
  const restored = await runJson(['restore', file, '--yes'], { folder });
  expect(restored).toEqual({ file, dry_run: false, keys: 2, changes: [change], rows: {}, warnings: [] });
  // What came since stays.
  expect([await status(later.secret), await status(kept.secret)]).toEqual([200, 200]);
  expect(await status(kept.secret)).toBe(429);
  expect([...(await service.store.listOverrides()).overrides]).toMatchObject([{ domain: 'gmail.com' }]);

  const elsewhere = join(temporaryFolder(), 'new');
  const looked = await run(['restore', file, '--dry-run'], { folder: elsewhere });
  expect([looked.code, looked.stdout]).toEqual([
    0,
    expect.stringMatching(
      new RegExp(
        `^CHANGE +OF +WHAT\nkey.create +${kept.key.id} .*\n.*1 in usage, 1 in usage_day.*\na dry run`,
      ),
    ),
  ]);
  expect(existsSync(elsewhere)).toBe(false);
  const TMPDIR = join(elsewhere, 'none');
  // In a process of its own: Node asks the system for this one.
  const alone = { folder: elsewhere, env: { TMPDIR }, through: ['env'] };
  const homeless = await run(['restore', file, '--dry-run'], alone);
  expect([homeless.code, homeless.stderr]).toEqual([
    1,
    `domain-risk: the backup cannot be looked at in ${TMPDIR} (ENOENT): set TMPDIR to a folder that can be written to\n`,
  ]);
  const unasked = await run(['restore', file], { folder: elsewhere });
  expect([unasked.code, unasked.stderr]).toEqual([
    1,
    'domain-risk: nothing was restored: there is no terminal to ask on; add --yes\n',
  ]);
  expect(existsSync(join(elsewhere, 'domain-risk.db'))).toBe(false);
  const people = await run(['restore', file, '--yes'], { folder: elsewhere });
  expect([people.code, people.stdout]).toEqual([
    0,
    expect.stringMatching(/\nrestored from .*: 1 × key.create, 1 in usage, 1 in usage_day, .*\d in audit\n$/),
  ]);
  const [key] = await runJson<Record<string, unknown>[]>(['keys', 'list'], { folder: elsewhere });
  expect(key).toMatchObject({ id: kept.key.id, used: 1 });
});

test.skipIf(!hasTool('script'))('on a terminal a backup that fails says why and ends', async () => {
  const folder = temporaryFolder();
  const command = `${process.execPath} ${CLI} backup ${join(folder, 'copy.db')}`;
  const env = { PATH: process.env.PATH, DATA_DIR: join(folder, 'none'), DNS_SERVERS: NO_DNS };
  const { child, exited, stdout } = startChild(['script', '-qec', command, '/dev/null'], env);
  const timer = setTimeout(() => child.kill('SIGKILL'), HANGS_MS);
  expect(await exited).toEqual({ code: 1, signal: null });
  clearTimeout(timer);
  expect(stdout()).toMatch(/domain-risk: there is no store: /);
});

test.skipIf(!hasTool('script'))('on a terminal a restore asks first, and no is no', async () => {
  const folder = temporaryFolder();
  const store = await openBeside(folder);
  const file = join(temporaryFolder(), 'copy.db');
  await store.setOverride(overrideOf('a.example'), ACT);
  await store.backup(file, () => {});
  await store.removeOverride('a.example', ACT);
  const env = { PATH: process.env.PATH, DATA_DIR: folder, DNS_SERVERS: NO_DNS };
  const command = `stty cols 200; ${process.execPath} ${CLI} restore ${file}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', chunk => {
    said += String(chunk);
    if (said.includes('Restore from') && !child.stdin.writableEnded) child.stdin.end('n');
  });
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(said).toMatch(/override\.set +a\.example +deny/);
  expect(said).toMatch(/domain-risk: nothing was restored/);
  expect([...(await store.listOverrides()).overrides]).toEqual([]);
});

test('neither overwrites a file, nor takes one that is no backup', async () => {
  const folder = temporaryFolder();
  const made = await runJson<MadeKey>(['keys', 'create', '--name', 'kept'], { folder });
  const precious = join(temporaryFolder(), 'precious');
  writeFileSync(precious, 'precious');
  const empty = join(temporaryFolder(), 'empty');
  writeFileSync(empty, '');
  const attempts: [string[], RegExp][] = [
    [['backup', precious], /exists already: name a new file/],
    [['backup', join(folder, 'no', 'x.db')], /^domain-risk: cannot write .*no\/x\.db.* \(ENOENT\): .*\n$/],
    [['restore', precious], /precious is .*corrupt or not SQLite\): name a file made by backup, .*\n$/],
    [['restore', empty], /empty is empty: name a file made by backup/],
    [['restore', folder], /is no file: name a file made by backup/],
    [['restore', join(folder, 'none.db')], /none\.db does not exist: name a file made by backup/],
  ];
  for (const [args, words] of attempts) {
    const { code, stdout, stderr } = await run([...args, '--json'], { folder });
    expect([args[0], code, stdout]).toEqual([args[0], 1, '']);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^\s+at /m);
  }
  const nowhere = join(folder, 'nowhere');
  expect(await run(['restore', precious], { folder: nowhere })).toMatchObject({ code: 1 });
  expect(existsSync(nowhere)).toBe(false);
  expect(readFileSync(precious, 'utf8')).toBe('precious');
  expect(await runJson(['keys', 'list'], { folder })).toMatchObject([{ id: made.id, revoked_at: null }]);
});
