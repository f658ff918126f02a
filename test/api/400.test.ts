import { expect, test } from 'vitest';
import { ask, askBytes, expectError, parseAnswers } from '../support/answers.ts';
import { rawRequest, sharedService } from '../support/service.ts';

const shared = sharedService();
const lines = (...text: string[]) => text.map(line => `${line}\r\n`).join('');

/** None of these may be understood in two ways by two programs on the way (RFC 9112 11.2). */
const MALFORMED: readonly (readonly [string, string])[] = [
  [
    'Content-Length and Transfer-Encoding',
    lines(
      'POST /livez HTTP/1.1',
      'Host: x',
      'Content-Length: 6',
      'Transfer-Encoding: chunked',
      '',
      '0',
      '',
      'X',
    ),
  ],
  [
    'two Content-Length that differ',
    lines('GET /livez HTTP/1.1', 'Host: x', 'Content-Length: 0', 'Content-Length: 5', '', 'hello'),
  ],
  [
    'two Content-Length that agree',
    lines('GET /livez HTTP/1.1', 'Host: x', 'Content-Length: 5', 'Content-Length: 5', '', 'hello'),
  ],
  [
    'Content-Length with a list',
    lines('GET /livez HTTP/1.1', 'Host: x', 'Content-Length: 5, 5', '', 'hello'),
  ],
  ['negative Content-Length', lines('GET /livez HTTP/1.1', 'Host: x', 'Content-Length: -1', '')],
  ['Content-Length in hex', lines('GET /livez HTTP/1.1', 'Host: x', 'Content-Length: 0x5', '', 'hello')],
  [
    'Content-Length beyond 64 bits',
    lines('GET / HTTP/1.1', 'Host: x', `Content-Length: ${'9'.repeat(30)}`, ''),
  ],
  [
    'Transfer-Encoding that does not end in chunked',
    lines('GET /livez HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked, identity', '', '0', ''),
  ],
  ['a bare LF in the head', 'GET /livez HTTP/1.1\nHost: x\n\n'],
  ['a bare LF between headers', 'GET /livez HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n'],
  ['a bare CR in a value', 'GET /livez HTTP/1.1\r\nHost: x\r\nX-A: b\rc\r\n\r\n'],
  ['a folded header', lines('GET /livez HTTP/1.1', 'Host: x', 'X-A: b', ' c', '')],
  ['a space before the colon', lines('GET /livez HTTP/1.1', 'Host : x', '')],
  ['a space before the first header', 'GET /livez HTTP/1.1\r\n Host: x\r\n\r\n'],
  ['no colon', lines('GET /livez HTTP/1.1', 'Host: x', 'nonsense', '')],
  ['NUL in a value', 'GET /livez HTTP/1.1\r\nHost: x\r\nX-A: \0\r\n\r\n'],
  ['an empty header name', lines('GET /livez HTTP/1.1', 'Host: x', ': b', '')],
  ['two Host', lines('GET /livez HTTP/1.1', 'Host: x', 'Host: y', '')],
  ['two equal Host', lines('GET /livez HTTP/1.1', 'Host: x', 'host: x', '')],
  ['no Host', lines('GET /livez HTTP/1.1', 'Connection: close', '')],
  ['no Host at a path of the API', lines('GET /v1/usage HTTP/1.1', 'Connection: close', '')],
  ['no Host at no path', lines('GET /nothing HTTP/1.1', 'Connection: close', '')],
  ['two Host at the reference', lines('GET /docs HTTP/1.1', 'Host: x', 'Host: y', 'Connection: close', '')],
  ['an unknown method', lines('BREW /livez HTTP/1.1', 'Host: x', '')],
  ['a method in lower case', lines('get /livez HTTP/1.1', 'Host: x', '')],
  ['no version', lines('GET /livez', 'Host: x', '')],
  ['an unknown version', lines('GET /livez HTTP/3.7', 'Host: x', '')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['a space in the target', lines('GET /livez /x HTTP/1.1', 'Host: x', '')],
  [
    'a byte above 127 in the target',
    lines('GET /v1/public/domain/m\xc3\xbcnchen.de HTTP/1.1', 'Host: x', ''),
  ],
  ['no target', lines('GET  HTTP/1.1', 'Host: x', '')],
  ['a target that is not a path', lines('GET livez HTTP/1.1', 'Host: x', 'Connection: close', '')],
  ['a target of another scheme', lines('GET ftp://x/livez HTTP/1.1', 'Host: x', 'Connection: close', '')],
  ['a host as target', lines('GET x:443 HTTP/1.1', 'Host: x', 'Connection: close', '')],
  ['an asterisk as target of GET', lines('GET * HTTP/1.1', 'Host: x', 'Connection: close', '')],
  ['CONNECT', lines('CONNECT x:443 HTTP/1.1', 'Host: x:443', '')],
  ['CONNECT with a path', lines('CONNECT /livez HTTP/1.1', 'Host: x', '')],
];

/** What to fix, where the parser knows. */
const FIX: Readonly<Record<string, RegExp>> = {
  'two Content-Length that agree': /Content-Length once/,
  'Content-Length and Transfer-Encoding': /not both/,
  'a bare LF in the head': /CR LF/,
  'a bare LF between headers': /CR LF/,
  'a bare CR in a value': /CR LF/,
  'a folded header': /begins with a space/,
  'NUL in a value': /control character/,
  'a TLS hello': /TLS/,
  'a byte above 127 in the target': /percent-encode/,
};

test.each(MALFORMED)(
  '%s is 400 in JSON that says what to fix, and the connection ends',
  async (what, bytes) => {
    const before = performance.now();
    const { detail } = expectError(await askBytes(shared().port, bytes), 400, 'bad_request');
    expect(detail).toMatch(FIX[what] ?? /\w{3}/);
    expect(performance.now() - before).toBeLessThan(2_500);
  },
);

test('no control character in a header passes, and none ends the service', async () => {
  const { port } = shared();
  for (let code = 0; code < 0x20; code++) {
    if (code === 0x09) continue;
    const bytes = `GET /v1/usage HTTP/1.1\r\nHost: x\r\nConnection: close\r\nOrigin: a${String.fromCharCode(code)}b\r\n\r\n`;
    expectError(await askBytes(port, bytes), 400, 'bad_request');
  }
  for (const value of ['a\tb', 'a\x7fb', 'a\x80b', 'a\xffb', '\xc3\xbc']) {
    const answer = await ask(port, '/v1/usage', { headers: [`Origin: ${value}`] });
    expect([400, 401], JSON.stringify(value)).toContain(answer.status);
  }
  expect((await ask(port, '/livez')).status).toBe(200);
});

test('what the parser refuses has what every answer of the API has, as far as it can be told', async () => {
  const { port } = shared();
  const origin = 'Origin: https://app.example.com';
  const twice = ['Content-Length: 1', 'Content-Length: 1', ''];
  const refused = await askBytes(port, lines('GET /v1/usage HTTP/1.1', 'Host: x', origin, ...twice));
  expectError(refused, 400, 'bad_request');
  expect(refused.headers.get('vary')).toBe('Origin, Authorization');
  expect(refused.headers.get('x-content-type-options')).toBe('nosniff');
  expect(refused.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
  expect(refused.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
  // Nothing of the request can become another header of the answer.
  const split = lines('GET /v1/usage HTTP/1.1', 'Host: x', 'Origin: a\nX-Split: b', ...twice);
  const answer = await askBytes(port, split);
  expect([answer.status, answer.headers.has('x-split')]).toEqual([400, false]);
  expect(answer.headers.has('access-control-allow-origin')).toBe(false);
  const head = lines('HEAD /v1/usage HTTP/1.1', 'Host: x', `X-A: ${'a'.repeat(9_000)}`, '');
  const [text, body] = (await rawRequest(port, head)).split('\r\n\r\n');
  expect([text!.slice(0, 12), body]).toEqual(['HTTP/1.1 431', '']);
});

test('behind a GET with a small body nothing is taken for a request', async () => {
  const inner = lines('GET /v1/usage HTTP/1.1', 'Host: x', '');
  const bytes =
    lines('GET /livez HTTP/1.1', 'Host: x', `Content-Length: ${inner.length}`, '') +
    inner +
    lines('GET /readyz HTTP/1.1', 'Host: x', 'Connection: close', '');
  const answers = parseAnswers(await rawRequest(shared().port, bytes));
  expect(answers.map(({ status, body }) => [status, JSON.parse(body).status])).toEqual([
    [200, 'alive'],
    [200, 'ready'],
  ]);
});

test.each([
  ['large', lines('GET /livez HTTP/1.1', 'Host: x', 'Content-Length: 100000', '', 'x'.repeat(2000))],
  [
    'chunked',
    lines('GET /livez HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked', '', '5', 'hello', '0', ''),
  ],
])('behind a GET with a %s body the connection ends', async (_kind, bytes) => {
  const answers = parseAnswers(
    await rawRequest(shared().port, bytes + lines('GET /readyz HTTP/1.1', 'Host: x', '')),
  );
  expect(answers).toHaveLength(1);
  expect(answers[0]!.status).toBe(200);
  expect(answers[0]!.headers.get('connection')).toBe('close');
});

test('an absolute-form target is routed by its path', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  for (const start of ['http://x', 'HTTP://user@x:1', 'https://other.example']) {
    const found = await ask(port, `${start}/v1/public/domain/gmail.com?explain=false`, { key: secret });
    expect(JSON.parse(found.body).domain).toBe('gmail.com');
    expectError(await ask(port, `${start}/nothing`), 404, 'not_found');
    expect((await ask(port, start)).headers.get('content-type')).toContain('text/html');
  }
});

test('an Upgrade is not followed: the request is answered as it is', async () => {
  for (const protocol of ['h2c', 'websocket']) {
    const bytes = lines(
      'GET /livez HTTP/1.1',
      'Host: x',
      'Connection: Upgrade, close',
      `Upgrade: ${protocol}`,
      '',
    );
    expect((await askBytes(shared().port, bytes)).status).toBe(200);
  }
});

test('an expectation is 417, and nothing is counted', async () => {
  const { port, key, used } = shared();
  const made = await key();
  for (const expectation of ['100-continue', 'something-else']) {
    const answer = await ask(port, '/v1/public/domain/gmail.com', {
      key: made.secret,
      headers: [`Expect: ${expectation}`, 'Content-Length: 3', 'Origin: https://a.example'],
    });
    expectError(answer, 417, 'expectation_failed');
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://a.example');
  }
  expect(await used(made.key)).toBe(0);
});

test('a target of more than 2,048 characters is 414, and nothing is counted', async () => {
  const { port, key, used } = shared();
  const made = await key();
  const path = '/v1/public/domain/gmail.com?x=';
  const longest = path + 'a'.repeat(2048 - path.length);
  expect((await ask(port, longest, { key: made.secret })).status).toBe(200);
  for (const target of [`${longest}a`, `/v1/public/domain/${'a'.repeat(6000)}`, `/${'a'.repeat(2048)}`]) {
    expectError(await ask(port, target, { key: made.secret }), 414, 'uri_too_long');
  }
  expectError(await ask(port, `/docs?${'a'.repeat(2048)}`), 414, 'uri_too_long');
  expect(await used(made.key)).toBe(1);
});

test('a head of more than 8 KiB is 431', async () => {
  const { port } = shared();
  expectError(await ask(port, '/livez', { headers: [`X-A: ${'a'.repeat(9000)}`] }), 431, 'headers_too_large');
  const many = Array.from({ length: 1000 }, (_, at) => `X-${at}: abcdef`);
  expectError(await ask(port, '/livez', { headers: many }), 431, 'headers_too_large');
  expect((await ask(port, '/livez', { headers: [`X-A: ${'a'.repeat(6000)}`] })).status).toBe(200);
});

test('a target that is longer than a whole head may be is refused in JSON too', async () => {
  const answer = await ask(shared().port, `/${'a'.repeat(20_000)}`);
  expect([414, 431]).toContain(answer.status);
  expectError(answer, answer.status, answer.status === 414 ? 'uri_too_long' : 'headers_too_large');
});

test('a head that does not come is 408 in JSON', async () => {
  const { port } = shared();
  const answers = await Promise.all([
    askBytes(port, 'GET /livez HTTP/1.1\r\nHost: x\r\n', 20_000),
    askBytes(port, 'GET /v1/us', 20_000),
  ]);
  for (const answer of answers) expectError(answer, 408, 'request_timeout');
});

test('an answer that is on its way is not replaced by the refusal of what follows it', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  const bytes = `${lines('GET /v1/public/domain/gmail.com HTTP/1.1', 'Host: x', `Authorization: Bearer ${secret}`, '')}nonsense\r\n\r\n`;
  const [first] = parseAnswers(await rawRequest(port, bytes));
  expect(first?.status).toBe(200);
});

test('a connection ends after its thousandth answer, and what was sent behind is not counted', async () => {
  const { port, key, used } = shared();
  const { secret, key: record } = await key();
  const call = lines(
    'GET /v1/public/domain/gmail.com HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${secret}`,
    '',
  );
  const before = performance.now();
  const answers = parseAnswers(await rawRequest(port, call.repeat(1_030), 20_000));
  expect(performance.now() - before).toBeLessThan(19_000);
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 1_000 }, () => 200));
  expect(answers.at(-1)!.headers.get('connection')).toBe('close');
  expect(await used(record)).toBe(1_000);
});
