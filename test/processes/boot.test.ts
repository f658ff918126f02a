import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT, type Running, read, startAs } from '../support/process.ts';
import { eventually } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';

/** What `npm start` runs, with a Node and an npm that must not be needed: everything is installed already. */
async function npmStart(folder: string, through: readonly string[] = []): Promise<Running> {
  const bin = join(temporaryFolder(), 'bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, 'node'));
  writeFileSync(join(bin, 'npm'), '#!/bin/sh\necho "npm was called: $*" >&2\nexit 1\n', { mode: 0o755 });
  const { start } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts;
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  // In a folder with settings of its own: those of this clone are the operator's.
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, '.env'), '', { mode: 0o600 });
  symlinkSync(join(ROOT, 'scripts'), join(cwd, 'scripts'));
  const started = await startAs([...through, '/bin/sh', '-c', start], { folder, env, cwd });
  const servers = childrenOf(started.pid);
  onTestFinished(() => {
    for (const pid of servers.filter(isAlive)) process.kill(pid, 'SIGKILL');
  });
  return started;
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

test('npm start twice from one folder: one key, two ports, both answer, and a signal or Ctrl-C ends them cleanly', async () => {
  const folder = temporaryFolder();
  const first = await npmStart(folder);
  const second = await npmStart(folder, ['setsid']);
  const secret = first.firstKey!;
  expect(secret).toBeDefined();
  expect(second.firstKey).toBeUndefined();
  expect(second.port).not.toBe(first.port);
  for (const server of [first, second]) {
    expect((await server.get('/v1/public/domain/gmail.com', secret)).status).toBe(200);
  }
  expect(read(join(folder, 'domain-risk.db'), 'SELECT id FROM key')).toHaveLength(1);

  // The line that the first start printed works as pasted.
  const curl = /curl -H "Authorization: (Bearer \S+)" (\S+)/.exec(first.stdout())!;
  const answer = await fetch(curl[2]!, { headers: { authorization: curl[1]! } });
  expect(await answer.json()).toMatchObject({ domain: 'gmail.com', reason: 'safe' });

  const servers = childrenOf(first.pid);
  expect(servers).toHaveLength(1);
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  expect(servers.filter(isAlive)).toEqual([]);
  expect((await second.get('/v1/public/domain/gmail.com', secret)).status).toBe(200);

  // In a terminal it reaches every process of the group.
  const [child] = childrenOf(second.pid);
  process.kill(-second.pid, 'SIGINT');
  expect(await second.exited).toEqual({ code: 0, signal: null });
  await eventually('the server is gone', () => !isAlive(child!));
  expect(second.stdout().match(/shutting down/g)).toHaveLength(1);
});

test('a bad start ends with the code of the server', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  await expect(npmStart(file)).rejects.toThrow(/ended with 1[\s\S]*set DATA_DIR/);
});
