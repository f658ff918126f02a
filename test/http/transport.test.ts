import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readHead } from '../../src/http/head.ts';
import { NO_TARGET, readTarget } from '../../src/http/target.ts';
import { parserRefusal, transportRefusal } from '../../src/http/transport.ts';

/** A request of this version, target and header lines. */
function refused(version: string, url: string, ...lines: [string, string][]) {
  const [major, minor] = version.split('.').map(Number);
  const req = { httpVersionMajor: major, httpVersionMinor: minor, url, rawHeaders: lines.flat() };
  const message = req as unknown as IncomingMessage;
  return transportRefusal(message, readHead(message.rawHeaders), readTarget(url) ?? NO_TARGET);
}

const HOST: [string, string] = ['Host', 'a'];

describe('before there is a route', () => {
  test.each<[string, string, string, [string, string][], string | undefined]>([
    ['an ordinary request passes', '1.1', '/', [HOST], undefined],
    ['an old one without Host passes', '1.0', '/', [], undefined],
    ['one of another major version is refused', '2.0', '/', [HOST], 'HTTP/1.0 or HTTP/1.1'],
    ['one without Host is refused', '1.1', '/', [], 'no Host header'],
    ['one with two hosts is refused', '1.1', '/', [HOST, HOST], 'more than one Host'],
    ['an old one with two hosts is refused', '1.0', '/', [HOST, HOST], 'more than one Host'],
    ['a chunked body passes', '1.1', '/', [HOST, ['Transfer-Encoding', 'Chunked']], undefined],
    [
      'an old chunked body is refused',
      '1.0',
      '/',
      [HOST, ['Transfer-Encoding', 'chunked']],
      'must be chunked',
    ],
    [
      'another coding is refused',
      '1.1',
      '/',
      [HOST, ['Transfer-Encoding', 'gzip, chunked']],
      'must be chunked',
    ],
    [
      'two codings in two lines are refused',
      '1.1',
      '/',
      [HOST, ['Transfer-Encoding', 'chunked'], ['Transfer-Encoding', 'chunked']],
      'must be chunked',
    ],
    [
      'the wish for another protocol passes without a body',
      '1.1',
      '/',
      [HOST, ['Upgrade', 'h2c']],
      undefined,
    ],
    [
      'the wish for another protocol is refused with one',
      '1.1',
      '/',
      [HOST, ['Upgrade', 'h2c'], ['Content-Length', '3']],
      'Upgrade is not supported',
    ],
    ['a body alone passes', '1.1', '/', [HOST, ['Content-Length', '3']], undefined],
    ['the longest target passes', '1.1', `/${'a'.repeat(2_047)}`, [HOST], undefined],
    ['a longer one is refused', '1.1', `/${'a'.repeat(2_048)}`, [HOST], 'at most 2048 characters'],
    ['a target that is no path is refused', '1.1', '*', [HOST], 'must be a path'],
  ])('%s', (_, version, url, lines, why) => {
    const refusal = refused(version, url, ...lines);
    if (why === undefined) expect(refusal).toBeUndefined();
    else
      expect(refusal).toMatchObject({
        refused: why.startsWith('at most') ? 'uri_too_long' : 'bad_request',
        detail: expect.stringContaining(why),
      });
  });

  test.each([
    ['HPE_HEADER_OVERFLOW', 'headers_too_large', 'at most 8 KiB in all'],
    ['ERR_HTTP_REQUEST_TIMEOUT', 'request_timeout', null],
    ['HPE_UNEXPECTED_CONTENT_LENGTH', 'bad_request', 'send Content-Length once'],
    ['HPE_SOMETHING_NEW', 'bad_request', null],
    [undefined, 'bad_request', null],
  ])('what the parser calls %s is %s', (code, refused, detail) => {
    expect(parserRefusal(code)).toEqual({ refused, detail });
  });

  const CHUNKED = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  test.each([
    ['GET / HTTP/1.1\nHost: a\n\n', /^each line of the head must end with CR LF$/],
    ['GET / HTTP/1.1\r\nHost: a\r\n\rX', /^each line of the head must end with CR LF$/],
    ['GET / HTTP/1.1\r\nHost: a\rX\r\n\r\n', /^each line of the head must end with CR LF$/],
    [`${CHUNKED}5\r\nabc\r\n0\r\n\r\n`, /^the chunks of the body are not as long/],
    [`${CHUNKED}1\na\r\n0\r\n\r\n`, /^the length of a chunk must be/],
    [`${CHUNKED}zz\r\n`, /^the length of a chunk must be/],
    [`${CHUNKED}1;${'e'.repeat(17_000)}\r\n`, /^the extensions of chunks have more than 16 KiB/],
  ])('what Node says of %j is told in our words', async (sent, words) => {
    const server = createServer(req => void req.on('error', () => {}).resume()).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    const told = new Promise(resolve =>
      server.on('clientError', (error: NodeJS.ErrnoException & { reason?: string }, socket) => {
        socket.destroy();
        resolve(parserRefusal(error.code, error.reason).detail);
      }),
    );
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
    socket.write(sent);
    expect(await told).toMatch(words);
  });
});
