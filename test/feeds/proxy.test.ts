import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it, test, vi } from 'vitest';
import { FeedError } from '../../src/core/feed.ts';
import { download } from '../../src/feeds/download.ts';
import { isPastProxy } from '../../src/feeds/no-proxy.ts';
import { leadTo, startLists, startProxy, type TestProxy } from '../support/proxied.ts';

const LIST = 'https://lists.example/list.txt';
const OK = 'HTTP/1.1 200 Connection established\r\n\r\n';
const MIB = 2 ** 20;
const fetched = (deadlineMs = 60_000) => download(new URL(LIST), { isNamed: false, deadlineMs });
const letGo = ({ open }: TestProxy) => vi.waitFor(() => expect(open()).toBe(0), { timeout: 10_000 });

let port: number;
beforeEach(async () => {
  port = await startLists(['lists.example'], (_, res) => res.end('a.com\nb.com\n'));
});

describe('a list by a proxy', () => {
  it.each([false, true])('comes from the name that the proxy is asked for (by TLS: %s)', async isSecure => {
    const lead = (socket: Socket) => {
      socket.write(OK);
      leadTo(port, socket);
    };
    const proxy = await startProxy(lead, { isSecure, who: 'op:p%40ss@' });
    expect((await fetched())?.text).toBe('a.com\nb.com\n');
    const basic = Buffer.from('op:p@ss').toString('base64');
    expect(proxy.heads.map(head => head.split('\r\n').filter(Boolean).toSorted())).toEqual([
      [
        'CONNECT lists.example:443 HTTP/1.1',
        'host: lists.example:443',
        `proxy-authorization: Basic ${basic}`,
      ],
    ]);
    await letGo(proxy);
  });

  // Twice the memory with each piece: at the 26th the program ended (2026-11-17).
  it('comes where the proxy answers byte by byte', async () => {
    const answer = `${OK.slice(0, -2)}via: 1.1 a-proxy.example\r\n\r\n`;
    await startProxy(async socket => {
      socket.pause();
      for (const sign of answer) {
        socket.setNoDelay().write(sign);
        await new Promise(done => setTimeout(done, 5));
      }
      leadTo(port, socket);
    });
    expect((await fetched())?.text).toBe('a.com\nb.com\n');
  });

  it('is not believed from another than the one that was asked for', async () => {
    const other = await startLists(['other.example'], (_, res) => res.end('a.com\n'));
    const proxy = await startProxy(socket => {
      socket.write(OK);
      leadTo(other, socket);
    });
    await expect(fetched()).rejects.toThrow(`${LIST}: Hostname/IP does not match certificate's altnames`);
    await letGo(proxy);
  });
});

describe('a proxy', () => {
  const LONG = "the proxy's answer is longer than 16 KiB";
  it.each([
    ['headers', 'HTTP/1.1 200 OK\r\n', `x-a: ${'y'.repeat(60_000)}\r\n`, LONG],
    ['short headers', 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'.repeat(1_000), LONG],
    ['one header', 'HTTP/1.1 200 OK\r\nx: ', 'y'.repeat(5_000), LONG],
    ['spaces', 'HTTP/1.1 200 OK\r\nx: ', ' '.repeat(5_000), LONG],
    ['words for a status', 'HTTP/1.1 200 ', 'OK '.repeat(5_000), LONG],
    ['empty lines', '', '\r\n'.repeat(1_000), LONG],
    ['what it should not send yet', OK, 'y'.repeat(60_000), ''],
  ])('that answers with %s without end is let go at once', async (_, first, piece, why) => {
    let sent = 0;
    const proxy = await startProxy(socket => {
      const more = () => {
        for (let isRoom = true; isRoom && sent < 256 * MIB && !socket.destroyed; sent += piece.length)
          isRoom = socket.write(piece);
      };
      socket.write(first);
      socket.on('drain', more);
      more();
    });
    const problem = await fetched().catch((error: Error) => error);
    expect(problem).toBeInstanceOf(FeedError);
    expect(String(problem)).toContain(`${LIST}: ${why}`);
    await letGo(proxy);
    // Most of it with the kernel.
    expect(sent).toBeLessThan(64 * MIB);
  });

  it.each([
    ['ends without an answer', (socket: Socket) => socket.end(), 'the proxy does not let it through'],
    [
      'cuts the connection',
      (socket: Socket) => socket.resetAndDestroy(),
      'the proxy does not let it through',
    ],
    [
      'speaks something else',
      (socket: Socket) => socket.end('\0\x01 SSH\r\n\r\n'),
      'the proxy does not let it',
    ],
    [
      'wants a password',
      (socket: Socket) => socket.end('HTTP/1.1 407 \x1b[2J\r\n\r\n'),
      'the proxy answered 407',
    ],
    [
      'says to wait',
      (socket: Socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
      'the proxy answered 100',
    ],
    [
      'tells no status',
      (socket: Socket) => socket.end('HTTP/1.1 OK\r\n\r\n'),
      'the proxy does not let it through',
    ],
    [
      'leads to what is no TLS',
      (socket: Socket) => socket.once('data', () => socket.write('not TLS')).write(OK),
      'wrong version number',
    ],
    [
      'cuts the tunnel at once',
      (socket: Socket) => socket.write(OK, () => socket.resetAndDestroy()),
      /ECONNRESET|disconnected/,
    ],
  ])('that %s is told of, and let go', async (_, answer, why) => {
    const proxy = await startProxy(socket => void answer(socket));
    const problem = await fetched().catch((error: Error) => error);
    expect(problem).toBeInstanceOf(FeedError);
    expect(String(problem)).toMatch(why);
    await letGo(proxy);
  });
});

test.each([
  ['says nothing', ''],
  ['leads to a server that says nothing', OK],
])('a proxy that is spoken to by TLS and %s is let go at the deadline', async (_, said) => {
  const proxy = await startProxy(socket => void socket.resume().write(said), { isSecure: true });
  await expect(fetched(500)).rejects.toThrow('not complete within 0.5 s');
  await letGo(proxy);
});

test.each([
  ['*', true],
  ['lists.example', true],
  ['LISTS.example', true],
  ['a.com, lists.example ,b.com', true],
  ['lists.example:443', true],
  ['lists.example:8443', false],
  ['.lists.example', true],
  ['.example', true],
  ['*.example', true],
  ['example', true],
  ['.example:443', true],
  ['example:8443', false],
  ['ample', false],
  ['.', false],
  ['*.lists.example', false],
  ['ists.example', false],
  ['.ists.example', false],
  ['', false],
  [',', false],
  [undefined, false],
])('NO_PROXY=%s spares lists.example the proxy: %s', (listed, isSpared) => {
  expect(isPastProxy(new URL(LIST), listed)).toBe(isSpared);
});

test.each([
  ['https://10.0.0.5/', '10.0.0.1-10.0.0.9', true],
  ['https://10.0.0.5/', '10.0.0.5 - 10.0.0.5', true],
  ['https://10.0.1.5/', '10.0.0.1-10.0.0.9', false],
  ['https://10.0.0.5/', '10.0.0.9-10.0.0.1', false],
  ['https://200.0.0.5/', '199.255.255.255-200.0.1.0', true],
  ['https://lists.example/', '0.0.0.0-255.255.255.255', false],
  ['https://lists.example/', '0.0.0.0/0', false],
  ['https://10.9.0.5/', '10.0.0.0/8', true],
  ['https://11.0.0.5/', '10.0.0.0/8', false],
  ['https://10.0.0.5/', '10.0.0.0/33', false],
  ['https://10.0.0.5/', '10.0.0.0/8:443', true],
  ['https://10.0.0.5/', '0.0.5', false],
  ['https://10.0.0.5/', '10.0.0.9-fd00::5', false],
  ['https://[fd00::5]/', 'fd00::/16', true],
  ['https://[fd00::5]/', '[fd00::5]', true],
  ['https://[fd00::5]:8443/', '[fd00::5]:8443', true],
  ['https://[fd00::5]:8443/', 'fd00::5', true],
  ['https://[fd00::5]:8443/', 'fd00::5:8443', true],
])('%s is past the proxy by NO_PROXY=%s: %s', (url, listed, isSpared) => {
  expect(isPastProxy(new URL(url), listed)).toBe(isSpared);
});
