/**
 * The program in few pieces, from `src/` into `.program`; does nothing when that is current. What runs from it takes 17 MiB
 * less than from single files (2026-11-19: 679 modules of one dependency alone) and three quarters of the processor time
 * to start (2.0 in place of 2.6 s, 2026-11-16); a thread of the store takes two thirds of it (87 in place of 145 ms).
 */

import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Below the folder of our package.json: the program finds its tables and its console by that. */
const FOLDER = join(ROOT, '.program');
const SOURCES = [
  ...['package-lock.json', 'scripts/build-program.ts'],
  ...['src/**/*.ts', 'client/src/**/*.ts', 'data/*.json'],
];
/** A service that began with other sources starts threads of these: it says all the time that it is there (boot.mjs). */
const KEPT = 3;
const DAY_MS = 86_400_000;
const GONE = '.gone';

/** The folder that has it, named by what it was built of. */
export async function buildProgram(): Promise<string> {
  const folder = programFolder();
  if (!existsSync(folder)) await buildInto(folder);
  noteUse(folder);
  return folder;
}

function noteUse(folder: string): void {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch {
    // Another user's, who has built it: nor could this one remove it.
  }
}

const sources = () => SOURCES.flatMap(pattern => globSync(pattern, { cwd: ROOT }).sort());

export function programFolder(): string {
  const sum = createHash('sha256');
  for (const file of sources()) sum.update(file).update(readFileSync(join(ROOT, file)));
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
    const read = [
      ...(await bundle(fresh, files('cli', ...threads), true)),
      ...(await bundle(fresh, files('store/sqlite/worker'), false)),
    ];
    check(read, folder);
    makeLast(fresh);
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  forgetUnused();
}

/** That it was built of what it is named by: other code would stay under that name (2026-11-19). */
function check(read: readonly string[], folder: string): void {
  const counted = new Set(sources());
  const uncounted = read.filter(file => !counted.has(file));
  if (uncounted.length > 0)
    throw new Error(`not among the sources that a build is named by: ${uncounted.join(', ')}`);
  if (programFolder() !== folder) throw new Error('the sources were changed while it was built: start again');
}

/** For whoever may read the sources, and on the disk: after a power cut its name must not stand for empty files. */
function makeLast(folder: string): void {
  const { mode } = statSync(FOLDER);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    chmodSync(path, mode & 0o666);
    sync(path);
  }
  chmodSync(folder, mode);
  sync(folder);
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}

function forgetUnused(): void {
  const unused = readdirSync(FOLDER)
    .map(name => join(FOLDER, name))
    .map(path => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at)
    .filter(({ at }, place) => place >= KEPT && Date.now() - at > DAY_MS);
  for (const { path } of unused) {
    // What is left where this is ended half-way must not have a program's name.
    const gone = path.endsWith(GONE) ? path : path + GONE;
    try {
      if (gone !== path) renameSync(path, gone);
      rmSync(gone, { recursive: true, force: true });
    } catch {
      // Another build is at it, or it is another user's: what was built is there all the same.
    }
  }
}

/** The files of ours that are in it. */
async function bundle(
  outDir: string,
  input: Record<string, string>,
  codeSplitting: boolean,
): Promise<readonly string[]> {
  // Only when something is to be built: loading it takes longer than everything else here.
  const { build } = await import('vite');
  const built = await build({
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
  const chunks = [built].flat().flatMap(one => ('output' in one ? one.output : []));
  const modules = chunks.flatMap(one => (one.type === 'chunk' ? one.moduleIds : []));
  return modules
    .filter(id => id.startsWith(ROOT) && !id.includes('node_modules'))
    .map(id => relative(ROOT, id));
}
