/** A server that is told to end while it starts, or whose launcher was killed. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CLI, environment, output, read, SECRET, startAs, startChild } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

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
    const folder = temporaryFolder();
    const started = startChild([process.execPath, CLI, 'serve'], environment(folder, {}));
    await output(started, moment);
    started.child.kill('SIGTERM');
    expect(await within10s(started.exited)).toEqual({ code: 0, signal: null });
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
