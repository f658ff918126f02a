import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished, test } from 'vitest';
import { breakAndRepair } from '../support/breaking.ts';
import { countOf, hasTool, type Running, read, startServer } from '../support/process.ts';
import { sized } from '../support/scale.ts';

const BROKEN_MS = sized(1_500, 10_000);

function breakStore(server: Running, breakIt: () => void, repair: () => void): Promise<void> {
  const id = String(read(join(server.folder, 'domain-risk.db'), 'SELECT id FROM key')[0]?.id);
  const counted = () => countOf(server.folder, id);
  return breakAndRepair({ server, secret: server.firstKey!, counted, ms: BROKEN_MS, breakIt, repair });
}

test('a store that another process has locked: 500 within a second, alive, not ready, and well again by itself', async () => {
  const server = await startServer();
  const other = new DatabaseSync(join(server.folder, 'domain-risk.db'), { timeout: 5_000 });
  onTestFinished(() => other.close());
  await breakStore(
    server,
    () => other.exec('BEGIN IMMEDIATE'),
    () => other.exec('ROLLBACK'),
  );
});

test.skipIf(!hasTool('prlimit'))(
  'a disk that takes no more: 500 within a second, alive, not ready, and well again by itself',
  async () => {
    const server = await startServer();
    const limit = (size: string) => {
      const { status, stderr } = spawnSync('prlimit', ['--pid', `${server.pid}`, `--fsize=${size}:`], {
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(stderr);
    };
    await breakStore(
      server,
      () => limit('1'),
      () => limit('unlimited'),
    );
  },
);
