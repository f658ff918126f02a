/**
 * The program in one piece, built before the first test: a process starts from it in three quarters of the processor time
 * that it takes from the sources (2.0 in place of 2.6 s, 2026-11-16), and tests start hundreds.
 */

import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';

const ROOT = join(import.meta.dirname, '..', '..');
/** Below the folder of our package.json: the program finds its tables and its console by that. */
const FOLDER = join(ROOT, 'test', '.program');
const SOURCES = ['package-lock.json', 'test/support/program.ts', 'src/**/*.ts', 'client/src/**/*.ts'];

/** A run that began with other sources may still use what was built of them. */
const LONGEST_RUN_MS = 3_600_000;

declare module 'vitest' {
  interface ProvidedContext {
    readonly cli: string;
  }
}

/** Vitest calls it once, before the workers start. */
export default async function setup({ provide }: TestProject): Promise<void> {
  const built = join(FOLDER, digestOfSources());
  if (!existsSync(built)) await buildInto(built);
  provide('cli', join(built, 'cli.js'));
}

function digestOfSources(): string {
  const sum = createHash('sha256');
  for (const file of SOURCES.flatMap(pattern => globSync(pattern, { cwd: ROOT }).sort()))
    sum.update(file).update(readFileSync(join(ROOT, file)));
  return sum.digest('hex').slice(0, 16);
}

/** Whole or not at all, since test runs may start at the same time. */
async function buildInto(folder: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const outDir = mkdtempSync(join(FOLDER, 'building-'));
  await build({
    root: ROOT,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      target: 'node24',
      outDir,
      minify: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: {
          cli: join(ROOT, 'src/cli.ts'),
          worker: join(ROOT, 'src/store/sqlite/worker.ts'),
          serving: join(ROOT, 'src/workers/serving.ts'),
          updating: join(ROOT, 'src/workers/updating.ts'),
          making: join(ROOT, 'src/workers/making.ts'),
        },
        // An optional part of pg that is not installed.
        external: ['pg-native'],
        // All in one folder, where threads look for their programs.
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
  try {
    renameSync(outDir, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(outDir, { recursive: true });
  }
  for (const old of globSync('*', { cwd: FOLDER }).map(name => join(FOLDER, name)))
    if (Date.now() - statSync(old).mtimeMs > LONGEST_RUN_MS) rmSync(old, { recursive: true, force: true });
}
