import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { allowanceOf, monthOf } from '../../src/core/quota.ts';
import { MOST_DRAINED } from '../../src/http/bytes.ts';
import type { Call, Headers } from '../../src/http/call.ts';
import { type Head, readHead } from '../../src/http/head.ts';
import {
  quotaHeaders,
  rawRefusal,
  refuseUnread,
  send,
  sendEmpty,
  sendJson,
  sendRefusal,
} from '../../src/http/reply.ts';

const NOVEMBER = Date.UTC(2026, 10, 15);
const MONTH = monthOf(NOVEMBER);

/** One request, and what was written in answer to it. */
function request(
  facts: Partial<Call> & {
    method?: string;
    sent?: Partial<Head>;
    keepsAlive?: boolean;
    hasRoom?: boolean;
    isSpent?: boolean;
    isLast?: boolean;
  } = {},
) {
  const {
    method = 'GET',
    sent = {},
    keepsAlive = false,
    hasRoom = true,
    isSpent = false,
    isLast = true,
    ...more
  } = facts;
  const written = {
    status: 0,
    headers: [] as Headers,
    body: '',
    coding: '',
    pieces: 0,
    isEnded: false,
    isStopped: false,
    finished: [] as number[],
  };
  const take = (part: string | Buffer | undefined, coding?: string) => {
    if (part === undefined) return;
    written.body += part.toString();
    written.coding = coding ?? '';
    written.pieces++;
  };
  const res = {
    shouldKeepAlive: keepsAlive,
    writeHead(status: number, headers: Headers) {
      written.status = status;
      written.headers = headers;
    },
    write(part: Buffer, next: (error?: Error) => void) {
      take(part);
      next();
    },
    end(part?: string | Buffer, coding?: string) {
      take(part, coding);
      written.isEnded = true;
    },
  };
  const connection = {
    sends: (body: number, payer?: string) => body <= 32 * 1024 || payer !== undefined || hasRoom,
    idleSeconds: 65,
    isSpent,
    stop: () => {
      written.isStopped = true;
    },
    last: undefined as Call | undefined,
  };
  const call = {
    req: { method } as IncomingMessage,
    res: res as unknown as ServerResponse,
    head: { ...readHead([]), ...sent },
    requestId: 'r1',
    isApi: false,
    connection,
    quota: [],
    finished: (_: Call, status: number) => written.finished.push(status),
    ...more,
  } as unknown as Call;
  if (isLast) connection.last = call;
  const header = (name: string) => {
    const at = written.headers.findIndex((part, i) => i % 2 === 0 && part === name);
    return at < 0 ? undefined : written.headers[at + 1];
  };
  return { call, written, header };
}

describe('every answer', () => {
  test('names the request and its own length, and is told once', () => {
    const { call, written } = request();
    sendJson(call, 200, '{}', ['ETag', '"a"']);
    expect(written).toMatchObject({ status: 200, body: '{}', finished: [200] });
    expect(written.headers).toEqual([
      ...['X-Request-Id', 'r1', 'X-Content-Type-Options', 'nosniff', 'ETag', '"a"'],
      ...['Content-Type', 'application/json; charset=utf-8', 'Content-Length', '2'],
    ]);
  });

  test.each([
    ['{"a":"x"}', 9, 'latin1'],
    ['{"a":"ü"}', 10, 'utf8'],
    ['{"a":"漢"}', 11, 'utf8'],
    ['', 0, 'latin1'],
  ])('%s has the length %i in bytes', (body, length, coding) => {
    const { call, written, header } = request();
    send(call, 200, 'text/plain', body);
    expect(header('Content-Length')).toBe(String(length));
    expect([written.body, written.coding]).toEqual([body, coding]);
  });

  test.each([
    [0, 1],
    [64 * 1024, 1],
    [64 * 1024 + 1, 2],
    [150_000, 3],
  ])(
    'of %i prepared bytes goes out whole, in %i pieces, each in a turn of its own',
    async (length, pieces) => {
      const { call, written } = request();
      const body = Array.from({ length }, (_, at) => at % 10).join('');
      send(call, 200, 'text/plain', Buffer.from(body));
      for (let turn = 1; turn <= pieces; turn++) {
        expect(written.pieces).toBe(turn);
        await nextTurn();
      }
      expect(written.body === body).toBe(true);
      expect(written.isEnded).toBe(true);
    },
  );

  test.each<[string, number, Parameters<typeof request>[0], number, boolean]>([
    ['of 32 KiB leaves the connection open', 32 * 1024, {}, 200, true],
    ['of more does too', 32 * 1024 + 1, {}, 200, true],
    ['is the last where there were enough', 1, { isSpent: true }, 200, false],
    ['is not where another was asked for behind it', 1, { isSpent: true, isLast: false }, 200, true],
    ['of more that has no body is not large', 32 * 1024 + 1, { hasRoom: false, method: 'HEAD' }, 200, true],
    ['of more waits until others are read', 32 * 1024 + 1, { hasRoom: false }, 503, true],
    [
      'of more that a key has paid for does not',
      32 * 1024 + 1,
      { hasRoom: false, isPaid: true, keyId: 'key' },
      200,
      true,
    ],
  ])('%s', (_, length, facts, status, keepsAlive) => {
    const { call, written, header } = request({ ...facts, keepsAlive: true });
    send(call, 200, 'text/plain', 'x'.repeat(length));
    expect([written.status, call.res.shouldKeepAlive]).toEqual([status, keepsAlive]);
    expect(header('Retry-After')).toBe(status === 503 ? '1' : undefined);
    expect(written.finished).toEqual([status]);
  });

  test('to HEAD has the headers of GET and no body', () => {
    const { call, written, header } = request({ method: 'HEAD' });
    sendJson(call, 200, '{"a":1}');
    expect([header('Content-Length'), written.body, written.pieces]).toEqual(['7', '', 0]);
    expect(written.isEnded).toBe(true);
    expect(written.finished).toEqual([200]);
  });

  test('tells the trace, the quota and how long the connection is kept', () => {
    const { call, header } = request({
      sent: { traceparent: 't' },
      quota: ['X-RateLimit-Limit', '9'],
      keepsAlive: true,
    });
    sendJson(call, 200, '{}');
    expect([header('traceparent'), header('X-RateLimit-Limit')]).toEqual(['t', '9']);
    expect(header('Keep-Alive')).toMatch(/^timeout=\d+$/);
  });

  test('without content has no type and no length', () => {
    const { call, written } = request();
    sendEmpty(call, 304, ['ETag', '"a"']);
    expect(written).toMatchObject({ status: 304, body: '', pieces: 0, isEnded: true, finished: [304] });
    expect(written.headers).toEqual([
      'X-Request-Id',
      'r1',
      'X-Content-Type-Options',
      'nosniff',
      'ETag',
      '"a"',
    ]);
  });
});

describe('a page of another origin', () => {
  test.each<[string, boolean, string | undefined, string | undefined, string | undefined]>([
    ['may read answers of the API', true, 'https://a.com', 'https://a.com', 'Origin, Authorization'],
    ['that does not name itself may not', true, undefined, undefined, 'Origin, Authorization'],
    ['whose name no browser sends may not', true, 'https://e\xe9.com', undefined, 'Origin, Authorization'],
    ['of an endless name may not', true, `https://${'a'.repeat(505)}`, undefined, 'Origin, Authorization'],
    [
      'of the longest name may',
      true,
      `https://${'a'.repeat(504)}`,
      `https://${'a'.repeat(504)}`,
      'Origin, Authorization',
    ],
    ['may not read pages and probes', false, 'https://a.com', undefined, undefined],
  ])('%s', (_, isApi, origin, allowed, vary) => {
    const { call, header } = request({ isApi, sent: { origin } });
    sendJson(call, 200, '{}');
    expect([header('Access-Control-Allow-Origin'), header('Vary')]).toEqual([allowed, vary]);
    const exposed = header('Access-Control-Expose-Headers');
    if (allowed === undefined) expect(exposed).toBeUndefined();
    else expect(exposed).toContain('X-RateLimit-Remaining');
  });
});

describe('a refusal', () => {
  test('is told in words, kept by nobody, with the moment to come back', () => {
    const { call, written, header } = request();
    sendRefusal(call, { refused: 'overloaded', detail: null, retryAfter: 2 }, ['X-More', '1']);
    expect(written.status).toBe(503);
    expect([header('Cache-Control'), header('Retry-After'), header('X-More')]).toEqual([
      'no-store',
      '2',
      '1',
    ]);
    expect(header('Content-Type')).toBe('application/json; charset=utf-8');
    expect(JSON.parse(written.body)).toEqual({
      error: 'overloaded',
      message: expect.any(String),
      detail: null,
      request_id: 'r1',
    });
    expect(header('WWW-Authenticate')).toBeUndefined();
  });

  test('is a problem for those who want one, with the reset where the quota is known', () => {
    const { call, written, header } = request({ sent: { wantsProblem: true } });
    sendRefusal(call, { refused: 'quota_exceeded', detail: 'used up' }, [], allowanceOf(1, 1, MONTH));
    expect(header('Content-Type')).toBe('application/problem+json; charset=utf-8');
    expect(header('Retry-After')).toBeUndefined();
    expect(JSON.parse(written.body)).toMatchObject({
      type: 'about:blank',
      status: 429,
      error: 'quota_exceeded',
      detail: 'used up',
      reset_at: '2026-12-01T00:00:00Z',
    });
  });

  test.each<[string | undefined, string]>([
    [undefined, 'Bearer realm="domain-risk"'],
    ['', 'Bearer realm="domain-risk"'],
    ['Basic abc', 'Bearer realm="domain-risk"'],
    ['Bearer', 'Bearer realm="domain-risk"'],
    ['Bearer ', 'Bearer realm="domain-risk"'],
    ['xBearer abc', 'Bearer realm="domain-risk"'],
    ['Bearer abc', 'Bearer realm="domain-risk", error="invalid_token"'],
    ['bearer  abc', 'Bearer realm="domain-risk", error="invalid_token"'],
    ['BEARER\tabc', 'Bearer realm="domain-risk", error="invalid_token"'],
  ])('of a key sent as %j says how to authenticate', (authorization, challenge) => {
    const { call, header } = request({ sent: { authorization } });
    sendRefusal(call, { refused: 'unauthorized', detail: null });
    expect(header('WWW-Authenticate')).toBe(challenge);
  });

  test.each([
    ['a large one that has not come', MOST_DRAINED + 1, false, false],
    ['a small one that has not come', MOST_DRAINED, false, true],
    ['a large one that has come', MOST_DRAINED + 1, true, true],
  ])('without a look at the body, %s, keeps the connection only where its end is near', (...facts) => {
    const [, bodyLength, complete, keepsAlive] = facts;
    const { call, written } = request({
      ...{ req: { method: 'POST', complete } as never, sent: { bodyLength }, keepsAlive: true },
    });
    refuseUnread(call, { refused: 'unauthorized', detail: null });
    expect([written.status, call.res.shouldKeepAlive, written.isStopped]).toEqual([
      401,
      keepsAlive,
      !keepsAlive,
    ]);
  });

  test.each([
    [504, true],
    [505, false],
  ])('below the server, a page whose name has %i letters may read it: %s', (letters, isAllowed) => {
    const origin = `https://${'a'.repeat(letters)}`;
    const answer = rawRefusal({ refused: 'bad_request', detail: null }, { origin });
    expect([answer.includes(origin), answer.includes('Access-Control-')]).toEqual([isAllowed, isAllowed]);
  });

  test.each([
    ['bad_request', 'HTTP/1.1 400 Bad Request'],
    ['request_timeout', 'HTTP/1.1 408 Request Timeout'],
    ['headers_too_large', 'HTTP/1.1 431 Request Header Fields Too Large'],
    ['overloaded', 'HTTP/1.1 503 Service Unavailable'],
    ['not_found', 'HTTP/1.1 404 Not Found'],
  ] as const)('below the server, %s is a whole answer that ends the connection', (refused, line) => {
    const [head, body] = rawRefusal({ refused, detail: 'ü' }, { requestId: 'r1' }).split('\r\n\r\n') as [
      string,
      string,
    ];
    expect(head.split('\r\n')).toEqual([
      line,
      'X-Content-Type-Options: nosniff',
      'Vary: Origin, Authorization',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'X-Request-Id: r1',
      expect.stringMatching(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/),
      'Connection: close',
    ]);
    expect(JSON.parse(body)).toMatchObject({ error: refused, detail: 'ü', request_id: 'r1' });
    expect(JSON.parse(body)).not.toHaveProperty('type');
    expect(rawRefusal({ refused, detail: null, retryAfter: 3 })).toContain('\r\nRetry-After: 3\r\n');
  });
});

test('the quota is told in both fashions, and not at all where there is none', () => {
  expect(quotaHeaders(allowanceOf(null, 5, MONTH), NOVEMBER)).toEqual([]);
  expect(quotaHeaders(allowanceOf(9, 5, MONTH), MONTH.end - 1_500)).toEqual([
    ...['RateLimit-Policy', '"monthly";q=9;w=2592000', 'RateLimit', '"monthly";r=4;t=2'],
    ...['X-RateLimit-Limit', '9', 'X-RateLimit-Remaining', '4', 'X-RateLimit-Reset', '1796083200'],
  ]);
});
