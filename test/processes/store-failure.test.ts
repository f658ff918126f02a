import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { breakAndRepair } from '../support/breaking.ts';
import { countOf, hasTool, type Running, read, startServer } from '../support/process.ts';
import { eventually, pause, sized } from '../support/scale.ts';
import { startTestService } from '../support/service.ts';

const BROKEN_MS = sized(600, 10_000);

/** One server for all of them: it is well again after each. */
let server: Running;
const ends: (() => void | Promise<void>)[] = [];
beforeAll(async () => {
  server = await startServer({ cleanup: end => void ends.push(end) });
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

function breakStore(breakIt: () => void, repair: () => void): Promise<void> {
  const id = String(read(join(server.folder, 'domain-risk.db'), 'SELECT id FROM key')[0]?.id);
  const counted = () => countOf(server.folder, id);
  return breakAndRepair({ server, secret: server.firstKey!, counted, ms: BROKEN_MS, breakIt, repair });
}

const PATH = '/v1/public/domain/gmail.com';

// The first of them: the journal is as long as it was at its longest.
test.skipIf(!hasTool('prlimit'))(
  'a journal that grew beside a long reader until nothing more could be written is emptied once the reader is gone',
  async () => {
    const path = join(server.folder, 'domain-risk.db');
    // The start says in one line what runs, and on what.
    const start = server
      .stdout()
      .split('\n')
      .find(line => line.includes('"listening"'));
    const { version, store, snapshot } = JSON.parse(start!);
    expect([version, store, snapshot]).toEqual([
      expect.stringMatching(/^\d+\.\d+\.\d+/),
      path,
      expect.stringMatching(/^[0-9a-f]{12}/),
    ]);
    expect(server.stderr()).toContain(`making a new store: ${path}\n`);
    const status = async () => (await server.get(PATH, server.firstKey)).status;
    expect(await status()).toBe(200);
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN; SELECT * FROM revision');
    // Room for the file as it is and for some calls in the journal.
    limitFiles(`${statSync(path).size + 200_000}`);
    onTestFinished(() => limitFiles('unlimited'));
    await eventually('nothing more can be counted', async () => (await status()) === 500);
    expect(await status()).toBe(500);
    reader.close();
    await eventually('calls are counted again', async () => (await status()) === 200);
    expect(statSync(`${path}-wal`).size).toBeLessThan(200_000);
  },
);

test('a store that another process has locked: 500 within a second, alive, not ready, and well again by itself', async () => {
  const other = new DatabaseSync(join(server.folder, 'domain-risk.db'), { timeout: 5_000 });
  onTestFinished(() => other.close());
  await breakStore(
    () => other.exec('BEGIN IMMEDIATE'),
    () => other.exec('ROLLBACK'),
  );
});

test.skipIf(!hasTool('prlimit'))(
  'a disk that takes no more: 500 within a second, alive, not ready, and well again by itself',
  async () => {
    await breakStore(
      () => limitFiles('1'),
      () => limitFiles('unlimited'),
    );
  },
);

/** For every file alike: what is beyond it cannot be written. */
function limitFiles(size: string): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', `${server.pid}`, `--fsize=${size}:`], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}

test('a database that is deleted, moved or replaced under a server: 500 at once, not ready, nothing counted into the void', async () => {
  const service = await startTestService();
  const path = join(service.folder, 'domain-risk.db');
  const { key, secret } = await service.key();
  const status = async () => (await service.get(PATH, secret)).status;
  const readiness = async () => (await service.get('/readyz')).status;
  const moved = `${path}.moved`;
  expect(await status()).toBe(200);

  renameSync(path, moved);
  expect(await status()).toBe(500);
  await eventually('not ready', async () => (await readiness()) === 503);
  await expect(service.key()).rejects.toThrow(/deleted or replaced while it was in use: put it back/);
  expect(existsSync(path)).toBe(false);
  renameSync(moved, path);
  expect(await status()).toBe(200);
  await eventually('ready again', async () => (await readiness()) === 200);
  expect(service.logged.some(line => line.includes('deleted or replaced'))).toBe(true);

  // Another file in its place, though it holds the same.
  copyFileSync(path, moved);
  renameSync(path, `${path}.mine`);
  renameSync(moved, path);
  expect(await status()).toBe(500);
  renameSync(`${path}.mine`, path);
  expect(await status()).toBe(200);
  const counted = await service.used(key);

  // The journal holds what is not in the file yet.
  rmSync(`${path}-wal`);
  // It is looked at every 0.1 s, not with every call.
  await pause(110);
  expect(await status()).toBe(500);
  rmSync(path);
  expect(await status()).toBe(500);
  expect(counted).toBeGreaterThanOrEqual(3);
});
