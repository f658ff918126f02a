/**
 * `npm run build:console`: the web console and the API reference, from `console/` into `console/dist`. Does nothing when
 * that is current.
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
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const CONSOLE = join(ROOT, 'console');
const DIST = join(CONSOLE, 'dist');
const STAMP = join(DIST, '.built-from');

/**
 * What the built files depend on. Of the client the console takes the checks of what the service sends; the reference is
 * made of the table of routes.
 */
const SOURCES = [
  'scripts/{build-console,reference,reference-page}.ts',
  'console/package.json',
  'package-lock.json',
  'console/*.html',
  'console/src/**/*.*',
  'client/src/{wire,shape}.ts',
  'src/{core,http}/**/*.ts',
];
const REFERENCE = 'virtual:reference';

async function buildConsole(): Promise<void> {
  const source = hashOfSource();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === source) return;
  process.stderr.write('Building the console …\n');
  const fresh = mkdtempSync(join(CONSOLE, '.building-'));
  try {
    await bundle(fresh);
    replace(fresh);
    writeFileSync(STAMP, source);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function hashOfSource(): string {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap(pattern => globSync(pattern, { cwd: ROOT }).sort())) {
    hash.update(file).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex');
}

async function bundle(outDir: string): Promise<void> {
  // Only when something is to be built: loading these takes longer than everything else here.
  const { build } = await import('vite');
  const { referenceDocument } = await import('./reference.ts');
  const { shownReference } = await import('./reference-page.ts');
  // As it is served: JSON has no place for what only types know.
  const document = JSON.parse(JSON.stringify(referenceDocument()));
  await build({
    root: CONSOLE,
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    publicDir: false,
    // The same whoever builds it: under a test runner NODE_ENV would ask for another kind of build.
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    build: {
      outDir,
      target: ['chrome123', 'firefox121', 'safari17.5'],
      assetsInlineLimit: 0,
      // Pages name what they need, so that it all comes at once; every browser above knows how.
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: { input: [join(CONSOLE, 'index.html'), join(CONSOLE, 'docs.html')] },
    },
    plugins: [
      {
        name: 'reference',
        resolveId: id => (id === REFERENCE ? `\0${REFERENCE}` : undefined),
        load: id =>
          id === `\0${REFERENCE}` ? `export default ${JSON.stringify(shownReference(document))}` : undefined,
      },
      {
        // The first paint waits for the theme that a person chose: no flash of the other one.
        name: 'paint-after-script',
        transformIndexHtml: {
          order: 'post',
          handler: html => html.replace('<script type="module"', '<script type="module" blocking="render"'),
        },
      },
    ],
  });
}

/**
 * File by file, the page last, and what is old goes after that: assets are named by their content, so a second build
 * of the same sources at the same moment, or a service that reads meanwhile, never finds a file missing.
 */
function replace(fresh: string): void {
  const files = globSync('**/*.*', { cwd: fresh }).sort((a, b) => depth(b) - depth(a));
  for (const file of files) {
    mkdirSync(dirname(join(DIST, file)), { recursive: true });
    renameSync(join(fresh, file), join(DIST, file));
  }
  for (const file of globSync('**/*.*', { cwd: DIST })) {
    if (!files.includes(file)) rmSync(join(DIST, file), { force: true });
  }
}

const depth = (file: string) => file.split('/').length;

try {
  await buildConsole();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
