/** The program and the console, built before the first test: tests start hundreds of processes and threads. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Plugin } from 'vite';
import type { TestProject, VitestPluginContext } from 'vitest/node';
import { buildProgram, programFolder } from '../../scripts/build-program.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** How our code names the program of a thread where it runs from the sources. */
const THREAD = /'\.\/(worker|serving|updating|making|looking)\.ts' :/;

declare module 'vitest' {
  interface ProvidedContext {
    readonly cli: string;
  }
}

/** Vitest calls it once, before the workers start. The console is built beside it: each keeps one core busy only. */
export default async function setup({ provide }: TestProject): Promise<void> {
  const ofConsole = promisify(execFile)(process.execPath, [join(ROOT, 'scripts', 'build-console.ts')]);
  const [built] = await Promise.all([buildProgram(), ofConsole]);
  provide('cli', join(built, 'cli.js'));
}

/** Threads that a test starts by way of our own code run what was built too. */
export function builtThreads() {
  const folder = pathToFileURL(programFolder());
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
