/** `npm run package`: the package for users, with the built console and plain JavaScript, and without any build tool. */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bareEnvironment } from '../test/support/environment.ts';

const ROOT = join(import.meta.dirname, '..');
/** What the built package does not need: the console is built already. */
const BUILD_TOOLS = ['preact', 'uplot', 'vite'];
const PARTS = ['bin', 'data', 'console/dist', 'LICENSE', 'README.md', '.env.example'];

interface Manifest {
  readonly version: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/** Of the project's own: what a user installs. */
export function packageManifest(own: Manifest): Manifest {
  const { scripts: _s, devDependencies: _d, overrides: _o, workspaces: _w, files: _f, ...rest } = own;
  const optional = Object.entries(own.optionalDependencies).filter(([name]) => !BUILD_TOOLS.includes(name));
  return {
    ...rest,
    // The launcher brings a newer one where the host's is too old.
    engines: { node: '>=20' },
    optionalDependencies: Object.fromEntries(optional),
    files: ['dist', ...PARTS],
  };
}

/** Gives the path of the file in `into`. */
export function makePackage(into: string): string {
  const staged = mkdtempSync(join(tmpdir(), 'domain-risk-package-'));
  const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  const run = (command: string, args: readonly string[], cwd = ROOT) =>
    execFileSync(command, args, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 2],
      env: bareEnvironment({}),
    });
  try {
    run(process.execPath, ['scripts/build-console.ts']);
    run(process.execPath, [
      ...['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', join(staged, 'dist')],
    ]);
    for (const part of PARTS) cpSync(join(ROOT, part), join(staged, part), { recursive: true });
    writeFileSync(join(staged, 'package.json'), JSON.stringify(packageManifest(own), null, 2));
    mkdirSync(into, { recursive: true });
    run('npm', ['pack', '--loglevel=error', '--pack-destination', into], staged);
    return join(into, `domain-risk-${own.version}.tgz`);
  } finally {
    rmSync(staged, { recursive: true });
  }
}

if (import.meta.main) process.stdout.write(`${makePackage(join(ROOT, 'dist'))}\n`);
