/** What npm runs before `npm pack` and `npm publish`: the program and the console, built, so that users need no build tool. */

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import './build-console.ts';
import { buildProgram } from './build-program.ts';

const DIST = join(import.meta.dirname, '..', 'dist');

// A file that is no longer made of any source would be packed too.
rmSync(DIST, { recursive: true, force: true });
cpSync(await buildProgram(), DIST, { recursive: true });
