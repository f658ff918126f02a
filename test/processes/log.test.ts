import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { CLI, makeKey, NO_DNS, startChild } from '../support/process.ts';
import { eventually } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

test('a log that cannot be written takes neither answers nor the clean end away', async () => {
  const folder = temporaryFolder();
  const { key } = await makeKey(folder);
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    PORT: `${port}`,
    DATA_DIR: folder,
    DNS_SERVERS: NO_DNS,
    ACCESS_LOG: 'all',
  };
  const command = `exec "${process.execPath}" "${CLI}" serve > /dev/full`;
  const { child, exited } = startChild(['sh', '-c', command], env);
  onTestFinished(() => void child.kill('SIGKILL'));
  const base = `http://127.0.0.1:${port}`;
  const ask = () =>
    fetch(`${base}/v1/public/domain/gmail.com`, { headers: { authorization: `Bearer ${key}` } }).then(
      response => response.status,
      () => 0,
    );
  await eventually('it answers', async () => (await ask()) === 200);
  for (let i = 0; i < 20; i++) expect(await ask()).toBe(200);
  child.kill('SIGTERM');
  expect(await exited).toEqual({ code: 0, signal: null });
});
