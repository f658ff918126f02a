import { describe, expect, test } from 'vitest';
import { type Head, readHead } from '../../src/http/head.ts';

const read = (...lines: [string, string][]) => readHead(lines.flat());

const NOTHING: Head = {
  authorization: undefined,
  origin: undefined,
  forwardedFor: undefined,
  ifNoneMatch: undefined,
  acceptEncoding: undefined,
  contentType: undefined,
  transferEncoding: undefined,
  requestId: undefined,
  traceparent: undefined,
  wantsProblem: false,
  hosts: 0,
  hasUpgrade: false,
  bodyLength: 0,
};
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('of header lines is read', () => {
  test.each<[string, [string, string][], Partial<Head>]>([
    ['nothing where there is none', [], {}],
    [
      'nothing of those that mean nothing here',
      [
        ['Cookie', 'a=b'],
        ['X-Other', '1'],
      ],
      {},
    ],
    ['the key', [['Authorization', 'Bearer x']], { authorization: 'Bearer x' }],
    [
      'the name in any case',
      [
        ['AUTHORIZATION', 'Bearer x'],
        ['hOST', 'a'],
      ],
      { authorization: 'Bearer x', hosts: 1 },
    ],
    // Joined, they match nothing: no second key or origin hides behind the first.
    [
      'every key, where there are two',
      [
        ['Authorization', 'Bearer x'],
        ['Authorization', 'Bearer y'],
      ],
      { authorization: 'Bearer x, Bearer y' },
    ],
    [
      'every origin, where there are two',
      [
        ['Origin', 'https://a.com'],
        ['Origin', 'https://b.com'],
      ],
      { origin: 'https://a.com, https://b.com' },
    ],
    [
      'every hop of repeated lines, in their order',
      [
        ['X-Forwarded-For', '1.1.1.1'],
        ['X-Forwarded-For', '2.2.2.2, 3.3.3.3'],
      ],
      { forwardedFor: '1.1.1.1, 2.2.2.2, 3.3.3.3' },
    ],
    [
      'every tag of repeated lines',
      [
        ['If-None-Match', '"a"'],
        ['If-None-Match', '"b"'],
      ],
      { ifNoneMatch: '"a", "b"' },
    ],
    [
      'every coding that is accepted',
      [
        ['Accept-Encoding', 'br'],
        ['Accept-Encoding', 'gzip'],
      ],
      { acceptEncoding: 'br, gzip' },
    ],
    [
      'every type of the body',
      [
        ['Content-Type', 'a/b'],
        ['Content-Type', 'c/d'],
      ],
      { contentType: 'a/b, c/d' },
    ],
    [
      'how many hosts are named',
      [
        ['Host', 'a'],
        ['Host', 'b'],
      ],
      { hosts: 2 },
    ],
    ['the wish for another protocol', [['Upgrade', 'h2c']], { hasUpgrade: true }],
    ['no body of no length', [['Content-Length', '0']], {}],
    ['a body', [['Content-Length', '1']], { bodyLength: 1 }],
    [
      'the larger of two lengths',
      [
        ['Content-Length', '1025'],
        ['Content-Length', '0'],
      ],
      { bodyLength: 1_025 },
    ],
    [
      'a body of unknown length as one without end',
      [['Transfer-Encoding', 'chunked']],
      { transferEncoding: 'chunked', bodyLength: Number.POSITIVE_INFINITY },
    ],
    [
      'every coding of the body',
      [
        ['Transfer-Encoding', 'gzip'],
        ['Transfer-Encoding', 'chunked'],
      ],
      { transferEncoding: 'gzip, chunked', bodyLength: Number.POSITIVE_INFINITY },
    ],
    ['the wish for errors as problems', [['Accept', 'application/problem+json']], { wantsProblem: true }],
    [
      'the wish for them after others',
      [['Accept', 'application/json, application/problem+json;q=0.1']],
      { wantsProblem: true },
    ],
    ['the wish for none', [['Accept', 'application/json, application/problem+json;q=0']], {}],
    ['the wish for none, at length', [['Accept', 'application/problem+json ; q=0.000 , */*']], {}],
    ['the wish for none, behind another parameter', [['Accept', 'application/problem+json;v=1;Q=0']], {}],
    [
      'the wish for them, where another type is the one that is not wanted',
      [['Accept', 'text/html;q=0, application/problem+json;q=0.01, */*;q=0']],
      { wantsProblem: true },
    ],
    [
      'the wish for them, where it stands twice and is once not wanted',
      [['Accept', ' application/problem+json;q=0,application/problem+json ;q=1 ,*/*']],
      { wantsProblem: true },
    ],
    [
      'no wish in a part of another type',
      [['Accept', 'application/problem+jsons, a application/problem+json']],
      {},
    ],
    [
      'that wish among others, in any case',
      [['Accept', 'text/html, Application/Problem+JSON;q=0.9']],
      { wantsProblem: true },
    ],
    [
      'that wish in one of several lines',
      [
        ['Accept', 'application/problem+json'],
        ['Accept', '*/*'],
      ],
      { wantsProblem: true },
    ],
    [
      'no such wish where another type is wanted',
      [['Accept', 'application/json, xapplication/problem+json']],
      {},
    ],
    ['the name of the request', [['X-Request-Id', 'abc-1.2_3']], { requestId: 'abc-1.2_3' }],
    ['the longest name of a request', [['X-Request-Id', 'x'.repeat(64)]], { requestId: 'x'.repeat(64) }],
    ['the trace', [['traceparent', TRACE]], { traceparent: TRACE }],
  ])('%s', (_, lines, expected) => {
    expect(read(...lines)).toEqual({ ...NOTHING, ...expected });
  });
});

test.each(['', 'x'.repeat(65), 'a b', 'a\nb', 'ä', '"a"', '{}', 'drk_0000', 'a-drk_0000', 'a/b'])(
  'a request that calls itself %j gets another name: it could be no name, or a secret',
  name => {
    expect(read(['X-Request-Id', name]).requestId).toBeUndefined();
  },
);

test.each([
  '',
  'x',
  TRACE.slice(0, -1),
  `${TRACE}0`,
  `0${TRACE}`,
  TRACE.toUpperCase(),
  TRACE.replace('00-', 'ff-'),
  '00-00000000000000000000000000000000-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
])('the trace %j stands for nothing', trace => {
  expect(read(['traceparent', trace]).traceparent).toBeUndefined();
});
