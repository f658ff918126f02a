/** `npm run test:runtimes`: what the client promises, checked in every runtime that it is for; clients that generators make; the recipes. */

import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import type { Outcome } from '../client/runtimes/browser.mjs';
import { loadCatalog, openStore } from '../src/compose.ts';
import { readConfig } from '../src/config.ts';
import { newKey } from '../src/operate.ts';
import { startService } from '../src/service.ts';
import { ACT } from '../test/support/act.ts';
import { type Files, startBadServer } from '../test/support/bad-server.ts';
import { buildClient, CLIENT } from './build-client.ts';
import { installIn } from './install-in.ts';
import { installSystemParts } from './system-parts.ts';
import { testGenerators } from './test-generators.ts';

const RUNTIMES = join(CLIENT, 'runtimes');
const LONGEST_MS = 180_000;
const isArm = process.arch === 'arm64';
const inPackages = (path: string) => join(RUNTIMES, 'node_modules', path);

/** Program and arguments of each; the names of the packages tell the processor. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    [20, 22, 24, 26].map(major => [`Node ${major}`, [inPackages(`node${major}-${process.arch}/bin/node`)]]),
  ),
  Bun: [inPackages(`@oven/bun-linux-${isArm ? 'aarch64' : 'x64-baseline'}/bin/bun`)],
  Deno: [
    inPackages(`@deno/linux-${process.arch}-glibc/deno`),
    ...[
      'run',
      '--no-config',
      '--no-lock',
      '--no-remote',
      '--allow-net=127.0.0.1',
      '--allow-read',
      '--allow-env',
    ],
  ],
};

interface Tools {
  readonly bad: string;
  readonly nobody: string;
  readonly real: { readonly url: string; readonly key: string };
}

/** What pages may load: the built client, the checks, and the recipe with its address and key filled in. */
function filesFor(real: Tools['real']): Files {
  const script = (path: string) => ({ type: 'text/javascript', body: readFileSync(path) });
  return path => {
    const [, module] = /^(?:\/examples)?\/client\/(\w+\.js)$/.exec(path) ?? [];
    if (module) return script(join(CLIENT, 'dist/esm', module));
    if (path === '/suite.mjs' || path === '/worker.mjs') return script(join(RUNTIMES, path));
    if (path === '/page.html') return { type: 'text/html', body: '<!doctype html><title>Checks</title>' };
    if (path !== '/examples/html-form.html') return undefined;
    const body = readFileSync(join(CLIENT, path), 'utf8');
    return {
      type: 'text/html',
      body: body.replace('https://risk.example.com', real.url).replace('drk_…', real.key),
    };
  };
}

async function withService(work: (real: Tools['real']) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-runtimes-'));
  const noDns = { DNS_SERVERS: '127.0.0.1:1', DNS_SENTINELS: '', FEEDS_UPDATE: 'off' };
  const config = readConfig({ PORT: '0', DATA_DIR: folder, ...noDns });
  const store = await openStore(config, error => {
    throw error;
  });
  const log = pino({ level: 'silent' });
  const service = await startService({
    config,
    store,
    catalog: await loadCatalog({ feedsOff: [] }, () => {}),
    clock: Date.now,
    log,
  });
  const { key, secret } = newKey({ name: 'runtimes', quota: 10_000 }, Date.now());
  try {
    await store.createKey(key, ACT);
    await work({ url: `http://127.0.0.1:${service.address.port}`, key: secret });
  } finally {
    await service.close();
    rmSync(folder, { recursive: true });
  }
}

async function runProgram([program = '', ...args]: readonly string[], tools: Tools): Promise<Outcome> {
  const all = [...args, join(RUNTIMES, 'run.mjs'), JSON.stringify(tools)];
  try {
    const { stdout } = await promisify(execFile)(program, all, { cwd: RUNTIMES, timeout: LONGEST_MS });
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  } catch (error) {
    return { passed: 0, failed: [(error as Error).message], latest: 0 };
  }
}

let isGood = true;

function report(name: string, { passed, failed, latest }: Outcome): void {
  const late = latest > 0 ? `, at most ${latest} ms after the timeout` : '';
  process.stdout.write(`${name.padEnd(24)} ${passed} passed, ${failed.length} failed${late}\n`);
  for (const line of failed) process.stdout.write(`    ${line}\n`);
  if (failed.length > 0 || passed === 0) isGood = false;
}

async function runBrowser(tools: Tools): Promise<void> {
  const { findBrowser, runInBrowser } = await import('../client/runtimes/browser.mjs');
  const path = findBrowser();
  if (!path) {
    process.stdout.write('No browser: install chromium-headless-shell or set CHROME_PATH\n');
    if (process.env.CI) isGood = false;
    return;
  }
  const { version, ...outcomes } = await runInBrowser(path, tools);
  for (const [place, outcome] of Object.entries(outcomes))
    report(`Chromium ${version.split('.')[0]} ${place}`, outcome);
}

async function runWorkerd(tools: Tools): Promise<void> {
  const { runInWorkerd } = await import('../client/runtimes/workerd.mjs');
  const program = inPackages(`@cloudflare/workerd-linux-${isArm ? 'arm64' : '64'}/bin/workerd`);
  const { suite, visits } = await runInWorkerd(program, tools);
  report('workerd', suite);
  report('workerd, short visits', visits);
}

await installSystemParts([
  {
    program: 'chromium-headless-shell',
    package: 'chromium-headless-shell',
    tests: 'the client in a browser',
  },
  { program: 'php', package: 'php-cli', tests: 'the callers in PHP' },
  {
    ...{ program: 'php-curl', package: 'php-curl', tests: 'the callers in PHP' },
    // A part of PHP, and no program.
    hasOther: () =>
      spawnSync('php', ['-r', 'exit((int) !extension_loaded("curl"));'], { stdio: 'ignore' }).status === 0,
  },
]);
buildClient();
if (!existsSync(join(RUNTIMES, 'node_modules')))
  process.stdout.write('Installing the runtimes (once, 1.1 GB) …\n');
installIn(RUNTIMES);
await withService(async real => {
  const server = await startBadServer(filesFor(real));
  const tools = { bad: server.base, nobody: server.nobody, real };
  for (const [name, program] of Object.entries(PROGRAMS)) report(name, await runProgram(program, tools));
  await runWorkerd(tools);
  await runBrowser(tools);
  await server.close();
  for await (const [name, outcome] of testGenerators(real)) report(name, outcome);
});
process.stdout.write('Recipes, each with its library, and callers in other languages\n');
process.env.CALLERS = 'all';
const { status } = spawnSync(
  process.execPath,
  [
    join(CLIENT, '../node_modules/vitest/vitest.mjs'),
    'run',
    'test/client/package.test.ts',
    'test/callers.test.ts',
    'test/hooks.test.ts',
  ],
  { cwd: join(CLIENT, '..'), stdio: 'inherit' },
);
process.exit(isGood && status === 0 ? 0 : 1);
