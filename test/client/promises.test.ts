/** P16, and what else the client promises: the checks that every runtime runs, here on the sources. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHECKS } from '../../client/runtimes/suite.mjs';
import { createClient } from '../../client/src/index.ts';
import { type BadServer, startBadServer } from '../support/bad-server.ts';
import { sharedService } from '../support/service.ts';

const service = sharedService();
let bad: BadServer;
let latest = 0;
beforeAll(async () => {
  bad = await startBadServer();
});
afterAll(async () => {
  await bad.close();
  process.stdout.write(`the latest call came ${Math.round(latest)} ms after its timeout (promised: 50)\n`);
});

it('has checks', () => {
  expect(CHECKS.length).toBeGreaterThan(50);
});

for (const { name, run } of CHECKS) {
  it(name, async () => {
    const { secret } = await service().key({ quota: 1000 });
    await run({
      createClient,
      bad: bad.base,
      nobody: bad.nobody,
      real: { url: service().base, key: secret },
      late: milliseconds => {
        latest = Math.max(latest, milliseconds);
      },
    });
  });
}
