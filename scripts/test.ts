/** `npm test`: system parts that some tests need, types, style, tests. Stops at the first step that fails. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Programs that only some tests need, with the Debian package that has them. */
const SYSTEM_PARTS = [
  { program: 'knotd', package: 'knot', tests: 'the resolver against a real DNS server' },
  { program: 'strace', package: 'strace', tests: 'fsync before the answer' },
];

const root = join(import.meta.dirname, '..');
const bin = (name: string) => join(root, 'node_modules', name);

function has(program: string): boolean {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.some(folder => existsSync(join(folder, program)));
}

function run(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { cwd: root, stdio: 'inherit' }).status === 0;
}

function step(name: string, args: readonly string[]): void {
  process.stdout.write(`\n${name}\n`);
  if (run(process.execPath, args)) return;
  process.stdout.write(`\nnpm test: ${name} failed\n`);
  process.exit(1);
}

/** As root on Debian they are installed; elsewhere a line says what will not run, and with CI set that fails. */
function installSystemParts(): void {
  const missing = SYSTEM_PARTS.filter(part => !has(part.program));
  if (missing.length > 0 && process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    const names = missing.map(part => part.package);
    process.stdout.write(`Installing ${names.join(', ')} for some of the tests …\n`);
    const quiet = ['-qq', '-o', 'Dpkg::Use-Pty=0'];
    // knot starts a server of its own on installation where an init system runs; tests start theirs on loopback.
    process.env.DEBIAN_FRONTEND = 'noninteractive';
    if (run('apt-get', ['update', ...quiet])) {
      run('apt-get', ['install', '-y', '--no-install-recommends', ...quiet, ...names]);
    }
  }
  for (const part of missing) {
    if (!has(part.program)) process.stdout.write(`NOT RUN: ${part.tests} (${part.program} is missing)\n`);
  }
}

installSystemParts();
step('Types', [bin('typescript/bin/tsc'), '--noEmit']);
step('Style', [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.']);

const folder = mkdtempSync(join(tmpdir(), 'domain-risk-report-'));
const report = join(folder, 'report.json');
process.stdout.write('\nTests\n');
const passed = run(process.execPath, [
  bin('vitest/vitest.mjs'),
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
]);
const counts = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {};
rmSync(folder, { recursive: true });
process.stdout.write(`\n${counts.numPassedTests ?? 0} passed, ${counts.numFailedTests ?? 0} failed\n`);
process.exit(passed && counts.numPassedTests > 0 ? 0 : 1);
