/** `npm run mutants [files]`: breaks the pure code in one place at a time and tells which breaks no unit test notices. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installIn } from './install-in.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'test', 'mutants');
installIn(folder);

const stryker = join(folder, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
const files = process.argv.slice(2);
const some = files.length > 0 ? ['--mutate', files.join(',')] : [];
const { status } = spawnSync(process.execPath, [stryker, 'run', ...some], { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
