import { expect, test } from 'vitest';
import { ask, expectError } from '../support/answers.ts';
import { sharedService, watchAsked } from '../support/service.ts';

const shared = sharedService();

const NOWHERE = [
  '/v1',
  '/v1/',
  '/v2/public/domain/gmail.com',
  '/v1/public',
  '/v1/public/',
  '/v1/public/domain',
  '/v1/public/domains/gmail.com',
  '/v1/public/domain/gmail.com/',
  '/v1/public/domain/gmail.com/x',
  '/v1/public/domain//gmail.com',
  '/v1/public/domain/../usage',
  '/v1/public/domain/gmail.com/..',
  '/v1/public/domain/gmail.com/../yahoo.com',
  '/v1/public/../usage',
  '/v1/./usage',
  '/../v1/usage',
  '/v1/%2e%2e/v1/usage',
  '/v1/%2E/usage',
  '/v1%2Fusage',
  '/v1/public%2Fdomain/gmail.com',
  '/v1/public/domain%2Fgmail.com',
  '/v1/public\\domain\\gmail.com',
  '/v1/public%5Cdomain/gmail.com',
  '/v1/public/domain;x=1/gmail.com',
  '/v1/usage;x=1',
  '/v1/us%61ge',
  '/v1/usage%20',
  '/v1/usage%00',
  '/v1/usage/',
  '/v1//usage',
  '//v1/usage',
  '///',
  '/V1/usage',
  '/v1/Usage',
  '/v1/usage.json',
  '/v1/usage/x',
  '/v1/check',
  '/v1/check/gmail.com/',
  '/v1/public/domains/',
  '/v1/public/top-domains/',
  '/v1/public/top-domains/x',
  '/livez/',
  '/readyz/',
  '/metrics/',
  '/openapi.json/',
  '/openapi.yaml',
  '/docs/',
  '/docs/nothing',
  '/docs.html',
  '/docs/../package.json',
  '/docs/%2e%2e/package.json',
  '/docs/..\\package.json',
  '/docs/%zz',
  '/docsx',
  '/index.html',
  '/favicon.ico',
  '/.env',
  '/.git/config',
  '/admin',
  '/admin/',
  '/admin/keys',
  '/admin/keys/key_1',
  '/admin/keys/key_1/rotate',
  '/admin/overrides',
  '/admin/feeds',
  '/admin/infra',
  '/admin/audit',
  '/console',
  '/src/cli.ts',
  '/etc/passwd',
  '/__proto__',
  '/constructor',
  '/%',
  '/%E0%A4%A',
  '/%00',
];

test.each(NOWHERE)('%s is 404, with a key and without', async target => {
  const { port, key, used } = shared();
  const made = await key();
  const answer = await ask(port, target, { key: made.secret });
  expectError(answer, 404, 'not_found');
  expect(answer.headers.has('location')).toBe(false);
  expectError(await ask(port, target), 404, 'not_found');
  expect(await used(made.key)).toBe(0);
});

test('where no ADMIN_TOKEN is set nothing below /admin takes a method or a body', async () => {
  for (const [method, path] of [
    ['POST', '/admin/keys'],
    ['PATCH', '/admin/keys/key_1'],
    ['PUT', '/admin/overrides/example.com'],
    ['DELETE', '/admin/overrides/example.com'],
    ['POST', '/admin/infra/mx.example.com/forget'],
    ['OPTIONS', '/admin/keys'],
  ] as const) {
    const headers = ['Content-Type: application/json', 'Content-Length: 12', 'Authorization: Bearer '];
    const answer = await ask(shared().port, path, { method, headers, body: '{"name":"x"}' });
    expectError(answer, 404, 'not_found');
  }
});

const API = ['/v1/public/domain/gmail.com', '/v1/public/domain/', '/v1/public/top-domains', '/v1/usage'];
const OTHER = ['/livez', '/readyz', '/metrics', '/openapi.json', '/', '/docs'];
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE', 'LINK'];

test.each(API)('%s is for GET, HEAD and OPTIONS only', async target => {
  const { port, key, used } = shared();
  const made = await key();
  for (const method of METHODS) {
    const answer = await ask(port, target, { method, key: made.secret, headers: ['Content-Length: 0'] });
    expectError(answer, 405, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect(answer.body).not.toContain(made.secret);
  }
  expect(await used(made.key)).toBe(0);
});

test.each(OTHER)('%s is for GET and HEAD only', async target => {
  for (const method of [...METHODS, 'OPTIONS']) {
    const answer = await ask(shared().port, target, { method, headers: ['Content-Length: 0'] });
    expectError(answer, 405, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  }
  const head = await ask(shared().port, target, { method: 'HEAD' });
  expect([head.status, head.body]).toEqual([200, '']);
});

test('a body of any kind and size makes no difference to a 405 or a 404', async () => {
  const { port } = shared();
  for (const [target, status, error] of [
    ['/v1/usage', 405, 'method_not_allowed'],
    ['/docs', 405, 'method_not_allowed'],
    ['/v1/nothing', 404, 'not_found'],
  ] as const) {
    for (const [type, body] of [
      ['application/json', '{broken'],
      ['application/json', '{"__proto__":{"polluted":1}}'],
      ['text/plain', 'x'.repeat(5_000)],
      ['multipart/form-data', ''],
      ['nonsense', 'x'],
    ]) {
      const headers = [`Content-Type: ${type}`, `Content-Length: ${body!.length}`];
      expectError(await ask(port, target, { method: 'POST', headers, body: body! }), status, error);
    }
  }
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

test.each(API)(
  'the preflight of %s is 204 before the key, allows Authorization, and asks nothing',
  async target => {
    const { port, key, used, store, questions } = shared();
    const made = await key({ quota: 1, origins: ['https://other.example'] });
    const inDns = await questions();
    const asked = watchAsked(store);
    const headers = [
      'Origin: https://app.example.com',
      'Access-Control-Request-Method: GET',
      'Access-Control-Request-Headers: authorization',
    ];
    for (const sent of [headers, [], [...headers, `Authorization: Bearer ${made.secret}`]]) {
      for (let i = 0; i < 50; i++) {
        const answer = await ask(port, target, { method: 'OPTIONS', headers: sent });
        expect([answer.status, answer.body]).toEqual([204, '']);
        expect(answer.headers.get('access-control-allow-headers')).toMatch(/\bauthorization\b/i);
        expect(answer.headers.get('access-control-allow-methods')).toMatch(/\bGET\b/);
        expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
        if (sent.length > 0)
          expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
      }
    }
    expect([asked(), inDns()]).toEqual([[], []]);
    expect(await used(made.key)).toBe(0);
  },
);

test('OPTIONS of a path that is not there is 404', async () => {
  expectError(await ask(shared().port, '/v1/nothing', { method: 'OPTIONS' }), 404, 'not_found');
});
