/** What `npm start` builds, where it is not current: the console and the program, whose place it prints. */

import { join } from 'node:path';
import { buildProgram } from './build-program.ts';

const [program] = await Promise.allSettled([buildProgram(), import('./build-console.ts')]);

if (process.exitCode === 1)
  process.stderr.write(
    'domain-risk: the console could not be built (see above): the service starts all the same\n',
  );
if (program.status === 'fulfilled') process.stdout.write(join(program.value, 'cli.js'));
else
  process.stderr.write(
    `${program.reason}\ndomain-risk: the program could not be built (see above): it starts from its sources\n`,
  );
