/** What `npm start` builds of a clone, and starts. */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bareEnvironment } from './support/environment.ts';
import { ROOT } from './support/process.ts';
import { temporaryFolder } from './support/service.ts';

const DAY_MS = 86_400_000;

/** With what a build reads. */
function cloned(): string {
  const folder = temporaryFolder();
  for (const path of [
    'package.json',
    'package-lock.json',
    'scripts',
    'src',
    'client/src',
    'data',
    'console/package.json',
  ])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  for (const path of [
    'node_modules',
    'console/dist',
    'console/src',
    'console/index.html',
    'console/docs.html',
  ])
    symlinkSync(join(ROOT, path), join(folder, path));
  return folder;
}

function build(folder: string, umask = '022') {
  const command = `umask ${umask} && exec "$0" "$1"`;
  const args = ['-c', command, process.execPath, join(folder, 'scripts/build.ts')];
  return promisify(execFile)('sh', args, { env: bareEnvironment({}), cwd: folder });
}

/** Another user than the one who runs this, where there is a choice. */
const NOBODY = process.getuid?.() === 0 ? 65_534 : process.getuid!();

test('the program is built once, for all who may read the sources, and stays while it is used', async () => {
  const folder = cloned();
  const program = join(folder, '.program');
  mkdirSync(program);
  chmodSync(program, 0o755);
  const before = (name: string, days: number) => {
    mkdirSync(join(program, name));
    const at = new Date(Date.now() - days * DAY_MS);
    utimesSync(join(program, name), at, at);
  };
  for (const name of ['building-left', 'unused']) before(name, 40);
  for (const name of ['in-use', 'used-too', 'used-as-well']) before(name, 0.1);
  const { stdout: cli } = await build(folder, '077');
  const built = dirname(cli);
  const modes = [built, ...readdirSync(built).map(name => join(built, name))].map(
    path => statSync(path).mode & 0o777,
  );
  expect(new Set(modes)).toEqual(new Set([0o755, 0o644]));
  const kept = [basename(built), 'in-use', 'used-too', 'used-as-well'];
  expect(readdirSync(program).sort()).toEqual(kept.sort());
  const old = new Date(Date.now() - 9 * DAY_MS);
  utimesSync(built, old, old);
  expect(await build(folder)).toMatchObject({ stdout: cli, stderr: '' });
  expect(Date.now() - statSync(built).mtimeMs).toBeLessThan(DAY_MS);

  // Settings of whoever owns the clone, whoever was the first to start it.
  const env = join(folder, '.env');
  writeFileSync(env, 'PORT=8123\n', { mode: 0o600 });
  for (const path of [env, join(folder, 'package.json')]) chownSync(path, NOBODY, NOBODY);
  const shown = await promisify(execFile)(process.execPath, [cli, 'config'], {
    env: bareEnvironment({ DOMAIN_RISK_ENV_FILE: env }),
  });
  expect(shown.stdout).toMatch(/PORT +8123 /);

  // A table that is part of it, and sources of another version before its build is done.
  const table = join(folder, 'data/role-mailboxes.json');
  writeFileSync(table, readFileSync(table, 'utf8').replace('"automated": [', '"automated": ["zzdesk", '));
  const building = build(folder);
  await once(building.child.stderr!, 'data');
  appendFileSync(join(folder, 'src/cli.ts'), '\n');
  expect(await building).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('the sources were changed while it was built: start again'),
  });
  expect(readdirSync(program).sort()).toEqual(kept);
});

test('where it cannot be built the reason is told, and that it starts from its sources', async () => {
  const folder = cloned();
  writeFileSync(join(folder, '.program'), '');
  const { stdout, stderr } = await build(folder);
  expect(stdout).toBe('');
  expect(stderr).toMatch(
    /EEXIST.*\ndomain-risk: the program could not be built .*: it starts from its sources\n$/,
  );
});
