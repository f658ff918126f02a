/** Where the local part of an address must never be: logs, metrics, the store with its journal, the audit, answers. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask } from '../support/answers.ts';
import { sharedService } from '../support/service.ts';

const TOKEN = 'token-of-the-tests-0123456789abcdef';
const shared = sharedService({ env: { ACCESS_LOG: 'all', LOG_LEVEL: 'trace', ADMIN_TOKEN: TOKEN } });
const CALLS = 2_400;
/** In every local part, in one of its spellings, and in nothing else. */
const MARK = 'q7zx9k';

const addressOf = (at: number) => {
  const local = `jane${MARK}${at}`;
  switch (at % 8) {
    case 0:
      return `${local}@gmail.com`;
    case 1:
      return `${local}%40mailinator.com`;
    case 2:
      return `info%2B${local}@gmail.com`;
    case 3:
      return `${local}@name-${at % 50}.example-shop.com`;
    case 4:
      return `${local}@bad_name.com`;
    case 5:
      return `%22${local}%22@gmail.com`;
    case 6:
      return `${local}@gmail.con?email=${local}@gmail.com`;
    default:
      return `${local}@gmail.com/${local}`;
  }
};

test('after thousands of calls the local parts are in no log, metric, file, audit or answer', async () => {
  const { base, port, folder, logged, key, store } = shared();
  const { secret } = await key();
  const limited = await key({ quota: 1, rate: 1 });
  const answers: string[] = [];
  const one = async (at: number) => {
    const secretOf = at % 16 === 0 ? limited.secret : at % 17 === 0 ? 'drk_none' : secret;
    const response = await fetch(`${base}/v1/check/${addressOf(at)}`, {
      headers: { authorization: `Bearer ${secretOf}`, referer: `https://a.example/?e=x` },
    });
    answers.push(JSON.stringify([...response.headers]), await response.text());
  };
  for (let at = 0; at < CALLS; at += 50)
    await Promise.all(Array.from({ length: 50 }, (_, more) => one(at + more)));
  answers.push((await ask(port, `/v1/check/${MARK}@gmail.com`, { key: secret, method: 'POST' })).body);
  // Broken HTTP, which Node's parser refuses.
  answers.push(
    (await ask(port, `/v1/check/${MARK}@gmail.com`, { key: secret, headers: ['Bad Header: x'] })).body,
  );
  await store.flag([], '2020-01-01');

  const operator = { headers: [`Authorization: Bearer ${TOKEN}`] };
  const pages = await Promise.all(
    ['/metrics', '/readyz', '/admin/audit', '/admin/infra', '/admin/keys', '/admin/overrides'].map(
      async path => (await ask(port, path, operator)).body,
    ),
  );
  const top = await ask(port, '/v1/public/top-domains?limit=1000', { key: secret });
  const files = readdirSync(folder).map(name => readFileSync(join(folder, name), 'latin1'));
  expect(readdirSync(folder)).toContain('domain-risk.db-wal');
  expect(logged.length).toBeGreaterThan(CALLS);
  expect(pages[0]).toMatch(/route="check".*status="200"|status="200".*route="check"/);
  const places = { logged: logged.join(''), pages: pages.join(''), top: top.body, answers: answers.join('') };
  for (const [place, text] of Object.entries(places))
    expect([place, text.includes(MARK)]).toEqual([place, false]);
  for (const bytes of files) expect(bytes.includes(MARK)).toBe(false);
  // A role word is the local part's: the verdicts that are counted are those of domains.
  expect(pages[0]).not.toMatch(/verdict.*role_account"\} [1-9]/);
});
