/** `npm run chaos`: the promises at their full size. Prints its seed; `SEED=n npm run chaos` replays it. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const seed = process.env.SEED ?? String(Date.now() % 2 ** 31);
/** With what else has a full form. */
const ALL = ['test/processes', 'test/api/local-parts.test.ts', 'test/store/postgres.test.ts'];
const wanted = process.argv.slice(2);
process.stdout.write(`SEED=${seed}\n`);
const { status } = spawnSync(
  process.execPath,
  // One file at a time: what is measured is the service, not how the files disturb each other.
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--no-file-parallelism',
    ...(wanted.length > 0 ? wanted : ALL),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, CHAOS: '1', SEED: seed } },
);
process.stdout.write(`SEED=${seed}\n`);
process.exit(status ?? 1);
