import { expect, test } from 'vitest';
import { isKnown } from '../../src/http/etag.ts';

test.each<[string | undefined, boolean]>([
  [undefined, false],
  ['', false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b"', false],
  ['"b", "a"', true],
  ['"b","a"', true],
  ['"b", W/"a" , "c"', true],
  ['*', true],
  [' * ', true],
  ['a', false],
  ['w/"a"', false],
  ['"aW/"', false],
  ['"a"W/', false],
  ['"b"a"', false],
  ['"b"a", "a"', true],
  ['\t"a"\t', true],
  ['*, "b"', false],
])('a caller who sends If-None-Match: %s has the answer of tag "a": %s', (sent, known) => {
  expect(isKnown(sent, '"a"')).toBe(known);
});
