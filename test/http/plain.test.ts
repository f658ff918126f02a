import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainRefusal } from '../../src/http/plain.ts';
import { parseAnswers } from '../support/answers.ts';

const isCall = (target: string) => target.startsWith('/v1/');
const refusedUnparsed = (text: string) => plainRefusal(Buffer.from(text, 'latin1'), isCall, () => 'id-1');
const head = (...lines: string[]) => [...lines, '', ''].join('\r\n');

test('one plain request of the API gets a whole 503 that keeps the connection', () => {
  const [answer] = parseAnswers(
    refusedUnparsed(head('GET /v1/usage HTTP/1.1', 'Host: x', 'authorization: Bearer drk_1', 'Accept: */*'))!,
  );
  expect(answer).toMatchObject({ status: 503 });
  expect(JSON.parse(answer!.body)).toMatchObject({
    error: 'overloaded',
    message: expect.any(String),
    detail: null,
    request_id: 'id-1',
  });
  expect(Object.fromEntries(answer!.headers)).toMatchObject({
    'retry-after': '1',
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    connection: 'keep-alive',
    vary: 'Origin, Authorization',
    'x-request-id': 'id-1',
    'x-content-type-options': 'nosniff',
  });
});

const REQUEST = 'GET /v1/usage HTTP/1.1';
test.each([
  ['another method', head('HEAD /v1/usage HTTP/1.1', 'Host: x')],
  ['another path', head('GET /livez HTTP/1.1', 'Host: x')],
  ['another version', head('GET /v1/usage HTTP/1.0', 'Host: x')],
  ['no Host', head(REQUEST, 'Accept: */*')],
  ['two Host', head(REQUEST, 'Host: x', 'Host: y')],
  ['a web page', head(REQUEST, 'Host: x', 'Origin: https://a.example')],
  ['a body', head(REQUEST, 'Host: x', 'Content-Length: 5')],
  ['a coding', head(REQUEST, 'Host: x', 'Transfer-Encoding: chunked')],
  ['an id of its own', head(REQUEST, 'Host: x', 'X-Request-Id: a')],
  ['the wish for a problem', head(REQUEST, 'Host: x', 'Accept: application/problem+json')],
  ['the wish to close', head(REQUEST, 'Host: x', 'Connection: close')],
  ['a folded line', head(REQUEST, 'Host: x', ' y')],
  ['a space before the colon', head(REQUEST, 'Host : x')],
  ['no colon', head(REQUEST, 'Host: x', 'nonsense')],
  ['a control character', head(REQUEST, 'Host: x\u0001')],
  ['a bare line feed', head(REQUEST, 'Host: x\nAccept: */*')],
  ['a space in the target', head('GET /v1/a b HTTP/1.1', 'Host: x')],
  ['a part of a head', `${REQUEST}\r\nHost: x\r\n`],
  ['a second request behind', head(REQUEST, 'Host: x').repeat(2)],
  ['something behind', `${head(REQUEST, 'Host: x')}x`],
  ['a long head', head(REQUEST, 'Host: x', `User-Agent: ${'x'.repeat(3_000)}`)],
  ['nothing', ''],
])('%s is left to the parser', (_what, text) => {
  expect(refusedUnparsed(text)).toBeUndefined();
});

test('whatever the bytes, it answers one whole request or none', () => {
  const part = fc.constantFrom(
    ...[
      'GET ',
      '/v1/x',
      ' HTTP/1.1',
      '\r\n',
      '\n',
      '\r',
      'Host: x',
      ':',
      'Connection: keep-alive',
      ' ',
      'é',
      '\0',
    ],
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 14 }), parts => {
      const text = parts.join('');
      if (refusedUnparsed(text) === undefined) return;
      expect(text).toMatch(/^GET \/v1\/[!-~]+ HTTP\/1\.1\r\n(?:[\w-]+:[\t -~]*\r\n)+\r\n$/);
      expect(text.match(/^Host:/gim)).toHaveLength(1);
    }),
    { numRuns: 20_000 },
  );
});
