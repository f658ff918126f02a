/**
 * The program in few pieces, built before the first test: a process starts from it in three quarters of the processor time
 * that it takes from the sources (2.0 in place of 2.6 s, 2026-11-16), a thread of the store in two thirds (87 in place of
 * 145 ms, 2026-11-17), and tests start hundreds of both.
 */

import { execFile } from 'node:child_process';
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
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build, type Plugin } from 'vite';
import type { TestProject, VitestPluginContext } from 'vitest/node';

const ROOT = join(import.meta.dirname, '..', '..');
/** Below the folder of our package.json: the program finds its tables and its console by that. */
const FOLDER = join(ROOT, 'test', '.program');
const SOURCES = ['package-lock.json', 'test/support/program.ts', 'src/**/*.ts', 'client/src/**/*.ts'];

/** How our code names the program of a thread where it runs from the sources. */
const THREAD = /'\.\/(worker|serving|updating|making|looking)\.ts' :/;

/** A run that began with other sources may still use what was built of them. */
const LONGEST_RUN_MS = 3_600_000;

declare module 'vitest' {
  interface ProvidedContext {
    readonly cli: string;
  }
}

/** Vitest calls it once, before the workers start. The console is built beside it: each keeps one core busy only. */
export default async function setup({ provide }: TestProject): Promise<void> {
  const built = builtFolder();
  const ofConsole = promisify(execFile)(process.execPath, [join(ROOT, 'scripts', 'build-console.ts')]);
  await Promise.all([ofConsole, existsSync(built) || buildInto(built)]);
  provide('cli', join(built, 'cli.js'));
}

/** Threads that a test starts by way of our own code run what was built too. */
export function builtThreads() {
  const folder = pathToFileURL(builtFolder());
  return {
    name: 'built-threads',
    enforce: 'pre',
    // Vitest keeps what is made of a file from run to run: by its text alone threads ran what was built of other sources.
    configureVitest({ defineCacheKeyGenerator }: VitestPluginContext) {
      defineCacheKeyGenerator(({ sourceCode }) => (THREAD.test(sourceCode) ? folder.href : null));
    },
    transform(code, id) {
      if (!id.startsWith(join(ROOT, 'src/'))) return undefined;
      return code.replace(THREAD, (_, name: string) => `'${folder}/${name}.js' :`);
    },
  } satisfies Plugin & { configureVitest(context: VitestPluginContext): void };
}

function builtFolder(): string {
  return join(FOLDER, digestOfSources());
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
  const files = (...names: string[]) =>
    Object.fromEntries(names.map(name => [basename(name), join(ROOT, 'src', `${name}.ts`)]));
  await bundle(
    outDir,
    files('cli', 'workers/serving', 'workers/updating', 'workers/making', 'http/looking'),
    true,
  );
  await bundle(outDir, files('store/sqlite/worker'), false);
  try {
    renameSync(outDir, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(outDir, { recursive: true });
  }
  for (const old of globSync('*', { cwd: FOLDER }).map(name => join(FOLDER, name)))
    if (Date.now() - statSync(old).mtimeMs > LONGEST_RUN_MS) rmSync(old, { recursive: true, force: true });
}

function bundle(outDir: string, input: Record<string, string>, codeSplitting: boolean) {
  return build({
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
      emptyOutDir: false,
      minify: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input,
        // An optional part of pg that is not installed.
        external: ['pg-native'],
        // All in one folder, where threads look for their programs.
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', codeSplitting },
      },
    },
  });
}
