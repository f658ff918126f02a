/** Runs the checks in Node, Bun or Deno on the built package: `run.mjs <tools as JSON>`; the last line is the outcome. */

import { createRequire } from 'node:module';
import process from 'node:process';
import { createClient } from '../dist/esm/index.js';
import { runAll } from './suite.mjs';

const unhandled = [];
process.on('unhandledRejection', error => unhandled.push(`unhandled rejection: ${error}`));

const required = createRequire(import.meta.url)('../dist/cjs/index.js');
const outcome = await runAll({ createClient, ...JSON.parse(process.argv[2]) });
if (typeof required.createClient !== 'function') outcome.failed.push('require() does not give createClient');
outcome.failed.push(...unhandled);
console.log(JSON.stringify(outcome));
process.exit(0);
