import { expect, test } from 'vitest';
import { ACT } from '../support/act.ts';
import { ask, expectError } from '../support/answers.ts';
import { sharedService } from '../support/service.ts';

const shared = sharedService();
const behindProxy = sharedService({ env: { TRUST_PROXY: '127.0.0.0/8, 10.0.0.0/8, 2001:db8:ffff::/48' } });
const PATH = '/v1/public/domain/gmail.com';

const ALLOWED = [
  'https://app.example.com',
  'http://localhost:3000',
  'https://*.example.org',
  'https://*.example.net:8443',
  'https://xn--mnchen-3ya.de',
];

const ORIGINS: readonly (readonly [string, 200 | 403])[] = [
  ['https://app.example.com', 200],
  ['http://localhost:3000', 200],
  ['https://xn--mnchen-3ya.de', 200],
  ['https://a.example.org', 200],
  ['https://a.b.example.org', 200],
  ['https://a-b.example.org', 200],
  ['https://my_app.example.org', 200],
  ['https://xn--bcher-kva.example.org', 200],
  ['https://a.example.net:8443', 200],
  ['http://app.example.com', 403],
  ['https://app.example.com:443', 403],
  ['https://app.example.com:8443', 403],
  ['https://app.example.com:', 403],
  ['https://app.example.com/', 403],
  ['https://app.example.com/path', 403],
  ['https://app.example.com?x', 403],
  ['https://app.example.com#x', 403],
  ['https://app.example.com.', 403],
  ['https://APP.example.com', 403],
  ['HTTPS://app.example.com', 403],
  ['app.example.com', 403],
  ['//app.example.com', 403],
  ['https:app.example.com', 403],
  ['https://user@app.example.com', 403],
  ['https://app.example.com@evil.io', 403],
  ['https://app.example.com.evil.io', 403],
  ['https://evilapp.example.com', 403],
  ['https://x.app.example.com', 403],
  ['https://example.com', 403],
  ['https://app.example.com, https://app.example.com', 403],
  ['https://app.example.com https://evil.io', 403],
  ['https://evil.io, https://a.example.org', 403],
  ['http://localhost', 403],
  ['http://localhost:3001', 403],
  ['http://localhost:30000', 403],
  ['http://127.0.0.1:3000', 403],
  ['https://example.org', 403],
  ['https://.example.org', 403],
  ['https://a..example.org', 403],
  ['https://*.example.org', 403],
  ['https://evilexample.org', 403],
  ['https://a.example.org.evil.io', 403],
  ['https://evil.io/.example.org', 403],
  ['https://evil.io?.example.org', 403],
  ['https://evil.io#.example.org', 403],
  ['https://evil.io:80@a.example.org', 403],
  ['https://evil.io\\.example.org', 403],
  ['https://a.example.org:443', 403],
  ['https://a.example.org:8443', 403],
  ['http://a.example.org', 403],
  ['https://A.example.org', 403],
  ['https://a%2eexample.org', 403],
  ['https://b\xfccher.example.org', 403],
  ['https://a.example.net', 403],
  ['https://a.example.net:84430', 403],
  ['https://m\xc3\xbcnchen.de', 403],
  ['null', 403],
  ['*', 403],
  ['file://', 403],
  ['undefined', 403],
  ['', 403],
];

test('only an allowed origin passes: scheme, host and port exactly, a wildcard on a label border', async () => {
  const { port, key, used } = shared();
  const { secret, key: record } = await key({ origins: ALLOWED });
  let passed = 0;
  for (const [origin, status] of ORIGINS) {
    const answer = await ask(port, PATH, { key: secret, headers: [`Origin: ${origin}`] });
    expect(answer.status, origin).toBe(status);
    if (status === 200) passed++;
    else {
      const { detail } = expectError(answer, 403, 'forbidden');
      if (/^[ -~]+$/.test(origin)) expect(detail).toContain(JSON.stringify(origin));
    }
  }
  expect(await used(record)).toBe(passed);
});

test('two Origin headers are no origin, whatever their order', async () => {
  const { port, key } = shared();
  const { secret } = await key({ origins: ['https://app.example.com'] });
  const right = 'Origin: https://app.example.com';
  for (const headers of [
    [right, 'Origin: https://evil.io'],
    ['Origin: https://evil.io', right],
    [right, 'origin: https://app.example.com'],
    [right, 'Origin:'],
  ]) {
    expectError(await ask(port, PATH, { key: secret, headers }), 403, 'forbidden');
  }
});

test('a key for origins and a call without Origin is 403, a Referer does not help', async () => {
  const { port, key, used } = shared();
  const { secret, key: record } = await key({ origins: ['https://app.example.com'] });
  const { detail } = expectError(await ask(port, PATH, { key: secret }), 403, 'forbidden');
  expect(detail).toContain('Origin');
  const headers = ['Referer: https://app.example.com/', 'X-Origin: https://app.example.com'];
  expectError(await ask(port, PATH, { key: secret, headers }), 403, 'forbidden');
  expect(await used(record)).toBe(0);
});

test('a key without limits may be used from anywhere, a forged Origin is believed', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  for (const origin of ['https://evil.io', 'null', 'nonsense']) {
    expect((await ask(port, PATH, { key: secret, headers: [`Origin: ${origin}`] })).status).toBe(200);
  }
  const limited = await key({ origins: ['https://app.example.com'] });
  const forged = await ask(port, PATH, { key: limited.secret, headers: ['Origin: https://app.example.com'] });
  expect(forged.status).toBe(200);
});

test('the limit of a key holds on every endpoint, and a hundred wrong calls count nothing', async () => {
  const { port, key, used, get } = shared();
  const { secret, key: record } = await key({ origins: ['https://app.example.com'], quota: 5 });
  for (const target of ['/v1/public/top-domains', '/v1/usage', '/v1/public/domain/bad_name']) {
    const answer = await ask(port, target, { key: secret, headers: ['Origin: https://evil.io'] });
    expectError(answer, 403, 'forbidden');
    expect([...answer.headers.keys()].filter(name => name.includes('ratelimit'))).toEqual([]);
  }
  for (let i = 0; i < 100; i++) {
    expect((await get(PATH, secret, { origin: 'https://evil.io' })).status).toBe(403);
  }
  expect(await used(record)).toBe(0);
});

test('a change of the limits counts from the next request on', async () => {
  const { port, key, store } = shared();
  const { secret, key: record } = await key();
  const headers = ['Origin: https://app.example.com'];
  expect((await ask(port, PATH, { key: secret, headers })).status).toBe(200);
  const elsewhere = { ...record, origins: ['https://other.example.com'] };
  await store.updateKey(elsewhere, record, ACT);
  expect((await ask(port, PATH, { key: secret, headers })).status).toBe(403);
  await store.updateKey({ ...record, origins: ['https://app.example.com'] }, elsewhere, ACT);
  expect((await ask(port, PATH, { key: secret, headers })).status).toBe(200);
});

test('client networks are judged by the address of the socket, whatever a header says', async () => {
  const { port, key, used } = shared();
  const inside = await key({ networks: ['192.0.2.0/24', '127.0.0.0/30'] });
  expect((await ask(port, PATH, { key: inside.secret })).status).toBe(200);
  const outside = await key({ networks: ['192.0.2.0/24', '127.0.0.2/32', '::1/128'] });
  for (const headers of [
    [],
    ['X-Forwarded-For: 192.0.2.1'],
    ['X-Real-IP: 192.0.2.1', 'Forwarded: for=192.0.2.1', 'Client-IP: 192.0.2.1', 'True-Client-IP: 192.0.2.1'],
  ]) {
    const answer = await ask(port, PATH, { key: outside.secret, headers });
    expect(expectError(answer, 403, 'forbidden').detail).toContain('127.0.0.1');
  }
  expect(await used(outside.key)).toBe(0);
});

test('a key limited to origins and networks needs both', async () => {
  const { port, key } = shared();
  const headers = ['Origin: https://app.example.com'];
  const origins = ['https://app.example.com'];
  const both = await key({ origins, networks: ['127.0.0.1/32'] });
  expect((await ask(port, PATH, { key: both.secret, headers })).status).toBe(200);
  expect((await ask(port, PATH, { key: both.secret })).status).toBe(403);
  const elsewhere = await key({ origins, networks: ['192.0.2.0/24'] });
  expect((await ask(port, PATH, { key: elsewhere.secret, headers })).status).toBe(403);
});

/** The right-most address that is not a proxy's: everything left of it may be forged. */
const FORWARDED: readonly (readonly [string[], 200 | 403])[] = [
  [['X-Forwarded-For: 192.0.2.7'], 200],
  [['X-Forwarded-For: 198.51.100.1, 192.0.2.7'], 200],
  [['X-Forwarded-For: 198.51.100.1', 'X-Forwarded-For: 192.0.2.7'], 200],
  [['X-Forwarded-For: 192.0.2.7, 10.1.2.3'], 200],
  [['X-Forwarded-For: 192.0.2.7,10.1.2.3,10.9.9.9'], 200],
  [['X-Forwarded-For: 192.0.2.7, 2001:db8:ffff::1'], 200],
  [['X-Forwarded-For: ::ffff:192.0.2.7'], 200],
  [['X-Forwarded-For: 2001:db8:1::1'], 200],
  [[], 403],
  [['X-Forwarded-For:'], 403],
  [['X-Forwarded-For: 192.0.2.7, 198.51.100.1'], 403],
  [['X-Forwarded-For: 192.0.2.7', 'X-Forwarded-For: 198.51.100.1'], 403],
  [['X-Forwarded-For: 192.0.2.7, 198.51.100.1, 10.1.2.3'], 403],
  [['X-Forwarded-For: 192.0.2.7, unknown'], 403],
  [['X-Forwarded-For: 192.0.2.7, 192.0.2.300'], 403],
  [['X-Forwarded-For: 192.0.2.7:443'], 200],
  [['X-Forwarded-For: 192.0.2.7:https'], 403],
  [['X-Forwarded-For: 10.1.2.3'], 403],
  [['X-Forwarded-For: 127.0.0.1'], 403],
  [['X-Real-IP: 192.0.2.7'], 403],
];

test.each(FORWARDED)('behind a trusted proxy, %j is %i', async (headers, status) => {
  const { port, key } = behindProxy();
  const { secret } = await key({ networks: ['192.0.2.0/24', '2001:db8:1::/48'] });
  expect((await ask(port, PATH, { key: secret, headers })).status).toBe(status);
});

test('the reference tells that an origin stops pages and not programs', async () => {
  const document = (await (await shared().get('/openapi.json')).json()) as {
    paths: Record<string, { get: { responses: Record<string, object> } }>;
    components: { responses: Record<string, { description: string }> };
  };
  const { responses } = document.paths['/v1/public/domain/{domain}']!.get;
  const { $ref = '' } = responses['403'] as { $ref?: string };
  const told = document.components.responses[$ref.split('/').at(-1)!];
  expect(told?.description).toMatch(/program can send any origin/i);
});
