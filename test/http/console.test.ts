import { expect, test } from 'vitest';
import { acceptsGzip } from '../../src/http/endpoints/console.ts';

test.each([
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['GZIP', true],
  ['deflate, gzip;q=0.5', true],
  ['gzip ; q=0.5', true],
  ['gzip;q=0', false],
  ['gzip;q=0.000', false],
  ['*', true],
  ['*;q=0', false],
  ['*;q=0, gzip', true],
  ['gzip;q=0, *', false],
  ['br, identity', false],
  ['xgzip', false],
  [`x${' '.repeat(7_900)}y`, false],
  [`${'a,'.repeat(4_000)}gzip`, false],
])('Accept-Encoding: %s', (header, isAccepted) => {
  expect(acceptsGzip(header)).toBe(isAccepted);
});
