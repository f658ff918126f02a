/** Requests of every kind as bytes, by the seed alone: plain calls of the API, odd ones, broken ones. */

import { pick, type Random, upTo } from './scale.ts';

const LOOKUP = '/v1/public/domain/';
const NAMES = [
  'gmail.com',
  'mailinator.com',
  'GMAIL.com',
  'gmail.com.',
  'no-such-name.com',
  'mail.yopmail.com',
];
const ODD_TARGETS = [
  ...['', '-', 'x', 'a..b', 'gmail.com/', 'gmail%2ecom', 'b%C3%BCcher.de', 'a@gmail.com', 'gmail.com#x'],
  ...['gmail.com?explain=true', 'gmail.com?', 'gmail.com?explain=no', '_dmarc.gmail.com', 'a'.repeat(300)],
].map(segment => LOOKUP + segment);
const OTHER_TARGETS = [
  ...['/livez', '/v1/public/top-domains?limit=0', '/nothing', '*', 'http://a/livez'],
  `http://a${LOOKUP}gmail.com`,
];
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST', 'get', 'GE T', 'CONNECT'];
const VERSIONS = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1'];

/** Fields that the lane knows. */
const plainFields = (random: Random, authorizations: readonly string[]): string[] =>
  [
    'Host: a',
    random() < 0.9 ? `Authorization: ${pick(random, authorizations)}` : undefined,
    random() < 0.5 ? 'User-Agent: check/1.0 (any; thing)' : undefined,
    random() < 0.5
      ? pick(random, ['Accept: */*', 'accept: application/json', 'Accept: application/problem+json'])
      : undefined,
    random() < 0.2 ? 'Accept-Encoding: gzip, br' : undefined,
    random() < 0.1 ? 'Accept-Language: de, en;q=0.5' : undefined,
    random() < 0.2
      ? pick(random, ['Origin: https://app.example.com', 'Origin: https://b.example', 'Origin: null'])
      : undefined,
    random() < 0.1 ? 'X-Forwarded-For: 10.0.0.1, 10.0.0.2' : undefined,
    random() < 0.1 ? 'sec-fetch-mode: cors' : undefined,
    random() < 0.2
      ? pick(random, ['X-Request-Id: order-1', 'X-Request-Id: a b', 'x-request-id: ÿ'])
      : undefined,
    random() < 0.1 ? 'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' : undefined,
    random() < 0.3 ? pick(random, ['Connection: keep-alive', 'Connection: Keep-Alive']) : undefined,
  ].filter(line => line !== undefined);

/** Each with the body that it announces, be it sent or not. */
const ODD_FIELDS: readonly (readonly [line: string, body?: string])[] = [
  ...([
    ['Connection: close'],
    ['Connection: keep-alive, te'],
    ['Connection: upgrade'],
    ['Upgrade: h2c'],
  ] as const),
  ...([
    ['Host: b'],
    ['Host:'],
    ['Host : a'],
    [' Host: a'],
    ['Accept:'],
    ['Accept:*/*'],
    ['Accept:  */*  '],
  ] as const),
  ...([
    ['Accept:\t*/*'],
    ['Accept: a\r\n b'],
    ['Accept: a\n'],
    ['Accept: a\rb'],
    ['Accept: \x00'],
    ['Accept: ÿ'],
  ] as const),
  ...([
    ['Authorization: Bearer x'],
    ['Cookie: a=b'],
    ['Expect: 100-continue'],
    ['Range: bytes=0-1'],
  ] as const),
  ...([
    ['If-None-Match: "x"'],
    ['no colon'],
    [': no name'],
    ['Content-Length: 0'],
    ['Content-Length: x'],
  ] as const),
  ['Content-Length: 3', 'abc'],
  ['Content-Length: 3\r\nContent-Length: 3', 'abc'],
  ['Transfer-Encoding: chunked', '3\r\nabc\r\n0\r\n\r\n'],
  ['Transfer-Encoding: gzip, chunked', '0\r\n\r\n'],
  ['Content-Length: 3\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
];

/** Any one byte is taken away, put in or changed; or a part stands there twice. */
function mutated(random: Random, text: string): string {
  const at = upTo(random, text.length);
  const byte = String.fromCharCode(pick(random, [0, 9, 10, 13, 32, 58, 127, 200, upTo(random, 255)]));
  const end = at + upTo(random, 20);
  switch (upTo(random, 3)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + byte + text.slice(at);
    case 2:
      return text.slice(0, at) + byte + text.slice(at + 1);
    default:
      return text.slice(0, end) + text.slice(at);
  }
}

const written = (first: string, fields: readonly string[], body = '') =>
  `${[first, ...fields].join('\r\n')}\r\n\r\n${body}`;

/** What one connection sends: mostly the same fields again and again, as clients do. */
export function conversation(random: Random, authorizations: readonly string[]): string[] {
  const fields = plainFields(random, authorizations);
  return Array.from({ length: 1 + upTo(random, 5) }, () => {
    const lookup = `GET ${LOOKUP}${pick(random, NAMES)} HTTP/1.1`;
    const kind = random();
    if (kind < 0.5) return written(lookup, fields);
    if (kind < 0.6) return written(lookup, plainFields(random, authorizations));
    if (kind < 0.7)
      return written(`GET ${pick(random, [...ODD_TARGETS, ...OTHER_TARGETS])} HTTP/1.1`, fields);
    if (kind < 0.75)
      return written(`${pick(random, METHODS)} ${LOOKUP}gmail.com ${pick(random, VERSIONS)}`, fields);
    if (kind < 0.8) return `\r\n${written(lookup, fields)}`;
    if (kind < 0.9) {
      const [line, body = ''] = pick(random, ODD_FIELDS);
      const at = upTo(random, fields.length);
      return written(lookup, [...fields.slice(0, at), line, ...fields.slice(at)], body);
    }
    return mutated(random, written(lookup, fields));
  });
}

/** In pieces, cut at any byte. */
export function pieces(random: Random, text: string): string[] {
  const cuts = Array.from({ length: upTo(random, 4) }, () => upTo(random, text.length)).sort((a, b) => a - b);
  return [0, ...cuts]
    .map((from, at) => text.slice(from, cuts[at] ?? text.length))
    .filter(piece => piece !== '');
}
