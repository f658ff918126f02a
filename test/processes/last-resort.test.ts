import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

test('after a fault that nobody caught it says so, answers what it took, and ends with 1', async () => {
  const hook = join(temporaryFolder(), 'hook.mjs');
  const fault = "Promise.reject(new Error('a fault on purpose'))";
  writeFileSync(hook, `process.on('SIGUSR2', () => { ${fault}; });\n`);
  const server = await startServer({ env: { NODE_OPTIONS: `--import ${hook}` } });
  server.signal('SIGUSR2');
  const ended = await server.exited;
  expect(ended).toEqual({ code: 1, signal: null });
  const fatal = server
    .stdout()
    .split('\n')
    .find(line => line.includes('a fault on purpose'));
  expect(JSON.parse(fatal!)).toMatchObject({ level: 60, err: { message: 'a fault on purpose' } });
});
