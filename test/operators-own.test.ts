/** What is the operator's own, settings and store, is out of reach for every test, script and benchmark. */

import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { resolveConfig } from 'vite';
import { expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../src/settings.ts';
import { bareEnvironment } from './support/environment.ts';
import { ROOT, startChild } from './support/process.ts';
import { full } from './support/scale.ts';
import { temporaryFolder } from './support/service.ts';

/** A store that must not be touched: a folder that is not there, and a database that notices whoever comes. */
async function startTrap() {
  const folder = temporaryFolder();
  const visits: string[] = [];
  const database = createServer(socket => {
    visits.push('visited');
    socket.destroy();
  });
  await new Promise<void>(resolve => database.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void database.close());
  const { port } = database.address() as { port: number };
  const settings = {
    DATA_DIR: join(folder, 'var'),
    DATABASE_URL: `postgres://trap:trap@127.0.0.1:${port}/trap`,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  writeFileSync(join(folder, '.env'), lines.join('\n'));
  return { folder, settings, isTouched: () => visits.length > 0 || existsSync(settings.DATA_DIR) };
}

/** By `scripts/boot.mjs`, as npm does it, in a folder that holds the operator's `.env`. */
async function boot(cwd: string, args: readonly string[], env: Record<string, string>) {
  const command = [process.execPath, join(ROOT, 'scripts/boot.mjs'), ...args];
  const started = startChild(command, bareEnvironment({ ...env, NO_COLOR: '1' }), cwd);
  const { code } = await started.exited;
  return { code, said: started.stdout() + started.stderr() };
}

const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--root', ROOT];
/** It sets an override by the command line. */
const WRITER = ['test/commands/usage.test.ts', '-t', 'whoever has read enough'];

test('a test that writes does so beside the store that .env, DATA_DIR and DATABASE_URL name', async () => {
  const trap = await startTrap();
  const { code, said } = await boot(trap.folder, [...VITEST, ...WRITER], trap.settings);
  expect([code, said]).toEqual([0, expect.stringContaining('1 passed')]);
  expect(trap.isTouched()).toBe(false);
});

// In the full form only: what takes the settings out is seen below without another run of vitest.
test.runIf(full)('so it is where vitest is started by hand', async () => {
  const trap = await startTrap();
  const [program, ...args] = VITEST;
  const command = [process.execPath, join(ROOT, program!), ...args, ...WRITER];
  const started = startChild(command, bareEnvironment({ ...trap.settings, NO_COLOR: '1' }), trap.folder);
  const { code } = await started.exited;
  expect([code, started.stdout() + started.stderr()]).toEqual([0, expect.stringContaining('1 passed')]);
  expect(trap.isTouched()).toBe(false);
});

/** What is a setting among the names that a program prints. */
const ALL_TRAPPED = Object.fromEntries(
  [...Object.keys(SETTINGS), 'PGSSLMODE', 'PGOPTIONS'].map(name => [name, 'trap']),
);
const settingsIn = (said: string) =>
  (JSON.parse(said.trim().split('\n').at(-1)!) as string[]).filter(name => name in ALL_TRAPPED);
const PRINT = 'process.stdout.write(JSON.stringify(Object.keys(process["env"])));';

test('a script that npm starts sees no setting at all', async () => {
  const folder = temporaryFolder();
  const script = join(folder, 'print.mjs');
  writeFileSync(script, PRINT);
  const { code, said } = await boot(folder, [relative(ROOT, script)], ALL_TRAPPED);
  expect([code, settingsIn(said)]).toEqual([0, []]);
});

const CONFIGS = globSync('vitest*.config.ts', { cwd: ROOT });

test.each(CONFIGS)('nor does a test where vitest is started by hand, with %s', async name => {
  const code = `await import(${JSON.stringify(join(ROOT, name))}); ${PRINT}`;
  const command = [process.execPath, '--input-type=module', '-e', code];
  const started = startChild(command, bareEnvironment(ALL_TRAPPED));
  expect(await started.exited).toEqual({ code: 0, signal: null });
  expect(settingsIn(started.stdout())).toEqual([]);
});

test('whatever builds with vite does so without the .env of its folder', () => {
  const files = globSync(['{test,scripts,bench,console}/**/*.{ts,mjs}'], {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '.program/**'],
  });
  const builders = files.filter(file => /from 'vite';/.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(builders.length).toBeGreaterThan(2);
  for (const file of builders) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    if (/\bbuild\(|defineConfig\(/.test(text))
      expect([file, text.includes('envDir: false')]).toEqual([file, true]);
  }
});

test.each(CONFIGS)('%s takes nothing of the .env in its own folder over', async name => {
  const root = temporaryFolder();
  writeFileSync(join(root, '.env'), 'VITE_TRAP=trap\n');
  const { env } = await resolveConfig({ root, configFile: join(ROOT, name) }, 'serve');
  expect([env.MODE, env.VITE_TRAP]).toEqual(['development', undefined]);
});

test('mutants are made in a folder that is neither the store nor kept', async () => {
  const { default: stryker } = await import(join(ROOT, 'stryker.config.mjs'));
  const isIgnored = readFileSync(join(ROOT, '.gitignore'), 'utf8').includes(`\n${stryker.tempDirName}/\n`);
  const inStore = relative(SETTINGS.DATA_DIR.fallback, stryker.tempDirName);
  expect([isIgnored, inStore.startsWith('..')]).toEqual([true, true]);
});

test('the command line reads .env of the folder that it is called in, settings only: nothing there is run', async () => {
  const folder = temporaryFolder();
  const [file, trap, own] = ['.env', 'trap.cjs', 'own'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(trap, 'console.log("trapped");');
  writeFileSync(file, `NODE_OPTIONS=--require=${trap}\nDATA_DIR=${own}\nHOST=::1\n`);
  const { code, said } = await boot(folder, ['src/cli.ts', 'config'], { HOST: '127.0.0.2' });
  const store = `store: ${own}/domain-risk.db`;
  expect([code, said]).toEqual([0, expect.stringContaining(store)]);
  expect(said).not.toContain('trapped');
  expect(said).toContain(`NODE_OPTIONS in ${file} is no setting and is ignored: set it in the environment`);
  expect(said).toMatch(new RegExp(`DATA_DIR +${own} +${file}\n`));
  expect(said).toMatch(/HOST +127\.0\.0\.2 +environment\n/);
});

test('no test starts the command line where it would read the .env of this clone', () => {
  const [folder, other] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(other, '.env'), '');
  for (const program of ['scripts/boot.mjs src/cli.ts serve', `${ROOT}/bin/domain-risk.mjs serve`]) {
    for (const cwd of [ROOT, folder])
      expect(() => startChild(['/bin/true', program], {}, cwd)).toThrow('.env of whoever tests');
    expect(() => startChild(['/bin/true', program], {}, other)).not.toThrow();
  }
});

test('no test, script or benchmark passes its own environment on, or makes a configuration of it', () => {
  const files = globSync(['{test,bench,scripts}/**/*.{ts,mjs}', 'client/runtimes/*.mjs'], {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '.program/**'],
  });
  expect(files.length).toBeGreaterThan(100);
  const found = files.filter(file =>
    /\.\.\.process\.env|(?<!Object\.assign)[(,:=]\s*process\.env\s*[,;)}]/.test(
      readFileSync(join(ROOT, file), 'utf8'),
    ),
  );
  expect(found.sort()).toEqual([
    // Is itself started with an environment that was made for it.
    'bench/overload-server.ts',
    // Takes the settings out.
    'scripts/boot.mjs',
    // Starts vitest, which takes them out, and apt.
    'scripts/chaos.ts',
    'scripts/system-parts.ts',
  ]);
});
