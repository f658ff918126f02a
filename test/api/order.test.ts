import { expect, test, vi } from 'vitest';
import { newKey } from '../../src/operate.ts';
import { ask, askBytes, expectError } from '../support/answers.ts';
import { sharedService } from '../support/service.ts';
import { spendOne } from '../support/spend.ts';

const shared = sharedService();
const ALLOWED = 'https://app.example.com';

type Broken = { key: boolean; origin: boolean; rate: boolean; quota: boolean; domain: boolean };

const COMBINATIONS: Broken[] = Array.from({ length: 32 }, (_, bits) => ({
  key: (bits & 16) > 0,
  origin: (bits & 8) > 0,
  rate: (bits & 4) > 0,
  quota: (bits & 2) > 0,
  domain: (bits & 1) > 0,
}));

function expected(broken: Broken): readonly [number, string] {
  if (broken.key) return [401, 'unauthorized'];
  if (broken.origin) return [403, 'forbidden'];
  if (broken.rate) return [429, 'rate_limited'];
  if (broken.quota) return [429, 'quota_exceeded'];
  if (broken.domain) return [422, 'validation_error'];
  return [200, ''];
}

const named = (broken: Broken) =>
  Object.entries(broken)
    .filter(([, is]) => is)
    .map(([what]) => what)
    .join(', ') || 'nothing';

test.each(COMBINATIONS.map(broken => [named(broken), broken] as const))(
  'bad: %s; the first refusal is given and nothing of a later step happens',
  async (name, broken) => {
    const { port, key, used, dns, questions, store } = shared();
    const quota = broken.rate ? 2 : 1;
    const made = await key({ quota, rate: broken.rate ? 1 : null, origins: [ALLOWED] });
    const right = { key: made.secret, headers: [`Origin: ${ALLOWED}`] };
    // Each of these takes one of the quota, and the first also the one call of this second.
    const spent = (broken.rate ? 1 : 0) + (broken.quota ? 1 : 0);
    for (let i = 0; i < spent; i++) {
      await spendOne(store, { keyId: made.key.id, day: today(), quota }, await store.revision());
    }
    if (broken.rate) await ask(port, '/v1/public/domain/gmail.com', right);
    const usedBefore = await used(made.key);
    const asked = await questions();
    const spend = vi.spyOn(store, 'spend');

    const domain = broken.domain
      ? 'bad_name.com'
      : `order-${name.length}-${Math.random().toString(36).slice(2)}.com`;
    const answer = await ask(port, `/v1/public/domain/${domain}`, {
      key: broken.key ? newKey({ name: 'unknown' }, Date.now()).secret : made.secret,
      headers: [`Origin: ${broken.origin ? 'https://evil.io' : ALLOWED}`],
    });
    const spends = spend.mock.calls.length;
    spend.mockRestore();

    const [status, error] = expected(broken);
    if (status === 200) expect(JSON.parse(answer.body).domain).toBe(domain);
    else expectError(answer, status, error);
    const isCounted = status === 200 || status === 422;
    expect(await used(made.key)).toBe(usedBefore + Number(isCounted));
    if (broken.key || broken.origin || broken.rate) expect(spends).toBe(0);
    expect(dns.asked(domain, 'MX')).toBe(status === 200 ? 1 : 0);
    if (status !== 200) expect(asked()).toEqual([]);
  },
);

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

test('route and method come before the key', async () => {
  const { port } = shared();
  expectError(await ask(port, '/v1/nothing'), 404, 'not_found');
  expectError(await ask(port, '/v1/public/domain/bad_name', { method: 'POST' }), 405, 'method_not_allowed');
});

test('transport comes before the route', async () => {
  const { port } = shared();
  const twice = 'DELETE /v1/nothing HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n';
  expectError(await askBytes(port, twice), 400, 'bad_request');
  expectError(await ask(port, `/v1/nothing?${'a'.repeat(2048)}`, { method: 'PUT' }), 414, 'uri_too_long');
  expectError(await ask(port, '/v1/nothing', { headers: ['Expect: x'] }), 417, 'expectation_failed');
});

test('the domain comes before its option: both are 422, and neither asks DNS', async () => {
  const { port, key, questions } = shared();
  const { secret } = await key();
  const asked = await questions();
  const answer = await ask(port, '/v1/public/domain/bad_name?explain=maybe', { key: secret });
  expect(expectError(answer, 422, 'validation_error').detail).toMatch(/underscore/);
  expect(asked()).toEqual([]);
});
