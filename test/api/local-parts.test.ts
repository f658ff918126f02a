/** Where the local part of an address must never be: logs, metrics, the store with its journal, the audit, answers. */

import { expect, test } from 'vitest';
import { ask } from '../support/answers.ts';
import { callWithLocalParts, everywhere, MARK } from '../support/local-parts.ts';
import { sized } from '../support/scale.ts';
import { sharedService } from '../support/service.ts';

const TOKEN = 'token-of-the-tests-0123456789abcdef';
const shared = sharedService({ env: { ACCESS_LOG: 'all', LOG_LEVEL: 'trace', ADMIN_TOKEN: TOKEN } });
const CALLS = sized(5_000, 10_000);

test(`after ${CALLS} calls the local parts are in no log, metric, file, audit or answer`, async () => {
  const { port, folder, logged, key, store } = shared();
  const callers = {
    port,
    secret: (await key()).secret,
    limited: (await key({ quota: 1, rate: 1 })).secret,
  };
  const { secret } = callers;
  let answers = await callWithLocalParts(callers, CALLS);
  expect(answers.split('HTTP/1.1 ')).toHaveLength(CALLS + 1);
  for (const status of [200, 401, 404, 422, 429]) expect(answers).toContain(`HTTP/1.1 ${status} `);
  answers += (await ask(port, `/v1/check/${MARK}@gmail.com`, { key: secret, method: 'POST' })).body;
  // Broken HTTP, which Node's parser refuses.
  answers += (await ask(port, `/v1/check/${MARK}@gmail.com`, { key: secret, headers: ['Bad Header: x'] }))
    .body;
  await store.flag([], '2020-01-01');

  expect(logged.length).toBeGreaterThan(CALLS);
  const places = await everywhere({ ...callers, token: TOKEN, folder, logged: logged.join(''), answers });
  expect(Object.keys(places)).toEqual(expect.arrayContaining(['domain-risk.db', 'domain-risk.db-wal']));
  expect(places['/metrics']).toMatch(/route="check".*status="200"|status="200".*route="check"/);
  for (const [place, text] of Object.entries(places))
    expect([place, text.includes(MARK)]).toEqual([place, false]);
  // A role word is the local part's: the verdicts that are counted are those of domains.
  expect(places['/metrics']).not.toMatch(/verdict.*role_account"\} [1-9]/);
});
