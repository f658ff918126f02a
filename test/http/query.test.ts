import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parameter, readCount } from '../../src/http/query.ts';

test.each<[string, number | undefined]>([
  ['', undefined],
  ['reason=disposable', undefined],
  ['limit=1', 1],
  ['limit=1000', 1_000],
  ['limit=010', 10],
  ['reason=disposable&limit=20', 20],
  ['limit=2&limit=3', 2],
  ['LIMIT=20', undefined],
])('the query %j asks for %s rows', (query, count) => {
  expect(readCount(query, 'limit', 1_000)).toBe(count);
});

test.each([
  'limit=',
  'limit',
  'limit=0',
  'limit=-1',
  'limit=1001',
  'limit=00001',
  'limit=1.5',
  'limit=1e2',
  'limit=1x',
  'limit=x1',
  'limit=%201',
])('the query %j is refused with what may be asked for', query => {
  expect(readCount(query, 'limit', 1_000)).toEqual({
    refused: 'validation_error',
    detail: 'limit must be a whole number from 1 to 1000',
  });
});

test('whatever is sent, the first parameter of a name is the one that the standard finds', () => {
  const piece = fc.constantFrom(
    'limit',
    'l',
    '%6c',
    '%6Cimit',
    '=',
    '&',
    '%',
    '%f',
    '%ff',
    '%c3%a4',
    '%2',
    '+',
    '1',
    '%26',
    '%3d',
    '%00',
    '?',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), pieces => {
      const query = pieces.join('');
      // A first `?` is taken for the one before a query there, and never sent with one.
      const standard = new URLSearchParams(`&${query}`).get('limit') ?? undefined;
      expect(parameter(query, 'limit')).toBe(standard);
    }),
    { numRuns: 2_000 },
  );
});
