/**
 * What npm runs before `npm pack` and `npm publish`: the program as plain JavaScript (Node strips no types below
 * `node_modules`) and the console, both built, so that users need no build tool.
 */

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

// What npm pack says on stdout is the name of its file alone.
function run(...args: string[]): void {
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
}

run('scripts/build-console.ts');
// A file that is no longer made of any source would be packed too.
rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
