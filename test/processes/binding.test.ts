import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { bareEnvironment, LONG_LISTS } from '../support/environment.ts';
import { olderStore } from '../support/older.ts';
import { CLI, NO_DNS, output, startChild } from '../support/process.ts';
import { eventually, pause } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';

async function takePort(): Promise<{ port: number; free: () => Promise<void> }> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const free = () => new Promise<void>(resolve => server.close(() => resolve()));
  onTestFinished(free);
  return { port: (server.address() as { port: number }).port, free };
}

function serveOn(port: number, folder: string) {
  const settings = {
    PORT: String(port),
    DATA_DIR: folder,
    DNS_SERVERS: NO_DNS,
    DNS_SENTINELS: '',
    FEEDS_OFF: LONG_LISTS.join(),
  };
  const started = startChild([process.execPath, CLI, 'serve'], bareEnvironment(settings));
  onTestFinished(() => void started.child.kill('SIGKILL'));
  return started;
}

test('while it starts and changes the form of its store, a caller is told to come again in JSON, who watches sees that it lives, and then all is there', async () => {
  const { port, free } = await takePort();
  await free();
  const path = olderStore();
  // Nothing can change as long as somebody else writes.
  const writer = new DatabaseSync(path);
  onTestFinished(() => writer.close());
  writer.exec('BEGIN IMMEDIATE');
  const server = serveOn(port, dirname(path));
  const statuses: Record<string, number[]> = { '/livez': [], '/readyz': [], '/v1/usage': [] };
  const look = async () => {
    for (const [path, seen] of Object.entries(statuses)) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
      if (!answer) continue;
      const body = (await answer.json()) as { error?: string };
      if (answer.status === 503)
        expect([body.error, answer.headers.get('retry-after')]).toEqual(['not_ready', '1']);
      if (seen.at(-1) !== answer.status) seen.push(answer.status);
    }
    return Object.values(statuses).map(seen => seen.at(-1));
  };
  // All of them: the port may be there, and the start be over, between one question and the next.
  const answered = (...wanted: number[]) => look().then(last => isDeepStrictEqual(last, wanted));
  await eventually('it has its port', () => answered(200, 503, 503));
  // Longer than others wait for a lock. What waits or works on the event loop would keep these from being answered.
  const until = performance.now() + 1_000;
  while (performance.now() < until) {
    await look();
    await pause(20);
  }
  expect(statuses).toEqual({ '/livez': [200], '/readyz': [503], '/v1/usage': [503] });
  writer.exec('ROLLBACK');
  await eventually('it is ready', () => answered(200, 200, 401), 60_000);
  await output(server, /"msg":"listening"/);
  expect(statuses).toEqual({ '/livez': [200], '/readyz': [503, 200], '/v1/usage': [503, 401] });
  const [, copy] = await output(server, /"copy":"([^"]+)"/);
  expect(readdirSync(dirname(path))).toContain(basename(copy!));
});

test('a server that cannot have its port touches no store', async () => {
  const { port } = await takePort();
  const folder = join(temporaryFolder(), 'var');
  const server = serveOn(port, folder);
  const { code } = await server.exited;
  expect([code, server.stderr()]).toEqual([1, expect.stringContaining(`port ${port}`)]);
  await pause(100);
  expect(existsSync(folder)).toBe(false);
});
