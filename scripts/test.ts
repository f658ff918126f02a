/** `npm test`: system parts that some tests need, types, style, tests. Ends when types or style are wrong. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBrowser } from '../client/runtimes/browser.mjs';
import { installSystemParts } from './system-parts.ts';

const SYSTEM_PARTS = [
  { program: 'knotd', package: 'knot', tests: 'the resolver against a real DNS server' },
  { program: 'strace', package: 'strace', tests: 'fsync before the answer, what a call asks of the system' },
  { program: 'curl', package: 'curl', tests: 'the commands of the documents' },
  {
    program: 'chromium-headless-shell',
    package: 'chromium-headless-shell',
    tests: 'the console in a browser',
    hasOther: () => findBrowser() !== undefined,
  },
];

const root = join(import.meta.dirname, '..');
const bin = (name: string) => join(root, 'node_modules', name);

interface Step {
  readonly name: string;
  readonly args: readonly string[];
}

/** All at once, since each keeps one core busy only; what they say comes in their order. Whether all are good. */
async function runAll(...steps: readonly Step[]): Promise<boolean> {
  const running = steps.map(async ({ name, args }) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    const [code] = await once(child, 'close');
    return { name, said, isGood: code === 0 };
  });
  for (const step of running) {
    const { name, said, isGood } = await step;
    process.stdout.write(`\n${name}\n${said}`);
    if (isGood) continue;
    process.stdout.write(`\nnpm test: ${name} failed\n`);
    return false;
  }
  return true;
}

/** Several would each find out the same about what they share: 8 in place of 19 s of processor time (2026-11-17). */
const ONE_AT_A_TIME = ['--checkers', '1'];
// Meanwhile the rest is done; the tests that need these come last.
const installed = installSystemParts(SYSTEM_PARTS);
// Beside the tests too, of which the first ones wait for most of their time.
const checked = runAll(
  { name: 'Types', args: [bin('typescript/bin/tsc'), '--noEmit', ...ONE_AT_A_TIME] },
  { name: 'Types of the console', args: [bin('typescript/bin/tsc'), '-p', 'console', ...ONE_AT_A_TIME] },
  { name: 'Style', args: [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.'] },
);

/** `statfs` of what is kept in memory (linux/magic.h). */
const TMPFS = 0x01021994;
const MEMORY = '/dev/shm';

/** Stores that live for a second each need no disk: without its waits the tests take 334 in place of 375 s (2026-11-17). */
function isRoomy(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { type, bavail, bsize } = statfsSync(folder);
  return type === TMPFS && bavail * bsize >= 4 * 2 ** 30;
}

process.env.TMPDIR ??= isRoomy(MEMORY) ? MEMORY : tmpdir();
const folder = mkdtempSync(join(tmpdir(), 'domain-risk-report-'));
const report = join(folder, 'report.json');
process.stdout.write('\nTests\n');
const tests = spawn(
  process.execPath,
  [
    bin('vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
);
const ended = once(tests, 'exit');
const areGood = await checked;
if (!areGood) tests.kill();
const [code] = await ended;
await installed;
const counts = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {};
rmSync(folder, { recursive: true });
process.stdout.write(`\n${counts.numPassedTests ?? 0} passed, ${counts.numFailedTests ?? 0} failed\n`);
process.exit(areGood && code === 0 && counts.numPassedTests > 0 ? 0 : 1);
