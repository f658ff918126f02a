/** `npm run build:client`: the client as ES modules and as CommonJS, each with its types, into `client/dist`; and its reference. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientApi } from './client-api.ts';

const ROOT = join(import.meta.dirname, '..');
export const CLIENT = join(ROOT, 'client');
const DIST = join(CLIENT, 'dist');
const STAMP = join(DIST, '.built-from');

/** The folder says which kind its files are, so both kinds have plain names. */
const KINDS = [
  { folder: 'esm', module: 'esnext', type: 'module' },
  { folder: 'cjs', module: 'commonjs', type: 'commonjs' },
];

/** The reference, made of the compiled types. */
export function readApi(): string {
  return clientApi(join(DIST, 'esm'));
}

/** Does nothing when what lies there was built from the same files. */
export function buildClient(): void {
  const source = hashOfSource();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === source) return;
  rmSync(DIST, { recursive: true, force: true });
  for (const { folder, module, type } of KINDS) {
    const out = join(DIST, folder);
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, 'package.json'), `{ "type": "${type}", "sideEffects": false }\n`);
    compile(['--module', module, '--outDir', out]);
    for (const file of globSync('*.d.ts', { cwd: out })) nameJavaScript(join(out, file));
  }
  writeFileSync(STAMP, source);
}

function compile(options: readonly string[]): void {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', CLIENT, '--noEmit', 'false', ...options];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The client does not compile:\n${stdout}`);
}

/** The compiler rewrites the names of imported files in code, but not in declarations. */
function nameJavaScript(path: string): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(/(from '\.\/\w+)\.ts'/g, "$1.js'"));
}

function hashOfSource(): string {
  const hash = createHash('sha256');
  const files = ['scripts/build-client.ts', 'client/tsconfig.json'];
  for (const file of [...files, ...globSync('client/src/*.ts', { cwd: ROOT }).sort()]) {
    hash.update(file).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex');
}

if (import.meta.main) {
  buildClient();
  writeFileSync(join(CLIENT, 'API.md'), readApi());
}
