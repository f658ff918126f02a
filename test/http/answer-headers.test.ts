import { expect, test } from 'vitest';
import { goodHeaders, HEADERS, refusalHeaders } from '../../src/http/answer-headers.ts';
import type { Reference } from '../../src/http/routes.ts';

const reference = (facts: Partial<Reference> = {}) =>
  ({ isCounted: false, hasTag: false, canDegrade: false, caching: 'no-store', ...facts }) as Reference;
const QUOTA = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];
const BASE = ['X-Request-Id', 'Cache-Control'];
const names = (headers: object) => Object.keys(headers);

test.each<[string, Partial<Reference>, boolean, string[]]>([
  ['has a name and says how long it may be kept', {}, false, BASE],
  ['tells the quota where it is counted', { isCounted: true }, false, [...BASE, ...QUOTA]],
  ['has a tag where it has one', { hasTag: true }, false, [...BASE, 'ETag']],
  [
    'tells that DNS did not answer where that can be',
    { canDegrade: true },
    false,
    [...BASE, 'X-Risk-Degraded'],
  ],
  ['tells that not where it has no content', { canDegrade: true, hasTag: true }, true, [...BASE, 'ETag']],
])('a good answer %s', (_, facts, isEmpty, expected) => {
  expect(names(goodHeaders(reference(facts), isEmpty))).toEqual(expected);
});

test.each<[number, boolean, number | undefined, string[]]>([
  [400, true, undefined, BASE],
  [401, true, undefined, [...BASE, 'WWW-Authenticate']],
  [405, true, undefined, [...BASE, 'Allow']],
  [422, true, undefined, [...BASE, ...QUOTA]],
  [422, false, undefined, BASE],
  [429, true, 5, [...BASE, 'Retry-After', ...QUOTA]],
  [429, false, 5, [...BASE, 'Retry-After']],
  [503, true, 0, [...BASE, 'Retry-After']],
])(
  'a refusal with %i (counted: %s, to come back after %s) has its headers',
  (status, isCounted, retryAfter, expected) => {
    const refusal = {
      refused: 'bad_request',
      detail: null,
      ...(retryAfter === undefined ? {} : { retryAfter }),
    } as const;
    expect(names(refusalHeaders({ isCounted }, status, refusal, 'GET'))).toEqual(expected);
  },
);

test('a header that says the usual is told once for all answers, another one where it stands', () => {
  expect(goodHeaders(reference())['Cache-Control']).toEqual({ $ref: '#/components/headers/Cache-Control' });
  expect(goodHeaders(reference({ caching: 'private, max-age=60' }))['Cache-Control']).toEqual({
    description: HEADERS['Cache-Control']!.description,
    schema: { type: 'string' },
    example: 'private, max-age=60',
  });
  const refused = refusalHeaders({ isCounted: true }, 429, { refused: 'quota_exceeded', detail: null }, '');
  expect(refused['X-RateLimit-Remaining']).toMatchObject({ schema: { type: 'integer' }, example: 0 });
});
