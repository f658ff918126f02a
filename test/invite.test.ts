import { expect, onTestFinished, test, vi } from 'vitest';
import { StoreUnavailable } from '../src/core/ports.ts';
import { createInvite } from '../src/invite.ts';
import { startTestService, type TestService } from './support/service.ts';

const TOKEN = 'token-of-the-tests-0123456789abcdef';
const MINUTE_MS = 60_000;

function open() {
  const time = { now: 5 };
  const invite = createInvite({ ticks: () => time.now });
  onTestFinished(() => invite.close());
  return { time, invite };
}

test('the right code gives the secret, once', () => {
  const { invite } = open();
  const code = invite.offer('secret');
  expect(code).toMatch(/^[\w-]{43}$/);
  expect([invite.take(code)?.secret, invite.take(code)]).toEqual(['secret', undefined]);
});

test('nothing near the code is taken for it, and strangers cannot take the link away by wrong tries', () => {
  const { invite } = open();
  const code = invite.offer('secret');
  const near = code.slice(0, -1) + (code.endsWith('A') ? 'E' : 'A');
  for (let left = 1_000; left > 0; left--) expect(invite.take(left % 2 ? near : '')).toBeUndefined();
  expect(invite.take(code)?.secret).toBe('secret');
});

test.each([
  [10 * MINUTE_MS - 1, 'secret'],
  [10 * MINUTE_MS, undefined],
])('after %i ms the code gives %s', (ms, secret) => {
  const { invite, time } = open();
  const code = invite.offer('secret');
  time.now += ms;
  expect(invite.take(code)?.secret).toBe(secret);
});

test('a second offer takes the place of the first, and no two codes are the same', () => {
  const { invite } = open();
  const [first, second] = [invite.offer('one'), invite.offer('two')];
  expect(first).not.toBe(second);
  expect([invite.take(first), invite.take(second)?.secret]).toEqual([undefined, 'two']);
});

test('what is put back can be taken again, for what was left of its time', () => {
  const { invite, time } = open();
  const code = invite.offer('secret');
  time.now += 9 * MINUTE_MS;
  invite.take(code)!.putBack();
  const again = invite.take(code);
  expect(again?.secret).toBe('secret');
  again!.putBack();
  time.now += MINUTE_MS;
  expect(invite.take(code)).toBeUndefined();
});

const send = ({ base }: TestService, code: string) =>
  fetch(`${base}/welcome`, { method: 'POST', headers: { authorization: `Bearer ${code}` } });

test('over HTTP the link gives key and operator token once, and nothing of it is logged or cached', async () => {
  const service = await startTestService({ env: { ADMIN_TOKEN: TOKEN, ACCESS_LOG: 'all' } });
  const { secret } = await service.key();
  expect((await send(service, 'x'.repeat(43))).status).toBe(401);
  const code = service.invite(secret);
  const response = await send(service, code);
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const given = (await response.json()) as { api_key: string; operator_token: string };
  expect(given.api_key).toBe(secret);
  expect((await service.get('/admin/keys', given.operator_token)).status).toBe(200);
  expect((await service.store.audit(9)).map(({ action, who }) => [action, who])).toContainEqual([
    'operator.add',
    'first',
  ]);
  expect((await send(service, code)).status).toBe(401);
  expect((await service.get('/welcome', code)).status).toBe(405);
  for (const text of [code, secret, given.operator_token])
    expect(service.logged.join('')).not.toContain(text);
});

test('without ADMIN_TOKEN the link gives the key alone', async () => {
  const service = await startTestService();
  const { secret } = await service.key();
  const response = await send(service, service.invite(secret));
  expect(await response.json()).toEqual({ api_key: secret, operator_token: null });
});

test('a link opened while the store is away works when it is back, and wrong codes are one line of the log', async () => {
  const service = await startTestService({ env: { ADMIN_TOKEN: TOKEN } });
  const { secret } = await service.key();
  const code = service.invite(secret);
  const away = vi.spyOn(service.store, 'addOperator').mockRejectedValueOnce(new StoreUnavailable('busy'));
  expect((await send(service, code)).status).toBe(500);
  expect(away).toHaveBeenCalledOnce();
  const response = await send(service, code);
  expect(await response.json()).toMatchObject({ api_key: secret, operator_token: expect.any(String) });
  for (let tries = 0; tries < 5; tries++) expect((await send(service, code)).status).toBe(401);
  const lines = service.logged.filter(line => line.includes('welcome link'));
  // A second one where ten seconds ended in between.
  expect([1, 2]).toContain(lines.length);
  expect(lines.join('')).not.toContain(code);
});
