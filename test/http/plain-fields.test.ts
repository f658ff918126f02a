import { expect, test } from 'vitest';
import { isProbe } from '../../src/http/plain-fields.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const head = (...lines: string[]) => bytes([...lines, '', ''].join('\r\n'));

test('who asks how the service is, is told from others', () => {
  const isWatching = (text: string) => isProbe(head(`${text} HTTP/1.1`, 'Host: a'));
  for (const text of ['GET /livez', 'GET /readyz']) expect(isWatching(text)).toBe(true);
  for (const text of ['GET /livezx', 'GET /v1/usage', 'HEAD /livez', ''])
    expect(isWatching(text)).toBe(false);
  expect(isProbe(bytes(''))).toBe(false);
});

test.each([
  ['Kubernetes', ['Host: 10.0.0.1:8080', 'User-Agent: kube-probe/1.34', 'Accept: */*', 'Connection: close']],
  [
    'a balancer',
    ['Host: 10.0.0.1', 'Connection: close', 'User-Agent: ELB-HealthChecker/2.0', 'Accept-Encoding: gzip'],
  ],
  ['curl', ['Host: localhost:8080', 'User-Agent: curl/8.5.0', 'Accept: */*']],
])('who watches is known as one: %s', (_, lines) => {
  expect(isProbe(head('GET /readyz HTTP/1.1', ...lines))).toBe(true);
});

test.each([
  ['a field that is read by the parser', head('GET /livez HTTP/1.1', 'Host: a', 'X-Any: b')],
  ['many lines', head('GET /livez HTTP/1.1', 'Host: a', ...Array(120).fill('a:b'))],
  ['one field many times', head('GET /livez HTTP/1.1', 'Host: a', ...Array(20).fill('Accept: b'))],
  ['another version', head('GET /livez HTTP/1.0', 'Host: a')],
  ['another word about the connection', head('GET /livez HTTP/1.1', 'Host: a', 'Connection: upgrade')],
  ['no Host', head('GET /livez HTTP/1.1', 'Accept: */*')],
])('whoever asks so with %s is no watcher: it takes three to eight times as long', (_, sent) => {
  expect(isProbe(sent)).toBe(false);
});

test('whoever asks so with a long head is no watcher, whatever else comes behind a short one', () => {
  const ask = (length: number) => `GET /livez HTTP/1.1\r\nHost: a\r\nAccept: ${','.repeat(length)}\r\n\r\n`;
  expect(isProbe(bytes(ask(1_900)))).toBe(true);
  expect(isProbe(bytes(ask(2_100)))).toBe(false);
  expect(isProbe(bytes(ask(2_100).slice(0, 2_000)))).toBe(false);
  expect(isProbe(bytes(ask(1) + ask(2_100)))).toBe(true);
});
