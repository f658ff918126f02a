import type { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { Lane, LaneReply } from '../../src/http/lane.ts';
import { parseAnswers } from '../support/answers.ts';

const head = (...lines: string[]) => [...lines, '', ''].join('\r\n');
const CALL = 'GET /v1/public/domain/gmail.com HTTP/1.1';
const targetIn = (text: string, lane = new Lane()) => lane.targetIn(Buffer.from(text, 'latin1'));
const segmentIn = (text: string, lane = new Lane()) => targetIn(text, lane)?.segment;

describe('a request is read in the lane', () => {
  test('where it is a plain lookup, with what it shows at the door', () => {
    const lane = new Lane();
    const lines = ['Host: a', 'authorization: Bearer drk_1', 'User-Agent: x  y/1', 'Connection: Keep-Alive'];
    expect(segmentIn(head(CALL, ...lines, 'Origin: https://a.example', 'X-Request-Id: r-1'), lane)).toBe(
      'gmail.com',
    );
    const shown = { authorization: 'Bearer drk_1', origin: 'https://a.example', requestId: 'r-1', hosts: 1 };
    expect(lane.head).toMatchObject(shown);
    expect(lane.asked).toMatchObject({ method: 'GET', complete: true });
    expect(lane.asked.rawHeaders.slice(0, 4)).toEqual(['Host', 'a', 'authorization', 'Bearer drk_1']);
  });

  test.each(['/livez', '/readyz'])('where it is a plain probe: %s', path => {
    const target = { path, segment: '', query: '' };
    expect(targetIn(head(`GET ${path} HTTP/1.1`, 'Host: a', 'User-Agent: kube-probe/1.34'))).toEqual(target);
    expect(targetIn(head(`GET ${path}? HTTP/1.1`, 'Host: a'))).toBeUndefined();
    expect(targetIn(head(`HEAD ${path} HTTP/1.1`, 'Host: a'))).toBeUndefined();
  });

  test('as Node, a browser and a proxy write it', () => {
    const node = ['host: a', 'connection: keep-alive', 'authorization: Bearer drk_1', 'accept: */*'];
    const fetched = [...node, 'accept-language: *', 'sec-fetch-mode: cors', 'user-agent: node'];
    expect(segmentIn(head(CALL, ...fetched, 'accept-encoding: gzip, deflate'))).toBe('gmail.com');
    const browser = [
      'Sec-Fetch-Site: cross-site',
      'Sec-Fetch-Dest: empty',
      'Referer: https://a.example/',
      'DNT: 1',
    ];
    expect(segmentIn(head(CALL, ...fetched, ...browser, 'Origin: https://a.example'))).toBe('gmail.com');
    const proxy = [
      'X-Forwarded-For: 10.0.0.1',
      'X-Forwarded-Proto: https',
      'X-Real-IP: 10.0.0.1',
      'Via: 1.1 p',
    ];
    expect(segmentIn(head(CALL, ...fetched, ...proxy))).toBe('gmail.com');
  });

  test('what a client says again is read once, and what it says anew is read anew', () => {
    const lane = new Lane();
    segmentIn(head(CALL, 'Host: a', 'Authorization: Bearer 1'), lane);
    const first = lane.head;
    expect(segmentIn(head(CALL.replace('gmail', 'GMX'), 'Host: a', 'Authorization: Bearer 1'), lane)).toBe(
      'GMX.com',
    );
    expect(lane.head).toBe(first);
    segmentIn(head(CALL, 'Host: a', 'Authorization: Bearer 2'), lane);
    expect(lane.head.authorization).toBe('Bearer 2');
    segmentIn(head(CALL, 'Host: a'), lane);
    expect(lane.head.authorization).toBeUndefined();
  });

  test('also where it says that it is the last, which is told from the next that does not', () => {
    const lane = new Lane();
    const isLast = (...lines: string[]) => [segmentIn(head(CALL, 'Host: a', ...lines), lane), lane.isLast];
    expect(isLast('Connection: Close')).toEqual(['gmail.com', true]);
    expect(isLast('Connection: keep-alive')).toEqual(['gmail.com', false]);
    expect(isLast('Connection: Close')).toEqual(['gmail.com', true]);
    expect(isLast()).toEqual(['gmail.com', false]);
  });

  test('of 2,048 bytes, and not where it is longer', () => {
    const long = (bytes: number) => {
      const rest = bytes - head(CALL, 'Host: a', 'Accept: ').length;
      return head(CALL, 'Host: a', `Accept: ${'a'.repeat(rest)}`);
    };
    expect([long(2_048).length, segmentIn(long(2_048))]).toEqual([2_048, 'gmail.com']);
    expect([long(2_049).length, segmentIn(long(2_049))]).toEqual([2_049, undefined]);
  });

  test.each([
    ['another method', head(CALL.replace('GET', 'HEAD'), 'Host: a')],
    ['a method in another case', head(CALL.replace('GET', 'get'), 'Host: a')],
    ['another path', head('GET /v1/public/top-domains HTTP/1.1', 'Host: a')],
    ['no name', head('GET /v1/public/domain/ HTTP/1.1', 'Host: a')],
    ['a longer path', head(CALL.replace('.com', '.com/'), 'Host: a')],
    ['a query', head(CALL.replace('.com', '.com?explain=true'), 'Host: a')],
    ['an encoded name', head(CALL.replace('.com', '%2ecom'), 'Host: a')],
    ['an absolute target', head(CALL.replace('/v1', 'http://a/v1'), 'Host: a')],
    ['a name that is too long', head(CALL.replace('gmail', 'a'.repeat(250)), 'Host: a')],
    ['another version', head(CALL.replace('1.1', '1.0'), 'Host: a')],
    ['two spaces', head(CALL.replace(' HTTP', '  HTTP'), 'Host: a')],
    ['an empty line before', `\r\n${head(CALL, 'Host: a')}`],
    ['no Host', head(CALL, 'Accept: */*')],
    ['no field at all', head(CALL)],
    ['two Host', head(CALL, 'Host: a', 'Host: a')],
    ['two Authorization', head(CALL, 'Host: a', 'Authorization: Bearer 1', 'authorization: Bearer 2')],
    ['a field that it does not know', head(CALL, 'Host: a', 'X-Any: b')],
    ['a field that it does not know and that speaks as if it stays', head(CALL, 'Host: a', 'TE: keep-alive')],
    ['a condition', head(CALL, 'Host: a', 'Expect: 100-continue')],
    ['another protocol', head(CALL, 'Host: a', 'Upgrade: h2c')],
    ['a body', head(CALL, 'Host: a', 'Content-Length: 0')],
    ['a coding', head(CALL, 'Host: a', 'Transfer-Encoding: chunked')],
    ['another word about its connection', head(CALL, 'Host: a', 'Connection: close, upgrade')],
    ['two words about its connection', head(CALL, 'Host: a', 'Connection: keep-alive', 'Connection: close')],
    ['a space before the colon', head(CALL, 'Host : a')],
    ['no space behind it', head(CALL, 'Host:a')],
    ['two spaces behind it', head(CALL, 'Host:  a')],
    ['a space at the end', head(CALL, 'Host: a ')],
    ['an empty value', head(CALL, 'Host: a', 'Accept: ')],
    ['a folded line', head(CALL, 'Host: a', 'Accept: a', ' b')],
    ['a tab', head(CALL, 'Host: a', 'Accept: a\tb')],
    ['a control character', head(CALL, 'Host: a', 'Accept: a\x00b')],
    ['a byte above ASCII', head(CALL, 'Host: a', 'Accept: \xe9')],
    ['a bare LF', head(CALL, 'Host: a\nAccept: b')],
    ['a bare CR', head(CALL, 'Host: a\rAccept: b')],
    ['a head that is not whole', head(CALL, 'Host: a').slice(0, -2)],
    ['a head that ends in the middle of a line', `${CALL}\r\nHost: a.example`],
    ['something behind the head', `${head(CALL, 'Host: a')}x`],
    ['two requests', head(CALL, 'Host: a').repeat(2)],
    ['a long head', head(CALL, 'Host: a', `Accept: ${'a'.repeat(2_000)}`)],
    ['its first line alone', `${CALL}\r\n`],
    ['nothing', ''],
  ])('and not where it has %s', (_, text) => {
    expect(segmentIn(text)).toBeUndefined();
    // Nor behind one that it has read.
    const lane = new Lane();
    segmentIn(head(CALL, 'Host: a'), lane);
    expect(segmentIn(text, lane)).toBeUndefined();
  });
});

describe('an answer in the lane', () => {
  function replying({ writable = true, isLast = false } = {}) {
    const socket = { write: vi.fn(), destroySoon: vi.fn(), destroy: vi.fn(), writable, destroyed: false };
    return { socket, reply: new LaneReply(socket as unknown as Socket, isLast) };
  }

  test('is written at once, with the time and the word that the connection stays', () => {
    const { socket, reply } = replying();
    expect([reply.headersSent, reply.destroyed]).toEqual([false, false]);
    const closed = vi.fn();
    reply.once('close', closed);
    reply.writeHead(200, ['X-A', 'b', 'Content-Length', '2']);
    expect([reply.headersSent, reply.writableFinished, socket.write.mock.calls.length]).toEqual([
      true,
      false,
      0,
    ]);
    reply.end('{}');
    expect(socket.write.mock.calls[0]![1]).toBe('latin1');
    const [answer] = parseAnswers(socket.write.mock.calls[0]![0] as string);
    expect(answer).toMatchObject({ status: 200, body: '{}' });
    expect([...answer!.headers.keys()]).toEqual(['x-a', 'content-length', 'date', 'connection']);
    expect(answer!.headers.get('connection')).toBe('keep-alive');
    expect(Math.abs(Date.parse(answer!.headers.get('date')!) - Date.now())).toBeLessThan(60_000);
    expect([reply.writableFinished, socket.write.mock.calls.length]).toEqual([true, 1]);
    expect([socket.destroySoon.mock.calls.length, closed.mock.calls.length]).toEqual([0, 1]);
  });

  test('that is the last one says so and ends the connection', () => {
    const { socket, reply } = replying({ isLast: true });
    reply.writeHead(503, ['Content-Length', '0']);
    reply.end();
    const [answer] = parseAnswers(socket.write.mock.calls[0]![0] as string);
    expect(answer).toMatchObject({ status: 503 });
    expect(answer!.headers.get('connection')).toBe('close');
    expect(socket.destroySoon).toHaveBeenCalledOnce();
  });

  test('is in the coding that its body needs', () => {
    const { socket, reply } = replying();
    reply.writeHead(200, ['Content-Length', '2']);
    reply.end('é', 'utf8');
    expect(socket.write.mock.calls[0]![1]).toBe('utf8');
  });

  test('that is given up ends the connection, also where nobody waits for its end', () => {
    const { socket, reply } = replying();
    socket.destroyed = true;
    reply.destroy();
    expect([socket.destroy.mock.calls.length, reply.destroyed]).toEqual([1, true]);
  });

  test('is nothing where nobody is there any more', () => {
    const { socket, reply } = replying({ writable: false });
    reply.writeHead(200, []);
    reply.end('{}', 'utf8');
    expect(socket.write).not.toHaveBeenCalled();
    expect(reply.writableFinished).toBe(true);
    const closed = vi.fn();
    reply.once('close', closed);
    reply.destroy();
    expect([socket.destroy.mock.calls.length, closed.mock.calls.length]).toEqual([1, 1]);
  });
});
