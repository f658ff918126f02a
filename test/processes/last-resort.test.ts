import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { mx, startDns } from '../support/dns.ts';
import { startServer } from '../support/process.ts';
import { eventually } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';

test('after a fault that nobody caught it says so, answers what it took, and ends with 1', async () => {
  const hook = join(temporaryFolder(), 'hook.mjs');
  const fault = "Promise.reject(new Error('a fault on purpose'))";
  writeFileSync(hook, `process.on('SIGUSR2', () => { ${fault}; });\n`);
  const dns = await startDns([
    ['slow.example.com', { records: [mx('slow.example.com', 10, 'mx.example.com')], fault: { slow: 500 } }],
  ]);
  onTestFinished(() => dns.close());
  const env = { NODE_OPTIONS: `--import ${hook}`, DNS_SERVERS: dns.address };
  const server = await startServer({ env });
  const taken = server.get('/v1/public/domain/slow.example.com', server.firstKey);
  await eventually('the question is out', () => dns.asked('slow.example.com') > 0);
  server.signal('SIGUSR2');
  await eventually('the fault is told', () => server.stdout().includes('a fault on purpose'));
  const response = await taken;
  expect([response.status, await response.json()]).toMatchObject([200, { domain: 'slow.example.com' }]);
  const ended = await server.exited;
  expect(ended).toEqual({ code: 1, signal: null });
  const fatal = server
    .stdout()
    .split('\n')
    .find(line => line.includes('a fault on purpose'));
  expect(JSON.parse(fatal!)).toMatchObject({ level: 60, err: { message: 'a fault on purpose' } });
});
