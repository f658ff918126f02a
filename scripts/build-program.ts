/**
 * The program in few pieces, from `src/` into `.program`; does nothing when that is current. What runs from it takes 17 MiB
 * less than from single files (2026-11-19: 679 modules of one dependency alone) and three quarters of the processor time
 * to start (2.0 in place of 2.6 s, 2026-11-16); a thread of the store takes two thirds of it (87 in place of 145 ms).
 */

import { createHash } from 'node:crypto';
import {
  chmodSync,
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

const ROOT = join(import.meta.dirname, '..');
/** Below the folder of our package.json: the program finds its tables and its console by that. */
const FOLDER = join(ROOT, '.program');
const SOURCES = ['package-lock.json', 'scripts/build-program.ts', 'src/**/*.ts', 'client/src/**/*.ts'];
/** A service that began with other sources starts threads of these. */
const KEPT = 3;

/** The folder that has it, named by what it was built of. */
export async function buildProgram(): Promise<string> {
  const folder = programFolder();
  if (!existsSync(folder)) await buildInto(folder);
  return folder;
}

export function programFolder(): string {
  const sum = createHash('sha256');
  for (const file of SOURCES.flatMap(pattern => globSync(pattern, { cwd: ROOT }).sort()))
    sum.update(file).update(readFileSync(join(ROOT, file)));
  return join(FOLDER, sum.digest('hex').slice(0, 16));
}

/** Whole or not at all, since two may build at the same time. */
async function buildInto(folder: string): Promise<void> {
  process.stderr.write('Building the program …\n');
  mkdirSync(FOLDER, { recursive: true });
  const fresh = mkdtempSync(join(FOLDER, 'building-'));
  try {
    const files = (...names: string[]) =>
      Object.fromEntries(names.map(name => [basename(name), join(ROOT, 'src', `${name}.ts`)]));
    const threads = ['workers/serving', 'workers/updating', 'workers/making', 'http/looking'];
    await bundle(fresh, files('cli', ...threads), true);
    await bundle(fresh, files('store/sqlite/worker'), false);
    // Made for its maker alone; whoever may read the sources may start the program.
    chmodSync(fresh, statSync(FOLDER).mode);
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  const byAge = globSync('*', { cwd: FOLDER })
    .map(name => join(FOLDER, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const old of byAge.slice(KEPT)) rmSync(old, { recursive: true, force: true });
}

async function bundle(outDir: string, input: Record<string, string>, codeSplitting: boolean): Promise<void> {
  // Only when something is to be built: loading it takes longer than everything else here.
  const { build } = await import('vite');
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
      emptyOutDir: false,
      minify: false,
      reportCompressedSize: false,
      // What others have written and is in the pieces.
      ...(codeSplitting && { license: { fileName: 'LICENSES.md' } }),
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
