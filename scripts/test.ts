/** `npm test`: system parts that some tests need, the console, types, style, tests. Stops at the first step that fails. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBrowser } from '../client/runtimes/browser.mjs';
import { installSystemParts } from './system-parts.ts';

const SYSTEM_PARTS = [
  { program: 'knotd', package: 'knot', tests: 'the resolver against a real DNS server' },
  { program: 'strace', package: 'strace', tests: 'fsync before the answer' },
  {
    program: 'chromium-headless-shell',
    package: 'chromium-headless-shell',
    tests: 'the console in a browser',
    hasOther: () => findBrowser() !== undefined,
  },
];

const root = join(import.meta.dirname, '..');
const bin = (name: string) => join(root, 'node_modules', name);

async function run(args: readonly string[]): Promise<boolean> {
  const [code] = await once(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }), 'exit');
  return code === 0;
}

async function step(name: string, args: readonly string[]): Promise<void> {
  process.stdout.write(`\n${name}\n`);
  if (await run(args)) return;
  process.stdout.write(`\nnpm test: ${name} failed\n`);
  process.exit(1);
}

// Meanwhile the rest is done; the tests that need these come last.
const installed = installSystemParts(SYSTEM_PARTS);
await step('Console', [join(root, 'scripts/build-console.ts')]);
await step('Types', [bin('typescript/bin/tsc'), '--noEmit']);
await step('Types of the console', [bin('typescript/bin/tsc'), '-p', 'console']);
await step('Style', [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.']);

const folder = mkdtempSync(join(tmpdir(), 'domain-risk-report-'));
const report = join(folder, 'report.json');
process.stdout.write('\nTests\n');
const passed = await run([
  bin('vitest/vitest.mjs'),
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
]);
await installed;
const counts = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {};
rmSync(folder, { recursive: true });
process.stdout.write(`\n${counts.numPassedTests ?? 0} passed, ${counts.numFailedTests ?? 0} failed\n`);
process.exit(passed && counts.numPassedTests > 0 ? 0 : 1);
