/** A server that is told to end while it starts, or whose launcher was killed. */

import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { awaitEnd } from '../../src/commands/ending.ts';
import { CLI, environment, output, read, SECRET, startAs, startChild } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const within10s = async <T>(work: Promise<T>) => {
  const told = performance.now();
  const result = await work;
  expect(performance.now() - told).toBeLessThan(10_000);
  return result;
};

/** No sign of life, and no key that nobody has seen. */
function expectNothingLeft(folder: string, shown: string): void {
  const store = join(folder, 'domain-risk.db');
  expect(read(store, 'SELECT * FROM server')).toEqual([]);
  expect(read(store, 'SELECT * FROM key')).toHaveLength(SECRET.test(shown) ? 1 : 0);
}

test.each([
  ['makes its store', /making a new store/],
  ['listens', /"listening"/],
])(
  'SIGTERM just when it %s: it ends with 0, and leaves no sign of life and no key unseen',
  async (_, moment) => {
    const attempt = async () => {
      const folder = temporaryFolder();
      const started = startChild([process.execPath, CLI, 'serve'], environment(folder, {}));
      await output(started, moment);
      started.child.kill('SIGTERM');
      // One Ctrl-C arrives several times.
      started.child.kill('SIGINT');
      return { folder, started, ended: await within10s(started.exited) };
    };
    let last = await attempt();
    // On a busy machine a start may take longer than there is time to end.
    for (let more = 2; more > 0 && /did not finish/.test(last.started.stdout()); more--)
      last = await attempt();
    const { folder, started, ended } = last;
    expect(ended).toEqual({ code: 0, signal: null });
    // Nobody is invited to a server that is about to end.
    expect(started.stdout()).not.toMatch(/"shutting down".*"listening"/s);
    expectNothingLeft(folder, started.stdout());
  },
);

test('a launcher that was killed takes its server along, which closes its store in order', async () => {
  const folder = temporaryFolder();
  const launcher = `
    process.env.DOMAIN_RISK_LAUNCHER = String(process.pid);
    const child = require('node:child_process').spawn(process.execPath, [${JSON.stringify(CLI)}, 'serve'], { stdio: 'inherit' });
    console.error('server', child.pid);`;
  const server = await startAs([process.execPath, '-e', launcher], { folder });
  const pid = Number(/^server (\d+)$/m.exec(server.stderr())![1]);
  // Its output is closed when the server itself has ended, also where it had to be made to.
  const late = setTimeout(() => process.kill(pid, 'SIGKILL'), 20_000);
  await within10s(server.kill().finally(() => clearTimeout(late)));
  expect(server.stdout()).toContain('the launcher is gone');
  expectNothingLeft(folder, server.stdout());
});

test.each([
  ['nobody', undefined],
  ['another process', `${process.pid}`],
])('a server whose launcher is said to be %s, not the one that started it, goes on', (_, launcher) => {
  vi.stubEnv('DOMAIN_RISK_LAUNCHER', launcher);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });
  const { isAsked } = awaitEnd([], pino({ enabled: false }));
  vi.advanceTimersByTime(60_000);
  expect(isAsked()).toBe(false);
});

test('a body that never ends, a store that is locked and one that does not close leave time to end within 10 s', async () => {
  const service = await startTestService({ hasThreads: true });
  const { secret } = await service.key();
  expect((await service.get('/v1/public/domain/mailinator.com', secret)).status).toBe(200);
  const slow = connect(service.port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void slow.destroy());
  const fields = ['Host: x', `Authorization: Bearer ${secret}`, 'Content-Type: application/json'];
  slow.write(['POST /v1/public/domains HTTP/1.1', ...fields, 'Content-Length: 1000', '', '{'].join('\r\n'));
  const drip = setInterval(() => slow.writable && slow.write(' '), 500);
  onTestFinished(() => clearInterval(drip));
  const other = new DatabaseSync(join(service.folder, 'domain-risk.db'), { timeout: 5_000 });
  other.exec('BEGIN IMMEDIATE');
  const { store } = service;
  const close = vi.spyOn(store, 'close').mockReturnValue(new Promise(() => {}));
  const told = performance.now();
  await service.close();
  // The process needs some time to end, too.
  expect(performance.now() - told).toBeLessThan(9_500);
  other.close();
  close.mockRestore();
  await store.close();
});
