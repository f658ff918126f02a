/** The operator's side over HTTP: every endpoint, its refusals and their order, and that it is there on request only. */

import { connect } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { referenceRoutes } from '../../scripts/reference.ts';
import { createAppoint } from '../../src/appoint.ts';
import { digestOf } from '../../src/core/key.ts';
import { LONGEST_OVERLAP } from '../../src/core/rotation.ts';
import type { Route } from '../../src/http/routes.ts';
import { ACT } from '../support/act.ts';
import { ask, askBytes, expectError, parseAnswers, type Question } from '../support/answers.ts';
import { guestOf } from '../support/guests.ts';
import { SECRET } from '../support/process.ts';
import { eventually } from '../support/scale.ts';
import { installedCatalog, rawRequest, sharedService, watchAsked } from '../support/service.ts';
import { forgetVersions } from '../support/versions.ts';

const TOKEN = `~!"#$%&'()*+,-./:;<=>?@[]^_{|}-token-canary`;
const shared = sharedService({ env: { ADMIN_TOKEN: TOKEN, ACCESS_LOG: 'all' } });
const LOOKUP = '/v1/public/domain/gmail.com';

afterEach(() => {
  vi.restoreAllMocks();
});

interface Sent extends Question {
  readonly json?: unknown;
}

/** With the token, unless another key is given, and with the body as JSON. */
function admin(method: string, path: string, sent: Sent = {}) {
  const { json, ...question } = sent;
  const body = json === undefined ? (sent.body ?? '') : JSON.stringify(json);
  const type = json === undefined ? [] : ['Content-Type: application/json'];
  const headers = [...type, `Content-Length: ${Buffer.byteLength(body)}`, ...(sent.headers ?? [])];
  const bytes = Buffer.from(body).toString('latin1');
  return ask(shared().port, path, { key: TOKEN, ...question, method, headers, body: bytes });
}

async function done<T = Record<string, unknown>>(method: string, path: string, sent: Sent = {}): Promise<T> {
  const answer = await admin(method, path, sent);
  expect([200, 201], `${method} ${path}: ${answer.body}`).toContain(answer.status);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('x-request-id')).toMatch(/\S{6}/);
  expect([...answer.headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([]);
  return JSON.parse(answer.body) as T;
}

async function refused(method: string, path: string, status: number, error: string, sent: Sent = {}) {
  const answer = await admin(method, path, sent);
  expect([...answer.headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([]);
  return expectError(answer, status, error);
}

interface ShownKey {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly days: readonly number[];
}
interface ShownAct {
  readonly who: string;
  readonly via: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: string | null;
}

const listed = async (id: string) =>
  (await done<{ keys: ShownKey[] }>('GET', '/admin/keys')).keys.find(key => key.id === id)!;
const latest = async () => (await done<{ acts: ShownAct[] }>('GET', '/admin/audit?limit=1')).acts[0]!;
const status = async (secret: string) => (await shared().get(LOOKUP, secret)).status;
let made = 0;
const newKey = (json: object = {}) =>
  done<ShownKey>('POST', '/admin/keys', { json: { name: `key ${++made}`, ...json } });

/** Every endpoint with a request that would succeed if the named thing were there. */
const ENDPOINTS: readonly (readonly [string, string, object?])[] = [
  ['GET', '/admin/keys'],
  ['POST', '/admin/keys', { name: 'x' }],
  ['PATCH', '/admin/keys/key_x', { quota: 1 }],
  ['POST', '/admin/keys/key_x/rotate', {}],
  ['POST', '/admin/keys/key_x/revoke', {}],
  ['GET', '/admin/overrides'],
  ['PUT', '/admin/overrides/a.example.net', { action: 'deny' }],
  ['DELETE', '/admin/overrides/a.example.net'],
  ['GET', '/admin/feeds'],
  ['POST', '/admin/feeds/castle/rollback', {}],
  ['POST', '/admin/feeds/castle/return', {}],
  ['POST', '/admin/feeds/castle/approve', {}],
  ['POST', '/admin/feeds/castle/reject', {}],
  ['GET', '/admin/infra'],
  ['POST', '/admin/infra/mx.example.net/forget', {}],
  ['POST', '/admin/infra/mx.example.net/relearn', {}],
  ['GET', '/admin/audit'],
  ['GET', '/admin/traffic'],
  ['GET', '/admin/decisions'],
  ['GET', '/admin/operators'],
  ['POST', '/admin/operators', { name: 'x' }],
  ['POST', '/admin/operators/x/revoke', {}],
];

describe('the door', () => {
  test('is held against every endpoint that there is', () => {
    const ofOperators = referenceRoutes().filter(({ door }) => door === 'operator');
    const isTried = ({ method, path }: Route) =>
      ENDPOINTS.some(
        ([by, at]) => by === method && new RegExp(`^${path.replace(/\{\w+\}/, '[^/]+')}$`).test(at),
      );
    expect(ofOperators.filter(route => !isTried(route)).map(({ path }) => path)).toEqual([]);
  });

  test('without the token every endpoint is 401, with the challenge, and asks the store nothing', async () => {
    const { store, key, logged, loggedFrom, port } = shared();
    const { secret } = await key();
    const asked = watchAsked(store);
    const before = logged.length;
    const wrong = [
      [],
      [`Authorization: Bearer ${TOKEN.slice(0, -1)}`],
      [`Authorization: Bearer ${TOKEN}x`],
      [`Authorization: Bearer  ${TOKEN}`],
      [`Authorization: Basic ${TOKEN}`],
      [`Authorization: ${TOKEN}`],
      [`Authorization: Bearer ${secret}`],
      [`Authorization: Bearer ${TOKEN}`, `Authorization: Bearer ${TOKEN}`],
    ];
    let refusals = 0;
    for (const [at, [method, path, json]] of ENDPOINTS.entries()) {
      for (const headers of at === 0 ? wrong : [wrong[6]!]) {
        const sent = { ...(json ? { json } : {}), headers, key: undefined };
        const answer = await admin(method, path, sent);
        expectError(answer, 401, 'unauthorized');
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="domain-risk"/);
        refusals++;
      }
    }
    // Nothing of a body that a stranger sends is read: not its type, not its length.
    const huge = ['Content-Type: text/plain', 'Content-Length: 99999999'];
    expectError(await ask(port, '/admin/keys', { method: 'POST', headers: huge }), 401, 'unauthorized');
    expectError(
      await ask(port, '/admin/keys?token=x', { headers: ['X-Operator: \xff'] }),
      401,
      'unauthorized',
    );
    expect(asked()).toEqual([]);
    const told = loggedFrom(before).map(line => JSON.parse(line).msg);
    expect(told).toEqual(Array(refusals + 2).fill('request'));
  });

  test('the scheme may be written in any case, and the token opens nothing else', async () => {
    const { port } = shared();
    const headers = [`authorization: bEARER ${TOKEN}`];
    expect((await ask(port, '/admin/feeds', { headers })).status).toBe(200);
    for (const path of [LOOKUP, '/v1/usage', '/v1/public/top-domains'])
      expectError(await ask(port, path, { key: TOKEN }), 401, 'unauthorized');
  });

  test('404 and 405 come before the token, as everywhere; there is no preflight', async () => {
    const nothing = ['', '/', '/key', '/keys/', '/keys//rotate', '/keys/a/b', '/keys/a/rotate/', '/Keys'];
    const hidden = ['/key%73', '/keys%2Fa', '/keys/a%2Frotate', '/keys#', '/../admin/keys', '/./keys'];
    for (const path of [...nothing, ...hidden].map(rest => `/admin${rest}`)) {
      for (const key of [undefined, TOKEN]) {
        if (path === '/admin/keys/a%2Frotate') continue;
        await refused('GET', path, 404, 'not_found', { key });
        await refused('POST', path, 404, 'not_found', { key, json: { name: 'x' } });
      }
    }
    await refused('GET', '/%61dmin/keys', 404, 'not_found');
    const allowed = [
      ['/admin/keys', 'GET, HEAD, POST'],
      ['/admin/keys/key_x', 'PATCH'],
      ['/admin/keys/a%2Frotate', 'PATCH'],
      ['/admin/keys/key_x/rotate', 'POST'],
      ['/admin/overrides/a.example.net', 'PUT, DELETE'],
      ['/admin/infra/mx.example.net/forget', 'POST'],
      ['/admin/audit', 'GET, HEAD'],
    ] as const;
    for (const [path, allow] of allowed) {
      for (const method of [
        'OPTIONS',
        'TRACE',
        'PROPFIND',
        'QUERY',
        ...(allow.includes('PUT') ? [] : ['PUT']),
      ]) {
        const headers = ['Origin: https://a.example', 'Access-Control-Request-Method: POST'];
        const answer = await admin(method, path, { headers, key: undefined });
        expectError(answer, 405, 'method_not_allowed');
        expect(answer.headers.get('allow')).toBe(allow);
      }
    }
    const head = await admin('HEAD', '/admin/keys');
    expect([head.status, head.body, head.headers.get('cache-control')]).toEqual([200, '', 'no-store']);
  });

  test('what is broken in transport is refused before everything', async () => {
    const { port } = shared();
    const lines = (...text: string[]) => text.map(line => `${line}\r\n`).join('');
    const twoHosts = lines('GET /admin/keys HTTP/1.1', 'Host: x', 'Host: y', 'Connection: close', '');
    expectError(await askBytes(port, twoHosts), 400, 'bad_request');
    const long = lines(`GET /admin/keys/${'x'.repeat(3_000)} HTTP/1.1`, 'Host: x', 'Connection: close', '');
    expectError(await askBytes(port, long), 414, 'uri_too_long');
    const expecting = ['Expect: 100-continue'];
    expectError(
      await admin('POST', '/admin/keys', { json: {}, headers: expecting }),
      417,
      'expectation_failed',
    );
  });

  test('the metrics know it as one route, and nothing public holds the token', async () => {
    const { get } = shared();
    expect(await (await get('/openapi.json')).text()).not.toContain('canary');
    const metrics = await (await get('/metrics')).text();
    expect(metrics).toMatch(/domain_risk_request_seconds_count\{route="admin",status="401"\} [1-9]/);
    expect(metrics).toMatch(/^domain_risk_requests_in_flight 1$/m);
    expect(metrics).not.toContain('canary');
  });
});

describe('bodies', () => {
  const POST = ['POST', '/admin/keys'] as const;

  test('only JSON, and no more than 64 KiB of it', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'nonsense',
      '',
    ]) {
      const headers = type === '' ? [] : [`Content-Type: ${type}`];
      await refused(...POST, 415, 'unsupported_media_type', { body: '{"name":"x"}', headers });
    }
    const headers = ['Content-Type: application/json; charset=utf-8'];
    expect((await admin(...POST, { body: '{"name":"typed"}', headers })).status).toBe(201);
    const full = { name: 'x', origins: ['x'.repeat(65_536 - 27)] };
    expect(JSON.stringify(full)).toHaveLength(65_536);
    await refused(...POST, 422, 'validation_error', { json: full });
    const { detail } = await refused(...POST, 413, 'content_too_large', {
      json: { ...full, name: 'xx' },
    });
    expect(detail).toBe('at most 65536 bytes');
    const chunked = `POST /admin/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const piece = `8000\r\n${' '.repeat(0x8000)}\r\n`;
    expectError(await askBytes(shared().port, chunked + piece.repeat(3)), 413, 'content_too_large');
    const small = `10\r\n{"name":"pieces"\r\n1\r\n}\r\n0\r\n\r\n`;
    expect((await askBytes(shared().port, chunked + small)).status).toBe(201);
  });

  test.each([
    '{',
    'null1',
    '{"name":"x"}}',
    '{"name":"x","__proto__":{"polluted":1}}',
    '{"name":"x","constructor":{"prototype":{"polluted":1}}}',
    '\xff',
    '['.repeat(30_000),
  ])('%j is no JSON for us', async body => {
    const headers = ['Content-Type: application/json'];
    await refused(...POST, 422, 'validation_error', { body, headers });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test('what is not as it must be is named with its fix, and nothing is done', async () => {
    const { keys } = await done<{ keys: unknown[] }>('GET', '/admin/keys');
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [null, /the body must be a JSON object|^name must be/],
      [[], /the body must be a JSON object/],
      ['x', /the body must be a JSON object/],
      [{}, /^name must be one line of 1 to 200 printable characters$/],
      [{ name: '\u202eevil' }, /^name must be one line of 1 to 200 printable characters$/],
      [{ name: null }, /^name must be/],
      [{ name: '  ' }, /^name must be/],
      [{ name: 'a\nb' }, /^name must be/],
      [{ name: '\ud800' }, /^name must be/],
      [{ name: 'x'.repeat(201) }, /^name must be/],
      [{ note: '' }, /^note must be one line of 1 to 200 printable characters$/],
      [{ note: 5 }, /^note must be one line of 1 to 200 printable characters, or null$/],
      [{ note: 'a\nb' }, /^note must be/],
      [{ note: 'a\u0007b' }, /^note must be/],
      [{ note: 'x'.repeat(201) }, /^note must be/],
      [{ quota: '5' }, /^quota must be a whole number from 0 to 2147483648, or null$/],
      [{ quota: -1 }, /^quota must be/],
      [{ quota: 1.5 }, /^quota must be/],
      [{ quota: 2 ** 31 + 1 }, /^quota must be/],
      [{ rate: 0 }, /^rate must be a whole number from 1 to 1000000, or null$/],
      [{ origins: 'https://a.example' }, /^origins must be a list/],
      [{ origins: ['https://a.example/path'] }, /^origins: the origin "https:\/\/a\.example\/path" must be/],
      [{ origins: Array(101).fill('https://a.example') }, /^origins must be a list of at most 100/],
      [{ networks: [1] }, /^networks must be a list/],
      [{ networks: ['192.0.2.0/33'] }, /^networks: the network "192\.0\.2\.0\/33" must be/],
      [{ expires_at: 0 }, /^expires_at must be like/],
      [{ expires_at: 'tomorrow' }, /^expires_at must be like/],
      [{ expires_at: '2020-01-01' }, /^expires_at must be in the future \(2020-01-01 is past/],
      [{ colour: 1 }, /^"colour" is not a field of this body; it takes name, note, quota, rate, /],
      [{ [`${'\u202e'.repeat(80)}`]: 1 }, /is not a field of this body/],
      [{ revoked_at: null }, /^"revoked_at" is not a field/],
    ];
    for (const [value, words] of wrong) {
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      const json =
        isObject && !('name' in value) && Object.keys(value).length > 0 ? { name: 'x', ...value } : value;
      const { detail } = await refused(...POST, 422, 'validation_error', { json });
      expect(detail, JSON.stringify(value)).toMatch(words);
    }
    expect((await done<{ keys: unknown[] }>('GET', '/admin/keys')).keys).toHaveLength(keys.length);
  });

  test('a body that breaks off ends the request, and leaves nothing behind', async () => {
    const { port, get } = shared();
    const head = `POST /admin/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;
    const broken = `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"nam\r\nZZ\r\n`;
    expectError(await askBytes(port, broken), 400, 'bad_request');
    const before = shared().logged.length;
    const told = () =>
      shared()
        .logged.slice(before)
        .map(line => JSON.parse(line))
        .flatMap(line => (line.route === 'admin' ? [line.status] : []));
    const gone = connect(port, '127.0.0.1');
    gone.on('error', () => {});
    gone.write(`${head}Content-Length: 100\r\n\r\n{"na`, () => gone.resetAndDestroy());
    // What was never answered is no success in the log.
    await eventually('it is told of', async () => told().length > 0);
    expect(told()).toEqual([400]);
    const text = await (await get('/metrics')).text();
    expect(text).toMatch(/^domain_risk_requests_in_flight 1$/m);
  });

  test('after a body another request may follow on the connection', async () => {
    const body = '{"name":"first"}';
    const first = `POST /admin/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const second = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const answers = parseAnswers(await rawRequest(shared().port, first + second));
    expect(answers.map(answer => answer.status)).toEqual([201, 200]);
  });
});

describe('keys', () => {
  test('are listed page by page where that is asked for, and whole where it is not', async () => {
    for (let at = 0; at < 3; at++) await done('POST', '/admin/keys', { json: { name: `page ${at}` } });
    type Page = { keys: ShownKey[]; next: string | null };
    const whole = await done<Page>('GET', '/admin/keys');
    expect(whole.next).toBeNull();
    const read: ShownKey[] = [];
    for (let after = '', pages = 0; pages <= whole.keys.length; pages++) {
      const { keys, next } = await done<Page>('GET', `/admin/keys?limit=2${after}`);
      read.push(...keys);
      if (next === null) break;
      expect(next).toBe(keys[1]!.id);
      after = `&after=${next}`;
    }
    expect(read).toEqual(whole.keys);
    const wrong = await refused('GET', '/admin/keys?after=key_none', 422, 'validation_error');
    expect(wrong.detail).toBe('after must be the next of an earlier answer');
    for (const limit of ['0', '20001', 'x']) {
      const { detail } = await refused('GET', `/admin/keys?limit=${limit}`, 422, 'validation_error');
      expect(detail).toBe('limit must be a whole number from 1 to 20000');
    }
  });

  test('a new key has its limits, works at once, and is listed without its secret', async () => {
    const limits = { quota: 2, rate: 50, networks: ['127.0.0.1'], expires_at: '2099-01-31' };
    const json = {
      name: 'web',
      note: ' ask Ann ',
      ...limits,
      origins: ['https://APP.example.com', 'https://*.example.org'],
    };
    const answer = await admin('POST', '/admin/keys', { json });
    expect(answer.status).toBe(201);
    const made = JSON.parse(answer.body) as ShownKey;
    const shown = {
      id: expect.stringMatching(/^key_[0-9a-f]{16}$/),
      name: 'web',
      note: 'ask Ann',
      shown_as: `${made.key.slice(0, 8)}…${made.key.slice(-4)}`,
      quota: 2,
      rate: 50,
      origins: ['https://app.example.com', 'https://*.example.org'],
      networks: ['127.0.0.1/32'],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/),
      expires_at: '2099-01-31T00:00:00Z',
      revoked_at: null,
    };
    expect(made).toEqual({ ...shown, key: expect.stringMatching(SECRET), used: 0 });
    const { get } = shared();
    expect((await get(LOOKUP, made.key)).status).toBe(403);
    expect((await get(LOOKUP, made.key, { origin: 'https://a.example.org' })).status).toBe(200);
    const days = [...Array(29).fill(0), 1];
    const verdicts = { safe: 1, disposable: 0, undeliverable: 0, role_account: 0, degraded: 0 };
    const last_used_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/);
    expect(await listed(made.id)).toEqual({ ...shown, id: made.id, used: 1, last_used_at, days, verdicts });
    const { detail } = await refused('POST', '/admin/keys', 422, 'validation_error', { json });
    expect(detail).toBe('there is a key named "web" already: choose another name');
  });

  test('updates count from the next request on; what is not named stays, null takes a limit away', async () => {
    const { key, id } = await newKey({ name: 'before', quota: 1, origins: [] });
    expect([await status(key), await status(key)]).toEqual([200, 429]);
    const raised = await done('PATCH', `/admin/keys/${id}`, { json: { quota: 2, name: 'renamed' } });
    expect(raised).toMatchObject({ id, name: 'renamed', quota: 2, used: 1, rate: null });
    expect(raised).not.toHaveProperty('key');
    expect(await latest()).toMatchObject({
      action: 'key.update',
      subject: id,
      detail: 'name "before" → "renamed", quota 1 → 2',
    });
    const acts = await done<{ acts: ShownAct[] }>('GET', '/admin/audit');
    expect(await done('PATCH', `/admin/keys/${id}`, { json: { quota: 2 } })).toMatchObject({ quota: 2 });
    expect(await done('GET', '/admin/audit')).toEqual(acts);
    expect([await status(key), await status(key)]).toEqual([200, 429]);
    const noted = await done('PATCH', `/admin/keys/${id}`, { json: { note: 'x'.repeat(200) } });
    expect(noted).toMatchObject({ name: 'renamed', note: 'x'.repeat(200), quota: 2 });
    expect(await latest()).toMatchObject({ detail: `note none → "${'x'.repeat(200)}"` });
    const all = { note: null, quota: null, rate: null, origins: null, networks: null, expires_at: null };
    const limited = {
      rate: 100,
      origins: ['https://a.example'],
      networks: ['10.0.0.0/8'],
      expires_at: '2099-01-01',
    };
    expect(await done('PATCH', `/admin/keys/${id}`, { json: limited })).toMatchObject({
      name: 'renamed',
      rate: 100,
    });
    expect(await status(key)).toBe(403);
    expect(await done('PATCH', `/admin/keys/${id}`, { json: all })).toMatchObject({
      ...{ note: null, quota: null, rate: null, origins: [], networks: [], expires_at: null },
    });
    expect(await status(key)).toBe(200);
    await done('PATCH', `/admin/keys/${id}`, { json: { quota: 0 } });
    expect(await status(key)).toBe(429);
  });

  test('a rotation gives a new secret and keeps the count; the old one ends at once or after the overlap', async () => {
    const { key, id } = await newKey({ quota: 10 });
    expect(await status(key)).toBe(200);
    const next = await done<ShownKey>('POST', `/admin/keys/${id}/rotate`);
    expect(next).toMatchObject({ id, used: 1, quota: 10, key: expect.stringMatching(SECRET) });
    expect(next).not.toHaveProperty('previous_until');
    expect([await status(key), await status(next.key)]).toEqual([401, 200]);
    const last = await done<ShownKey>('POST', `/admin/keys/${id}/rotate`, {
      json: { overlap_seconds: 3600 },
    });
    expect([await status(next.key), await status(last.key)]).toEqual([200, 200]);
    const { previous_until } = last as unknown as { previous_until: string };
    const left = Date.parse(previous_until) - Date.now();
    expect([left > 3_500_000, left <= 3_600_000]).toEqual([true, true]);
    expect((await latest()).detail).toBe(`the old secret stays valid until ${previous_until}`);
    // Who has the secret before was told until when it works.
    const path = `/admin/keys/${id}/rotate`;
    const overlapping = { json: { overlap_seconds: 60 } };
    const { detail: why } = await refused('POST', path, 422, 'validation_error', overlapping);
    expect(why).toMatch(
      `the secret before is valid until ${previous_until}, and a new overlap would end it now`,
    );
    expect([await status(next.key), await status(last.key)]).toEqual([200, 200]);
    const json = { overlap_seconds: 60, end_previous: true };
    const third = await done<ShownKey>('POST', path, { json });
    expect((await latest()).detail).toMatch(
      new RegExp(`^the old secret stays.*; the one before it, valid until ${previous_until}, ends at once$`),
    );
    expect([await status(next.key), await status(last.key), await status(third.key)]).toEqual([
      401, 200, 200,
    ]);
    for (const overlap_seconds of [-1, 1.5, '60', null, LONGEST_OVERLAP + 1]) {
      const json = { overlap_seconds };
      const { detail } = await refused('POST', `/admin/keys/${id}/rotate`, 422, 'validation_error', { json });
      expect(detail).toMatch(/^overlap_seconds must be a whole number/);
    }
    expect(await status(last.key)).toBe(200);
    // Without an overlap nothing old is to work any more.
    const leaked = await done<ShownKey>('POST', path);
    expect((await latest()).detail).toMatch(
      /^the old secret ends at once; the one before it, valid until .*, ends at once$/,
    );
    expect([await status(last.key), await status(third.key), await status(leaked.key)]).toEqual([
      401, 401, 200,
    ]);
  });

  test('a revoked key is refused with the next request, and for good', async () => {
    const { key, id } = await newKey();
    expect(await status(key)).toBe(200);
    const revoked = await done('POST', `/admin/keys/${id}/revoke`);
    expect(revoked).toMatchObject({ id, revoked_at: expect.stringMatching(/Z$/) });
    expect(await status(key)).toBe(401);
    for (const [method, path] of [
      ['PATCH', ''],
      ['POST', '/rotate'],
      ['POST', '/revoke'],
    ] as const) {
      const { detail } = await refused(method, `/admin/keys/${id}${path}`, 422, 'validation_error', {
        json: {},
      });
      expect(detail).toBe(`the key ${id} is revoked, which cannot be undone: create a new one`);
    }
    expect(await status(key)).toBe(401);
  });

  test('of a key that is not there, or is only called so, nothing is done', async () => {
    await newKey({ name: 'called-so' });
    for (const id of ['key_none', 'called-so', 'key_%00', '%zz', '..%2f', '__proto__', 'x'.repeat(1_900)]) {
      const path = `/admin/keys/${id}`;
      const { detail } = await refused('PATCH', path, 404, 'not_found', { json: { quota: 1 } });
      expect(detail).toBe('there is no such key');
      await refused('POST', `${path}/rotate`, 404, 'not_found');
      await refused('POST', `${path}/revoke`, 404, 'not_found');
    }
  });

  test('changes at the same time lose nothing', async () => {
    const { id } = await newKey();
    const path = `/admin/keys/${id}`;
    const changes = [
      ...[{ quota: 7 }, { rate: 8 }, { name: 'ninth' }, { expires_at: '2099-01-01' }],
      ...[{ origins: ['https://a.example'] }, { networks: ['192.0.2.0/24'] }],
    ];
    const made = await Promise.all([
      done<ShownKey>('POST', `${path}/rotate`, { json: { overlap_seconds: 60, end_previous: true } }),
      ...changes.map(json => done<ShownKey>('PATCH', path, { json })),
      done<ShownKey>('POST', `${path}/rotate`, { json: { overlap_seconds: 60, end_previous: true } }),
    ]);
    const { acts } = await done<{ acts: ShownAct[] }>('GET', '/admin/audit?limit=20');
    expect(acts.filter(({ subject }) => subject === id)).toHaveLength(changes.length + 3);
    expect(await listed(id)).toMatchObject({
      ...{ quota: 7, rate: 8, name: 'ninth', expires_at: '2099-01-01T00:00:00Z' },
      ...{ origins: ['https://a.example'], networks: ['192.0.2.0/24'] },
    });
    const secrets = [made[0]!.key, made.at(-1)!.key];
    const origin = { origin: 'https://a.example' };
    for (const secret of secrets) expect((await shared().get(LOOKUP, secret, origin)).status).toBe(403);
    await done('PATCH', path, { json: { networks: null } });
    for (const secret of secrets) expect((await shared().get(LOOKUP, secret, origin)).status).toBe(200);
  });
});

describe('overrides', () => {
  test('many set at once leave callers most of the time: a hundred in a second', async () => {
    const { port, key } = shared();
    const { secret } = await key();
    const names = Array.from({ length: 40 }, (_, at) => `/admin/overrides/many${at}.example.net`);
    const began = performance.now();
    const statuses = new Set<number>();
    const calls = Promise.all(
      Array.from({ length: 10 }, async () => {
        while (performance.now() - began < 300)
          statuses.add((await ask(port, LOOKUP, { key: secret })).status);
      }),
    );
    await Promise.all(names.map(path => done('PUT', path, { json: { action: 'allow' } })));
    const took = performance.now() - began;
    await calls;
    await Promise.all(names.map(path => admin('DELETE', path)));
    expect(performance.now() - began).toBeGreaterThan(700);
    expect(statuses).toContain(200);
    // A call gives up after 0.7 s of changes (admit/spending.ts): only where these took longer may one have done so.
    statuses.delete(200);
    expect([...statuses]).toEqual(took > 700 && statuses.size > 0 ? [500] : []);
  });

  test('are set, listed and removed, and decide from the next request on', async () => {
    const { key } = await newKey();
    const risk = async () =>
      (await (await shared().get('/v1/public/domain/münchen.de', key)).json()) as object;
    const path = '/admin/overrides/M%C3%BCnchen.DE.';
    const json = { action: 'deny', below: true, note: ' <b>why</b> ', expires_at: '2099-01-31T12:00:00Z' };
    const set = await done('PUT', path, { json, headers: ['X-Operator: J\xc3\xb6rg & <i>'] });
    expect(set).toEqual({
      ...json,
      domain: 'xn--mnchen-3ya.de',
      note: '<b>why</b>',
      author: 'Jörg & <i>',
      created_at: expect.stringMatching(/Z$/),
      expires_at: '2099-01-31T12:00:00Z',
    });
    expect(Object.keys(set)).toEqual([
      ...['domain', 'action', 'below', 'note', 'author', 'created_at', 'expires_at'],
    ]);
    expect(await risk()).toMatchObject({ risk_score: 100, reason: 'disposable' });
    expect(await done('GET', '/admin/overrides')).toEqual({ overrides: [set] });
    expect(await done('PUT', path, { json: { action: 'allow' } })).toMatchObject({
      ...{ action: 'allow', below: false, note: null, author: 'operator', expires_at: null },
    });
    expect(await risk()).toMatchObject({ risk_score: 0, reason: 'safe' });
    const removed = await admin('DELETE', path);
    expect([removed.status, removed.body, removed.headers.get('cache-control')]).toEqual([
      204,
      '',
      'no-store',
    ]);
    expect(await latest()).toMatchObject({ action: 'override.remove', subject: 'xn--mnchen-3ya.de' });
    expect(await done('GET', '/admin/overrides')).toEqual({ overrides: [] });
    const { detail } = await refused('DELETE', path, 404, 'not_found');
    expect(detail).toBe('there is no override for xn--mnchen-3ya.de');
  });

  test.each([
    ['co.uk', {}],
    ['a%40example.com', {}],
    ['a%252ecom', {}],
    ['%zz', {}],
    ['127.0.0.1', {}],
    ['a_b.example.com', {}],
    ['example.com%2Fx', {}],
    ['example.com', { action: undefined }],
    ['example.com', { action: 'block' }],
    ['example.com', { below: 'yes' }],
    ['example.com', { note: '' }],
    ['example.com', { note: 'x'.repeat(201) }],
    ['example.com', { expires_at: '2001-01-01' }],
    ['example.com', { author: 'me' }],
  ])('%s with %j is 422 and sets nothing', async (domain, wrong) => {
    const json = { action: 'deny', ...wrong };
    const { detail } = await refused('PUT', `/admin/overrides/${domain}`, 422, 'validation_error', { json });
    expect(detail).toMatch(/\S{3}/);
    expect(await done('GET', '/admin/overrides')).toEqual({ overrides: [] });
  });
});

describe('feeds, mail hosts and the audit', () => {
  test('feeds are shown as they are now', async () => {
    const shown = await done<{ feeds: Record<string, unknown>[]; domains: number }>('GET', '/admin/feeds');
    expect(Object.keys(shown)).toEqual(['snapshot', 'domains', 'panel', 'freshness', 'feeds', 'missing']);
    expect(shown.domains).toBe((await installedCatalog()).size);
    for (const feed of shown.feeds) {
      expect(feed).toEqual({
        feed: expect.any(String),
        kind: expect.stringMatching(/^(disposable|free|relay|academic)$/),
        family: expect.any(String),
        verified: expect.any(Boolean),
        licence: expect.any(String),
        origin: expect.any(String),
        own: false,
        version: expect.any(String),
        names: expect.any(Number),
        dropped: expect.objectContaining({ malformed: expect.any(Number), protected: expect.any(Number) }),
        updated_at: null,
        ...{ tried_at: null, checked_at: null, age_seconds: null, added: 0, removed: 0, problem: null },
        ...{ fallback: null, waiting: [], rejected_in_use: [] },
        ...{ can_roll_back: false, held: false, digest: null, next: null },
      });
    }
  });

  test('a feed is rolled back, down to the installed version, and forth again', async () => {
    const { store } = shared();
    const version = (acceptedAt: number) => ({
      ...{ feed: 'castle', version: `v${acceptedAt}`, digest: `d${acceptedAt}`, names: acceptedAt },
      ...{ acceptedAt, body: 'none that can be read' },
    });
    await store.acceptSnapshot(version(1_000), null, ACT);
    await store.acceptSnapshot(version(2_000), 'd1000', ACT);
    const back = () => done('POST', '/admin/feeds/castle/rollback', { json: {} });
    const forth = () => done('POST', '/admin/feeds/castle/return', { json: {} });
    const first = { feed: 'castle', version: 'v1000', names: 1_000, updated_at: '1970-01-01T00:00:01Z' };
    const none = { feed: 'castle', version: null, names: null, updated_at: null, held: true };
    expect(await back()).toEqual({ ...first, held: true });
    expect(await back()).toEqual(none);
    await refused('POST', '/admin/feeds/castle/rollback', 404, 'not_found', { json: {} });
    const { missing } = await done<{ missing: object[] }>('GET', '/admin/feeds');
    expect(missing).toContainEqual(expect.objectContaining({ feed: 'castle', held: true }));
    expect(await forth()).toEqual({ ...first, held: true });
    expect(await forth()).toMatchObject({ version: 'v2000', held: false });
    const { detail } = await refused('POST', '/admin/feeds/castle/return', 404, 'not_found', { json: {} });
    expect(detail).toBe('no newer version of castle is kept');
    expect((await store.audit(4)).map(act => [act.action, act.subject, act.detail])).toEqual([
      ['feed.return', 'castle', 'v1000 with 1000 names → v2000 with 2000 names'],
      ['feed.return', 'castle', 'no update → v1000 with 1000 names'],
      ['feed.rollback', 'castle', 'v1000 with 1000 names → no update'],
      ['feed.rollback', 'castle', 'v2000 with 2000 names → v1000 with 1000 names'],
    ]);
    await forgetVersions(store, 'castle');
  });

  test('a feed goes back one version, and only from the one that was looked at, however many ask for it', async () => {
    const { store } = shared();
    const shown = async () => {
      const { missing } = await done<{ missing: { feed: string }[] }>('GET', '/admin/feeds');
      return missing.find(({ feed }) => feed === 'castle');
    };
    for (const at of [1, 2, 3])
      await store.acceptSnapshot(
        {
          ...{ feed: 'castle', version: `v${at}`, digest: `d${at}`, names: at },
          ...{ acceptedAt: 1_000 * at, body: 'none that can be read' },
        },
        at === 1 ? null : `d${at - 1}`,
        ACT,
      );
    const step = (way: string, json: object) => admin('POST', `/admin/feeds/castle/${way}`, { json });
    const statuses = async (way: string, json: object, times = 5) => {
      const all = await Promise.all(Array.from({ length: times }, () => step(way, json)));
      return all.map(({ status }) => status).sort();
    };
    expect(await shown()).toMatchObject({ digest: 'd3', next: { version: 'v3', names: 3 } });
    expect(await statuses('rollback', { digest: 'd3' })).toEqual([200, 422, 422, 422, 422]);
    // A page that shows what was in use before.
    expect(await statuses('rollback', { digest: 'd3' }, 1)).toEqual([422]);
    expect(await shown()).toMatchObject({ digest: 'd2', next: { version: 'v2', names: 2 }, held: true });
    expect(await statuses('rollback', { digest: 'd2' }, 1)).toEqual([200]);
    expect(await statuses('rollback', { digest: 'd1' }, 1)).toEqual([200]);
    expect(await shown()).toMatchObject({ digest: null, next: null, held: true });
    expect(await statuses('return', { digest: 'd1' }, 1)).toEqual([422]);
    expect(await statuses('return', { digest: null }, 1)).toEqual([200]);
    for (const [json, rule] of [
      [{ digest: 'd3' }, 'another version of castle is in use by now: look at it first'],
      [{ digest: 3 }, 'digest must be that of a version, or null'],
    ] as const)
      expect(await refused('POST', '/admin/feeds/castle/return', 422, 'validation_error', { json })).toEqual(
        expect.objectContaining({ detail: rule }),
      );
    await forgetVersions(store, 'castle');
  });

  test('learned hosts are listed, forgotten and let in again', async () => {
    const { store } = shared();
    const guests = Array.from({ length: 12 }, (_, i) => {
      const entry = ['mailinator.com', 'yopmail.com', 'guerrillamail.com'][i % 3]!;
      return guestOf({ host: 'mx.box-hosting.net', domain: `*.guest${i}.com`, entry, day: '2026-11-15' });
    });
    await store.learn(guests, [], '2026-11-15', '2026-08-01');
    const hosts = async () => (await done<{ hosts: object[] }>('GET', '/admin/infra')).hosts;
    expect(await hosts()).toEqual([
      {
        // By the lists of this test, which are one family: that never teaches a host.
        host: 'mx.box-hosting.net',
        state: 'undecided',
        flagged: 12,
        innocent: 0,
        sum: 0,
        last_seen: '2026-11-15',
        neighbours: expect.arrayContaining([expect.stringMatching(/\.com$/)]),
        addresses: [],
      },
    ]);
    // One alone, for its graph.
    const one = async (host: string) =>
      (await done<{ hosts: { host: string }[] }>('GET', `/admin/infra?host=${host}`)).hosts;
    expect((await one('mx.box-hosting.net')).map(({ host }) => host)).toEqual(['mx.box-hosting.net']);
    expect(await one('mx.elsewhere.net')).toEqual([]);
    const path = '/admin/infra/MX.box-hosting.net.';
    expect(await done('POST', `${path}/forget`)).toEqual({ host: 'mx.box-hosting.net', forgotten: true });
    expect(await hosts()).toMatchObject([{ state: 'forgotten', flagged: 0 }]);
    expect(await latest()).toMatchObject({ action: 'host.forget', subject: 'mx.box-hosting.net' });
    expect(await done('POST', `${path}/relearn`)).toEqual({ host: 'mx.box-hosting.net', forgotten: false });
    expect(await latest()).toMatchObject({ action: 'host.relearn', subject: 'mx.box-hosting.net' });
    for (const act of ['forget', 'relearn']) {
      const { detail } = await refused('POST', `/admin/infra/2001:db8::1/${act}`, 404, 'not_found');
      expect(detail).toBe('nothing is known of 2001:db8::1');
      // Evidence names it where its address was judged.
      const own = await refused('POST', `/admin/infra/mx1.firm.com/${act}`, 404, 'not_found');
      expect(own.detail).toMatch(/^nothing is known of mx1\.firm\.com; .* by its address$/);
      for (const host of ['no%20host', '%zz', 'a%2Fb', '%00'])
        await refused('POST', `/admin/infra/${host}/${act}`, 422, 'validation_error');
    }
  });

  test('an operator with a token of their own is named by it, whatever X-Operator says, until it is revoked', async () => {
    const { store } = shared();
    const appoint = createAppoint({ store, clock: Date.now });
    const ada = await appoint.add('Ada', ACT);
    const key = ada!.token;
    const known = async () => (await admin('GET', '/admin/keys', { key })).status;
    // At once, though it was another process that made it.
    expect(await known()).toBe(200);
    const sent = { key, headers: ['X-Operator: Bob'], json: { name: 'by Ada' } };
    const { id } = await done<ShownKey>('POST', '/admin/keys', sent);
    expect(await latest()).toMatchObject({ who: 'Ada', action: 'key.create', subject: id });
    for (const name of ['Ada', 'ADA']) expect(await appoint.add(name, ACT)).toBeUndefined();
    expect(await appoint.revoke('Ada', ACT)).toBe(true);
    expect(await appoint.revoke('Ada', ACT)).toBe(false);
    expect(await known()).toBe(401);
    expect((await admin('GET', '/admin/keys', { key: `dro_${'0'.repeat(64)}` })).status).toBe(401);
    expect(JSON.stringify(await store.listOperators())).not.toContain(key);
    // The name is free again.
    expect(await appoint.add('Ada', ACT)).toBeDefined();
  });

  test('an operator that was added is known at once, and nobody acts under that name with the ADMIN_TOKEN', async () => {
    const add = { json: { name: 'Lin' } };
    const { token: key } = await done<{ token: string }>('POST', '/admin/operators', add);
    expect((await admin('GET', '/admin/keys', { key })).status).toBe(200);
    const before = await latest();
    for (const name of ['Lin', 'LIN']) {
      const sent = { json: { name: 'by somebody' }, headers: [`X-Operator: ${name}`] };
      const { detail } = await refused('POST', '/admin/keys', 422, 'validation_error', sent);
      expect(detail).toMatch(/^X-Operator must be another name: "lin" acts with/i);
    }
    expect(await latest()).toEqual(before);
    expect((await admin('POST', '/admin/operators/Lin/revoke')).status).toBe(204);
    expect((await admin('GET', '/admin/keys', { key })).status).toBe(401);
  });

  test('nobody gets the name under which the ADMIN_TOKEN acts by itself, and one who has it locks nobody out', async () => {
    for (const name of ['operator', 'Operator', '.', '..']) {
      const { detail } = await refused('POST', '/admin/operators', 422, 'validation_error', {
        json: { name },
      });
      expect(detail).toMatch(/^name must be (another one|more than dots)/);
    }
    // Of a store from before.
    const appoint = createAppoint({ store: shared().store, clock: Date.now });
    const { token: key } = (await appoint.add('operator', ACT))!;
    // From here on the server knows of it.
    expect((await admin('GET', '/admin/keys', { key })).status).toBe(200);
    expect((await admin('GET', '/admin/keys')).status).toBe(200);
    expect((await admin('POST', '/admin/operators/operator/revoke')).status).toBe(204);
    expect((await admin('GET', '/admin/keys')).status).toBe(200);
  });

  test('who acts is told by X-Operator, from where by the connection', async () => {
    const { id } = await newKey({ name: 'acted on' });
    expect(await latest()).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/),
      who: 'operator',
      via: '127.0.0.1',
      action: 'key.create',
      subject: id,
      detail: 'name "acted on"',
    });
    const path = `/admin/keys/${id}`;
    for (const [sent, who] of [
      ['grace', 'grace'],
      ['  Ada L.  ', 'Ada L.'],
      ['J\xc3\xb6rg', 'Jörg'],
      [`<script>'"&`, `<script>'"&`],
      ['Operator', 'operator'],
      ['x'.repeat(100), 'x'.repeat(100)],
    ] as const) {
      await done('PATCH', path, { json: { name: `by ${who}` }, headers: [`X-Operator: ${sent}`] });
      expect(await latest()).toMatchObject({ who, action: 'key.update' });
    }
    for (const bad of ['', ' ', 'a\tb', '\xff', '\xe2\x80\xae', 'x'.repeat(101), 'a\r\nx-operator: b']) {
      const headers = [`X-Operator: ${bad}`];
      const { detail } = await refused('PATCH', path, 422, 'validation_error', {
        json: { quota: 6 },
        headers,
      });
      expect(detail).toMatch(/^X-Operator must be /);
    }
    expect(await listed(id)).toMatchObject({ name: `by ${'x'.repeat(100)}` });
  });

  test('the audit gives the newest first, as many as wanted', async () => {
    await newKey({ name: 'older' });
    await newKey({ name: 'newer' });
    const { acts } = await done<{ acts: ShownAct[] }>('GET', '/admin/audit?limit=2');
    expect(acts.map(({ detail }) => detail)).toEqual(['name "newer"', 'name "older"']);
    for (const limit of ['0', '1001', 'all', '', '-1']) {
      const { detail } = await refused('GET', `/admin/audit?limit=${limit}`, 422, 'validation_error');
      expect(detail).toBe('limit must be a whole number from 1 to 1000');
    }
    const all = await done<{ acts: ShownAct[] }>('GET', '/admin/audit');
    expect(all.acts.length).toBeLessThanOrEqual(100);
  });

  test('a change of any size is told in one short line', async () => {
    const origins = Array.from({ length: 100 }, (_, i) => `https://app${i}.example.com`);
    const { id } = await newKey({ name: '\u{1f511}'.repeat(100), origins });
    const { detail } = await latest();
    expect(detail).toMatch(/^name "(\u{1f511}){100}", origins https:\/\/app0\.example\.com .*…$/u);
    expect(detail).toHaveLength(500);
    expect(await listed(id)).toMatchObject({ origins });
  });

  test('hostile names come back as the text that they are', async () => {
    const names = ['<script>alert(1)</script>', `'; DROP TABLE key; --`, '=1+1', '\u{1f511}', '__proto__'];
    for (const name of names) {
      const { id } = await newKey({ name });
      expect((await listed(id)).name).toBe(name);
      expect(await latest()).toMatchObject({ detail: `name ${JSON.stringify(name)}` });
    }
  });
});

test('a failure of ours is an opaque 500 and done nothing; what was asked is in the log, no secret is', async () => {
  const { store, logged } = shared();
  vi.spyOn(store, 'createKey').mockRejectedValue(new Error('SELECT secret FROM /tmp/canary.db'));
  const { detail } = await refused('POST', '/admin/keys', 500, 'internal_error', { json: { name: 'x' } });
  expect(detail).toBeNull();
  vi.restoreAllMocks();
  vi.spyOn(store, 'updateKey').mockResolvedValue(false);
  const { id, key } = await newKey();
  const contended = await admin('PATCH', `/admin/keys/${id}`, { json: { quota: 1 } });
  expect(expectError(contended, 503, 'overloaded').detail).toMatch(/nothing was changed here: try again/);
  expect(contended.headers.get('retry-after')).toBe('1');

  const { acts } = await done<{ acts: ShownAct[] }>('GET', '/admin/audit?limit=1000');
  const { keys } = await done<{ keys: ShownKey[] }>('GET', '/admin/keys');
  const text = [JSON.stringify(acts), JSON.stringify(keys), ...logged].join('\n');
  expect(text).not.toMatch(SECRET);
  expect(text).not.toContain('token-canary');
  expect(text).not.toContain(digestOf(key));
  const line = logged.find(one => JSON.parse(one).status === 201);
  expect(JSON.parse(line!)).toMatchObject({ msg: 'request', route: 'admin', method: 'POST' });
});

test('operators are added, act in their own name, and are revoked; a token is shown once', async () => {
  const path = '/admin/operators';
  const made = await done<{ name: string; token: string }>('POST', path, {
    json: { name: ' Grace H. ' },
    headers: ['X-Operator: Ann'],
  });
  expect(made).toMatchObject({ name: 'Grace H.', revoked_at: null, token: expect.stringMatching(/^dro_/) });
  const again = await refused('POST', path, 422, 'validation_error', { json: { name: 'Grace H.' } });
  expect(JSON.stringify(again)).toContain('already');
  for (const name of ['a\nb', '.', '..'])
    await refused('POST', path, 422, 'validation_error', { json: { name } });
  await refused('POST', path, 422, 'validation_error', { json: {} });
  const listed = await admin('GET', path);
  expect(listed.body).toContain('"Grace H."');
  expect(listed.body).not.toContain('dro_');

  // Running servers know a token within a second.
  const asGrace = { key: made.token };
  await eventually('the token works', async () => (await admin('GET', path, asGrace)).status === 200);
  expect(await done('GET', path, asGrace)).toMatchObject({ you: 'Grace H.' });
  const headers = ['X-Operator: Somebody'];
  await done('PUT', '/admin/overrides/grace.example.org', { ...asGrace, headers, json: { action: 'allow' } });
  const revoke = `${path}/Grace%20H./revoke`;
  expect((await admin('POST', revoke, { headers: ['X-Operator: Ann'] })).status).toBe(204);
  await eventually('it no longer does', async () => (await admin('GET', path, asGrace)).status === 401);
  await refused('POST', revoke, 404, 'not_found');
  await refused('POST', `${path}/%E0%A4/revoke`, 422, 'validation_error');
  const { acts } = await done<{ acts: { who: string; action: string; subject: string }[] }>(
    'GET',
    '/admin/audit?limit=3',
  );
  expect(acts.map(({ who, action, subject }) => [who, action, subject])).toEqual([
    ['Ann', 'operator.revoke', 'Grace H.'],
    ['Grace H.', 'override.set', 'grace.example.org'],
    ['Ann', 'operator.add', 'Grace H.'],
  ]);
  expect(JSON.stringify(acts)).not.toContain(made.token);
});
