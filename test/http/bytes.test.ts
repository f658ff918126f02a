import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  fieldIn,
  fieldsOf,
  hasHead,
  hasSameFields,
  headEnd,
  isBlank,
  joined,
  lastThree,
} from '../../src/http/bytes.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const pieces = fc
  .array(fc.constantFrom('\r', '\n', '\r\n', '\r\n\r\n', 'a', 'ab', 'Authorization: x'), { maxLength: 20 })
  .map(parts => parts.join(''));

test('a head ends behind its first empty line, wherever that is', () => {
  fc.assert(
    fc.property(pieces, text => {
      const at = text.indexOf('\r\n\r\n');
      expect(headEnd(bytes(text))).toBe(at < 0 ? text.length : at + 4);
      expect(hasHead(bytes(text))).toBe(at >= 0);
      // In two pieces, the first without an end of its own.
      for (let cut = 1; cut < Math.min(text.length, at < 0 ? text.length : at + 4); cut++) {
        const behind = headEnd(bytes(text.slice(cut)), lastThree(0, bytes(text.slice(0, cut))));
        expect(cut + behind).toBe(at < 0 ? text.length : at + 4);
      }
    }),
    { numRuns: 5_000 },
  );
  expect(hasHead(Buffer.alloc(8_193, 'a'))).toBe(true);
});

test('only ends of lines are blank', () => {
  for (const text of ['\r\n', '\n', '\r\n\r\n', '\n'.repeat(80)]) expect(isBlank(bytes(text))).toBe(true);
  for (const text of [' ', '\r\nG', 'G\r\n']) expect(isBlank(bytes(text))).toBe(false);
});

test.each([
  ['GET / HTTP/1.1\r\nAuthorization: Bearer a\r\n\r\n', 'Bearer a'],
  ['GET / HTTP/1.1\r\nHost: x\r\naUTHORIZATION:Bearer a \r\n\r\n', 'Bearer a'],
  ['GET /?authorization: HTTP/1.1\r\nX-Authorization: b\r\nAuthorization: c\r\n\r\n', 'c'],
  ['GET / HTTP/1.1\r\nAuthorization: first\r\nAuthorization: second\r\n\r\n', 'first, second'],
  ['GET / HTTP/1.1\r\nAuthorization: Bear', 'Bear'],
  ['GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nAuthorization: next\r\n\r\n', undefined],
  ['GET / HTTP/1.1\r\nAuthorization : a\r\n\r\n', undefined],
  ['\r\n\r\nGET / HTTP/1.1\r\nAuthorization: behind\r\n\r\n', 'behind'],
  ['', undefined],
])('%j is sent with %j', (text, authorization) => {
  expect(fieldIn(bytes(text), 'authorization')).toBe(authorization);
});

test('two requests have the same header lines where all behind their first lines is the same', () => {
  const behind = (text: string) => (text.includes('\n') ? text.slice(text.indexOf('\n')) : undefined);
  fc.assert(
    fc.property(pieces, pieces, pieces, (one, other, fields) => {
      for (const [a, b] of [
        [one, other],
        [one + fields, other + fields],
      ] as const) {
        const isSame = behind(a) !== undefined && behind(a) === behind(b);
        expect(hasSameFields(bytes(a), bytes(b))).toBe(isSame);
      }
    }),
    { numRuns: 5_000 },
  );
  const key = 'GET /a HTTP/1.1\r\nAuthorization: Bearer a\r\nHost: x\r\n\r\n';
  expect(hasSameFields(bytes(key.replace('/a', '/bcd')), bytes(key))).toBe(true);
  expect(hasSameFields(bytes('GET /a HTTP/1.1\r\nHost: x\r\n\r\n'), bytes(key))).toBe(false);
});

test('joined bytes take no more memory than they are', () => {
  const both = joined(bytes('GET '), bytes('/ HTTP/1.1'));
  expect(both.toString()).toBe('GET / HTTP/1.1');
  expect(both.buffer.byteLength).toBe(both.length);
});

test('the fields are known without the target, which may hold an address', () => {
  const sent = 'GET /v1/check/jane@gmail.com HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\n\r\n';
  const fields = fieldsOf(bytes(sent));
  expect(fields.toString('latin1')).not.toContain('jane');
  expect(hasSameFields(bytes(sent.replace('jane', 'joe')), fields)).toBe(true);
  expect(hasSameFields(bytes(sent.replace('Bearer a', 'Bearer b')), fields)).toBe(false);
});
