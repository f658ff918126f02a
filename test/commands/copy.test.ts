import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type MadeKey, run, runJson } from '../support/process.ts';
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
  const restored = await runJson(['restore', file], { folder });
  expect(restored).toMatchObject({ file });
  expect([await status(later.secret), await status(kept.secret)]).toEqual([401, 200]);
  expect(await status(kept.secret)).toBe(429);
  expect((await service.store.listOverrides()).overrides).toEqual([]);

  const elsewhere = temporaryFolder();
  const people = await run(['restore', file], { folder: elsewhere });
  expect([people.code, people.stdout]).toEqual([0, `restored 1 keys from ${file}\n`]);
  const [key] = await runJson<Record<string, unknown>[]>(['keys', 'list'], { folder: elsewhere });
  expect(key).toMatchObject({ id: kept.key.id, used: 1 });
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
    [['restore', precious], /corrupt or not SQLite/],
    [['restore', empty], /name a file made by backup/],
    [['restore', join(folder, 'none.db')], /name a file made by backup/],
  ];
  for (const [args, words] of attempts) {
    const { code, stdout, stderr } = await run([...args, '--json'], { folder });
    expect([args[0], code, stdout]).toEqual([args[0], 1, '']);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^\s+at /m);
  }
  expect(readFileSync(precious, 'utf8')).toBe('precious');
  expect(await runJson(['keys', 'list'], { folder })).toMatchObject([{ id: made.id, revoked_at: null }]);
});
