/** The reference: the OpenAPI document, held against what the service really answers, and the page made of it. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, describe, expect, test } from 'vitest';
import { referenceDocument } from '../../scripts/reference.ts';
import { REFUSALS } from '../../src/core/refusal.ts';
import { NOW, REQUEST_ID } from '../../src/http/examples.ts';
import { type Answer, ask, expectError } from '../support/answers.ts';
import { failNextSpend } from '../support/failing.ts';
import { guestOf } from '../support/guests.ts';
import { allListsCatalog, sharedService, startTestService } from '../support/service.ts';

const TOKEN = 'token-of-the-tests-0123456789abcdef';
const shared = sharedService({ env: { ADMIN_TOKEN: TOKEN }, clock: () => NOW });
const withAllLists = sharedService({ clock: () => NOW, catalog: await allListsCatalog() });

interface Header {
  $ref?: string;
  description?: string;
  schema?: { type: string };
  example?: string | number;
}
interface Media {
  schema: { $ref: string };
  examples: Record<string, { summary: string; value: Record<string, unknown> }>;
}
interface Response {
  $ref?: string;
  description: string;
  headers: Record<string, Header>;
  content?: Record<string, Media>;
}
interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: object[];
  parameters: { name: string; in: string; required?: boolean; schema: object }[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Response>;
}
interface Document {
  openapi: string;
  info: { title: string; version: string };
  security: object[];
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, object>;
    headers: Record<string, Header>;
    responses: Record<string, Response>;
    securitySchemes: Record<string, object>;
  };
}

let document: Document;
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
beforeAll(async () => {
  document = (await (await shared().get('/openapi.json')).json()) as Document;
  ajv.addSchema(document, 'openapi.json');
});

const JSON_TYPE = 'application/json';
const PROBLEM_TYPE = 'application/problem+json';

interface Described extends Operation {
  readonly path: string;
  readonly method: string;
}
const responseOf = (response: Response) =>
  response.$ref
    ? document.components.responses[response.$ref.replace('#/components/responses/', '')]!
    : response;
const operations = (): Described[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const responses = Object.entries(operation.responses).map(([status, one]) => [status, responseOf(one)]);
      return { ...operation, path, method, responses: Object.fromEntries(responses) };
    }),
  );
const operation = (id: string) => operations().find(one => one.operationId === id)!;
const headerOf = (header: Header) =>
  header.$ref ? document.components.headers[header.$ref.replace('#/components/headers/', '')]! : header;

/** By their references: each is compiled once. */
const validators = new Map<string, ValidateFunction>();

function expectValid({ schema }: Media, value: unknown, what: string): void {
  const validate = validators.get(schema.$ref) ?? ajv.compile({ $ref: `openapi.json${schema.$ref}` });
  validators.set(schema.$ref, validate);
  expect(validate(value), `${what}: ${JSON.stringify(validate.errors)}`).toBe(true);
}

describe('the document', () => {
  test('is OpenAPI 3.1 and describes what callers and operators can do', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({
      title: 'domain-risk',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
    expect(document.servers).toEqual([{ url: '/' }]);
    expect(document.security).toEqual([{ apiKey: [] }]);
    expect(document.components.securitySchemes).toMatchObject({
      apiKey: { type: 'http', scheme: 'bearer' },
      adminToken: { type: 'http', scheme: 'bearer' },
    });
    const [callers, operators] = document.tags;
    expect([callers!.name, operators!.name]).toEqual(['callers', 'operators']);
    expect(operators!.description).toContain('Enabled only when `ADMIN_TOKEN` is set');
    const listed = operations().map(one => `${one.operationId} ${one.method} ${one.path}`);
    expect(listed).toEqual([
      'getDomain get /v1/public/domain/{domain}',
      'listTopDomains get /v1/public/top-domains',
      'getUsage get /v1/usage',
      'checkEmail get /v1/check/{email_or_domain}',
      'getDomains post /v1/public/domains',
      'listChanges get /v1/public/changes',
      'getFilter get /v1/public/filter',
      'listKeys get /admin/keys',
      'createKey post /admin/keys',
      'updateKey patch /admin/keys/{id}',
      'rotateKey post /admin/keys/{id}/rotate',
      'revokeKey post /admin/keys/{id}/revoke',
      'listOverrides get /admin/overrides',
      'setOverride put /admin/overrides/{domain}',
      'removeOverride delete /admin/overrides/{domain}',
      'listFeeds get /admin/feeds',
      'rollBackFeed post /admin/feeds/{feed}/rollback',
      'returnFeed post /admin/feeds/{feed}/return',
      'approveFeed post /admin/feeds/{feed}/approve',
      'rejectFeed post /admin/feeds/{feed}/reject',
      'listHosts get /admin/infra',
      'ignoreHost post /admin/infra/{host}/forget',
      'watchHost post /admin/infra/{host}/relearn',
      'listActs get /admin/audit',
      'getTraffic get /admin/traffic',
      'listDecisions get /admin/decisions',
      'listOperators get /admin/operators',
      'addOperator post /admin/operators',
      'revokeOperator post /admin/operators/{name}/revoke',
    ]);
    for (const { path, tags, security, summary, parameters } of operations()) {
      const isAdmin = path.startsWith('/admin');
      expect(tags).toEqual([isAdmin ? 'operators' : 'callers']);
      expect(security).toEqual([isAdmin ? { adminToken: [] } : { apiKey: [] }]);
      expect(summary).toMatch(/\S/);
      const inPath = parameters.filter(one => one.in === 'path');
      expect(inPath.map(({ name, required }) => [name, required])).toEqual(
        [...path.matchAll(/\{(\w+)\}/g)].map(match => [match[1], true]),
      );
    }
  });

  test('is the same that the page and the types are made of', () => {
    expect(JSON.parse(JSON.stringify(referenceDocument()))).toEqual(document);
  });

  test('has an example of every refusal, but for those that come before or beside all operations', () => {
    const text = JSON.stringify(document);
    const without = Object.keys(REFUSALS).filter(code => !text.includes(`"error":"${code}"`));
    expect(without).toEqual(['request_timeout', 'expectation_failed', 'not_ready']);
  });

  test('is written once and served from there', async () => {
    const texts = await Promise.all([1, 2].map(async () => (await shared().get('/openapi.json')).text()));
    expect(texts[0]).toBe(texts[1]);
  });

  test('has only valid JSON Schemas, with plain enums and no unions', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect(ajv.validateSchema(schema), name).toBe(true);
    }
    for (const { parameters } of operations()) {
      for (const { schema } of parameters) expect(ajv.validateSchema(schema)).toBe(true);
    }
    const text = JSON.stringify(document);
    expect(text).not.toMatch(/"(?:anyOf|oneOf|allOf|const)":/);
    expect(document.components.schemas.DomainRisk).toMatchObject({
      properties: {
        reason: { type: 'string', enum: ['safe', 'disposable', 'undeliverable', 'role_account'] },
        mx_provider_label: { type: ['string', 'null'] },
      },
    });
  });

  test('has an example for every status of every operation, and each fits its schema', () => {
    for (const { operationId, responses, requestBody } of operations()) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['405', '500', '503', 'default']));
      for (const [status, { description, content }] of Object.entries(responses)) {
        const what = `${operationId} ${status}`;
        expect(description, what).toMatch(/\S/);
        if (status === '204' || status === '304') {
          expect(content, what).toBeUndefined();
          continue;
        }
        if (operationId === 'getFilter' && status === '200') {
          expect(content, what).toEqual({ 'application/octet-stream': {} });
          continue;
        }
        const types = status.startsWith('2') ? [JSON_TYPE] : [JSON_TYPE, PROBLEM_TYPE];
        expect(Object.keys(content!), what).toEqual(types);
        for (const media of Object.values(content!)) {
          const examples = Object.values(media.examples);
          expect(examples.length, what).toBeGreaterThan(0);
          for (const { summary, value } of examples) {
            expect(summary, what).toMatch(/\S/);
            expectValid(media, value, what);
          }
        }
      }
      for (const media of Object.values(requestBody?.content ?? {})) {
        for (const { value } of Object.values(media.examples)) expectValid(media, value, operationId);
      }
    }
  });

  test('names the headers of every status', () => {
    const quota = ['RateLimit-Policy', 'RateLimit', 'X-RateLimit-Limit', 'X-RateLimit-Remaining'];
    for (const { operationId, path, responses } of operations()) {
      const isCounted = path.startsWith('/v1/public/') || path.startsWith('/v1/check/');
      for (const [status, { headers }] of Object.entries(responses)) {
        const names = Object.keys(headers);
        const has = (name: string) => names.includes(name);
        expect(names, operationId).toEqual(expect.arrayContaining(['X-Request-Id', 'Cache-Control']));
        expect(has('Retry-After')).toBe(status === '429' || status === '503');
        expect(has('WWW-Authenticate')).toBe(status === '401');
        expect(has('Allow')).toBe(status === '405');
        const isLate = operationId === 'getDomains' && status === '422';
        const isMetered = isCounted && !isLate && /^(?:200|304|410|422|429)$/.test(status);
        for (const name of [...quota, 'X-RateLimit-Reset'])
          expect(has(name), `${status} ${name}`).toBe(isMetered);
        for (const [name, header] of Object.entries(headers)) {
          const { description, schema, example } = headerOf(header);
          expect(description, name).toMatch(/\S/);
          expect(typeof example, name).toBe(schema!.type === 'integer' ? 'number' : 'string');
        }
      }
    }
    expect(Object.keys(operation('getDomain').responses['200']!.headers)).toContain('X-Risk-Degraded');
    const tagged = operation('listTopDomains').responses;
    for (const status of ['200', '304']) expect(Object.keys(tagged[status]!.headers)).toContain('ETag');
  });

  test('requires the six fields, and not evidence', () => {
    const schema = document.components.schemas.DomainRisk as { required: string[]; properties: object };
    const six = [
      'domain',
      'risk_score',
      'reason',
      'is_free_provider',
      'is_corporate_email',
      'mx_provider_label',
    ];
    expect(schema.required).toEqual(six);
    expect(Object.keys(schema.properties)).toEqual([...six, 'evidence']);
  });

  test('refuses what is wrong, so that the tests of real answers can fail', () => {
    const right = {
      domain: 'a.com',
      risk_score: 1,
      reason: 'safe',
      is_free_provider: false,
      is_corporate_email: false,
      mx_provider_label: null,
    };
    const validate = ajv.compile({ $ref: 'openapi.json#/components/schemas/DomainRisk' });
    expect(validate(right)).toBe(true);
    const { mx_provider_label: _, ...five } = right;
    for (const wrong of [
      five,
      { ...right, is_corporate_email: 0 },
      { ...right, risk_score: 101 },
      { ...right, reason: 'spam' },
    ]) {
      expect(validate(wrong)).toBe(false);
    }
  });
});

/** Headers that are there with every answer whose status names them. */
const ALWAYS = ['X-Request-Id', 'Cache-Control', 'WWW-Authenticate', 'Allow', 'ETag', 'Retry-After'];

/** The answer is documented under its status: its body, and every header that the document knows. */
function expectDocumented(id: string, answer: Answer): void {
  const { responses } = operation(id);
  const response = responses[String(answer.status)];
  expect(response, `${id} does not document ${answer.status}: ${answer.body}`).toBeDefined();
  const named = Object.entries(response!.headers);
  for (const name of Object.keys(document.components.headers)) {
    if (!answer.headers.has(name.toLowerCase())) continue;
    expect(
      named.map(([one]) => one),
      `${id} ${answer.status}`,
    ).toContain(name);
  }
  for (const [name, header] of named) {
    const sent = answer.headers.get(name.toLowerCase());
    if (ALWAYS.includes(name)) expect(sent, `${id} ${answer.status} ${name}`).toBeDefined();
    if (name === 'Cache-Control' || name === 'Allow') expect(sent).toBe(headerOf(header).example);
  }
  if (answer.body === '') {
    expect(response!.content).toBeUndefined();
    return;
  }
  const media = response!.content![answer.headers.get('content-type')!.split(';')[0]!]!;
  expectValid(media, JSON.parse(answer.body), `${id} ${answer.status}`);
}

/** Every member of it, by the way to it. */
function membersOf(value: unknown, before = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap(one => membersOf(one, `${before}[]`)))];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = `${before}.${name}`;
    return [path, ...membersOf(inner, path)];
  });
}

/** What is chosen by the service or by the test: ids, and numbers of limits. */
const likeExample = (text: string) =>
  text.replaceAll(/key_[0-9a-f]{16}/g, 'key_0123456789abcdef').replaceAll(/(?<=quota: |limit: )\d+/g, 'N');

/** One of the examples for its status is what was answered: refusals word for word, answers member for member. */
function expectExample(id: string, answer: Answer): void {
  const { content } = operation(id).responses[String(answer.status)]!;
  if (!content) return;
  const real = JSON.parse(answer.body);
  const examples = content[JSON_TYPE]!.examples;
  if (answer.status < 400) {
    const members = Object.values(examples).map(({ value }) => membersOf(value));
    expect(members, id).toContainEqual(membersOf(real));
    return;
  }
  const shown = JSON.stringify({ ...real, request_id: REQUEST_ID });
  expect(likeExample(JSON.stringify(examples[real.error]!.value)), id).toBe(likeExample(shown));
}

interface Sent {
  readonly key?: string | undefined;
  readonly json?: unknown;
  readonly headers?: readonly string[];
  readonly body?: string;
}

async function send(method: string, target: string, { key, json, headers = [], body = '' }: Sent = {}) {
  const text = json === undefined ? body : JSON.stringify(json);
  const type = json === undefined ? [] : ['Content-Type: application/json'];
  const length = text === '' ? [] : [`Content-Length: ${Buffer.byteLength(text)}`];
  const lines = [...type, ...length, 'X-Operator: Ann', ...headers];
  return ask(shared().port, target, { method, key, headers: lines, body: text });
}

/** Of this side, and never called for real. */
const uncalled = (side: string, called: ReadonlySet<string>) =>
  operations()
    .filter(({ tags, operationId }) => tags.includes(side) && !called.has(operationId))
    .map(({ operationId }) => operationId);

describe('real answers are what the document says, and its examples are real', () => {
  test('for callers', async () => {
    const { key, store } = shared();
    const { secret } = await key({ quota: 10_000 });
    const limited = (await key({ origins: ['https://app.example.com'] })).secret;
    const empty = (await key({ quota: 0 })).secret;
    const rated = (await key({ rate: 1 })).secret;
    await send('GET', '/v1/usage', { key: rated });
    const elsewhere = ['Origin: https://other.example'];
    const gmail = '/v1/public/domain/gmail.com';
    const top = '/v1/public/top-domains';
    const many = '/v1/public/domains';
    const names = Object.values(operation('getDomains').requestBody!.content[JSON_TYPE]!.examples)[0]!.value;
    await send('GET', gmail, { key: rated });
    const called = new Set<string>();
    for (const [id, status, method, target, sent] of [
      ['getDomain', 200, 'GET', gmail, { key: secret }],
      ['getDomain', 200, 'GET', '/v1/public/domain/mailinator.com?explain=true', { key: secret }],
      ['getDomain', 401, 'GET', gmail, {}],
      ['getDomain', 403, 'GET', gmail, { key: limited, headers: elsewhere }],
      ['getDomain', 405, 'POST', gmail, { key: secret }],
      ['getDomain', 422, 'GET', '/v1/public/domain/bad_name', { key: secret }],
      ['getDomain', 429, 'GET', gmail, { key: empty }],
      ['getDomain', 429, 'GET', gmail, { key: rated }],
      ['listTopDomains', 200, 'GET', `${top}?limit=3`, { key: secret }],
      ['listTopDomains', 304, 'GET', top, { key: secret, headers: ['If-None-Match: *'] }],
      ['listTopDomains', 401, 'GET', top, {}],
      ['listTopDomains', 403, 'GET', top, { key: limited, headers: elsewhere }],
      ['listTopDomains', 405, 'DELETE', top, {}],
      ['listTopDomains', 422, 'GET', `${top}?limit=0`, { key: secret }],
      ['listTopDomains', 429, 'GET', top, { key: empty }],
      ['getUsage', 200, 'GET', '/v1/usage', { key: secret }],
      ['getUsage', 200, 'GET', '/v1/usage?days=3', { key: secret }],
      ['listChanges', 200, 'GET', '/v1/public/changes', { key: secret }],
      ['listChanges', 401, 'GET', '/v1/public/changes', {}],
      ['listChanges', 403, 'GET', '/v1/public/changes', { key: limited, headers: elsewhere }],
      ['listChanges', 405, 'POST', '/v1/public/changes', {}],
      ['listChanges', 410, 'GET', '/v1/public/changes?since=c99', { key: secret }],
      ['listChanges', 422, 'GET', '/v1/public/changes?since=x', { key: secret }],
      ['getUsage', 401, 'GET', '/v1/usage', {}],
      ['getUsage', 403, 'GET', '/v1/usage', { key: limited, headers: elsewhere }],
      ['getUsage', 405, 'POST', '/v1/usage', {}],
      ['getUsage', 422, 'GET', '/v1/usage?days=31', { key: secret }],
      ['checkEmail', 200, 'GET', '/v1/check/jane.doe@gmail.com', { key: secret }],
      ['checkEmail', 200, 'GET', '/v1/check/jane.doe@gmail.con', { key: secret }],
      ['checkEmail', 401, 'GET', '/v1/check/jane.doe@gmail.com', {}],
      ['checkEmail', 403, 'GET', '/v1/check/gmail.com', { key: limited, headers: elsewhere }],
      ['checkEmail', 405, 'POST', '/v1/check/gmail.com', {}],
      ['checkEmail', 422, 'GET', '/v1/check/@gmail.com', { key: secret }],
      ['checkEmail', 429, 'GET', '/v1/check/gmail.com', { key: empty }],
      ['getDomains', 200, 'POST', many, { key: secret, json: names }],
      ['getDomains', 401, 'POST', many, { json: names }],
      ['getDomains', 403, 'POST', many, { key: limited, headers: elsewhere, json: names }],
      ['getDomains', 405, 'GET', many, { key: secret }],
      ['getDomains', 413, 'POST', many, { key: secret, json: { domains: ['x'.repeat(300_000)] } }],
      [
        'getDomains',
        415,
        'POST',
        many,
        { key: secret, headers: ['Content-Type: text/plain'], body: 'a.com' },
      ],
      ['getDomains', 422, 'POST', many, { key: secret, json: { domains: [] } }],
      ['getDomains', 429, 'POST', many, { key: empty, json: names }],
      ['getDomains', 429, 'POST', many, { key: rated, json: names }],
    ] as [string, number, string, string, Sent][]) {
      called.add(id);
      const answer = await send(method, target, sent);
      expect(answer.status, `${method} ${target}: ${answer.body}`).toBe(status);
      expectDocumented(id, answer);
      expectExample(id, answer);
      const headers = [...(sent.headers ?? []), `Accept: ${PROBLEM_TYPE}`];
      expectDocumented(id, await send(method, target, { ...sent, headers }));
    }
    // Its bytes have a test of their own.
    expect(uncalled('callers', called)).toEqual(['getFilter']);
    failNextSpend(store, new Error('broken'));
    const failed = await send('GET', gmail, { key: secret });
    expect(failed.status).toBe(500);
    expectDocumented('getDomain', failed);
    expectExample('getDomain', failed);
  });

  test('for others than the examples as well', async () => {
    const { secret } = await shared().key();
    for (const name of ['absent.com?explain=true', 'foo.test', 'gmail.com?explain=true', 'bad..name']) {
      expectDocumented('getDomain', await send('GET', `/v1/public/domain/${name}`, { key: secret }));
    }
  });

  test('with the very values for gmail.com and mailinator.com, and the headers of a limited key', async () => {
    const { key, port } = withAllLists();
    const { secret } = await key({ quota: 10_000 });
    const examples = Object.values(operation('getDomain').responses['200']!.content![JSON_TYPE]!.examples);
    const [gmail, mailinator] = examples.map(({ value }) => value);
    const plain = await ask(port, '/v1/public/domain/gmail.com', { key: secret });
    expect(JSON.parse(plain.body)).toEqual(gmail);
    const explained = await ask(port, '/v1/public/domain/mailinator.com?explain=true', { key: secret });
    // The lists have a version of their own, which changes with every update of theirs.
    const version = { snapshot: expect.stringMatching(/^[0-9a-f]{12}$/) };
    const { evidence } = mailinator as { evidence: object };
    expect(JSON.parse(explained.body)).toEqual({ ...mailinator, evidence: { ...evidence, ...version } });
    const checks = operation('checkEmail').responses['200']!.content![JSON_TYPE]!.examples;
    for (const [at, name] of ['gmail.com', 'gmail.con'].entries()) {
      const checked = await ask(port, `/v1/check/jane.doe@${name}`, { key: secret });
      expect(JSON.parse(checked.body)).toEqual(Object.values(checks)[at]!.value);
    }
    const several = operation('getDomains');
    const sent = JSON.stringify(Object.values(several.requestBody!.content[JSON_TYPE]!.examples)[0]!.value);
    const type = ['Content-Type: application/json', `Content-Length: ${sent.length}`];
    const all = await ask(port, '/v1/public/domains', {
      method: 'POST',
      key: secret,
      headers: type,
      body: sent,
    });
    expect(JSON.parse(all.body)).toEqual(
      Object.values(several.responses['200']!.content![JSON_TYPE]!.examples)[0]!.value,
    );
    const { headers } = operation('getDomain').responses['200']!;
    for (const name of ['RateLimit-Policy', 'X-RateLimit-Limit', 'X-RateLimit-Reset']) {
      expect(plain.headers.get(name.toLowerCase())).toBe(`${headerOf(headers[name]!).example}`);
    }
  });

  test('for operators', async () => {
    const { store } = shared();
    const key = TOKEN;
    const example = (id: string) =>
      Object.values(operation(id).requestBody!.content[JSON_TYPE]!.examples)[0]!.value;
    const guests = ['mailinator.com', 'yopmail.com', 'guerrillamail.com', 'sharklasers.com'].map(domain => {
      return guestOf({ host: 'mx.example.com', domain, entry: domain, day: '2026-11-15' });
    });
    await store.learn(guests, [], '2026-11-15', '2026-08-01');
    const decision = { keyId: 'key_1', domain: 'mailinator.com', score: 100, reason: 'disposable' } as const;
    await store.writeDecisions([{ ...decision, at: 1, snapshot: 'aa67', degraded: false }], 10, 10);

    const created = await send('POST', '/admin/keys', { key, json: example('createKey') });
    const { id } = JSON.parse(created.body) as { id: string };
    expectDocumented('createKey', created);
    expectExample('createKey', created);
    const at = `/admin/keys/${id}`;
    const partner = '/admin/overrides/partner.example.org';
    const host = '/admin/infra/mx.example.com';
    const large = { key, json: { name: 'x'.repeat(70_000) } };
    const text = { key, headers: ['Content-Type: text/plain'], body: 'name' };
    const called = new Set<string>();
    for (const [operationId, status, method, target, sent] of [
      ['createKey', 401, 'POST', '/admin/keys', {}],
      ['createKey', 405, 'PUT', '/admin/keys', { key }],
      ['createKey', 413, 'POST', '/admin/keys', large],
      ['createKey', 415, 'POST', '/admin/keys', text],
      ['createKey', 422, 'POST', '/admin/keys', { key, json: { name: 'signup', quota: -1 } }],
      ['updateKey', 200, 'PATCH', at, { key, json: example('updateKey') }],
      ['updateKey', 401, 'PATCH', at, { key: 'wrong' }],
      ['updateKey', 404, 'PATCH', '/admin/keys/none', { key, json: {} }],
      ['updateKey', 405, 'GET', at, { key }],
      ['updateKey', 413, 'PATCH', at, large],
      ['updateKey', 415, 'PATCH', at, text],
      ['updateKey', 422, 'PATCH', at, { key, json: { quota: -1 } }],
      ['listKeys', 401, 'GET', '/admin/keys', {}],
      ['rotateKey', 200, 'POST', `${at}/rotate`, { key, json: example('rotateKey') }],
      ['rotateKey', 401, 'POST', `${at}/rotate`, {}],
      ['rotateKey', 404, 'POST', '/admin/keys/none/rotate', { key }],
      ['rotateKey', 405, 'GET', `${at}/rotate`, { key }],
      ['rotateKey', 413, 'POST', `${at}/rotate`, large],
      ['rotateKey', 415, 'POST', `${at}/rotate`, text],
      ['revokeKey', 401, 'POST', `${at}/revoke`, {}],
      ['revokeKey', 404, 'POST', '/admin/keys/none/revoke', { key }],
      ['revokeKey', 405, 'DELETE', `${at}/revoke`, { key }],
      ['revokeKey', 422, 'POST', `${at}/revoke`, { key, json: { reason: 'leaked' } }],
      ['setOverride', 200, 'PUT', partner, { key, json: example('setOverride') }],
      ['setOverride', 401, 'PUT', partner, {}],
      ['setOverride', 405, 'GET', partner, { key }],
      ['setOverride', 413, 'PUT', partner, large],
      ['setOverride', 415, 'PUT', partner, text],
      ['setOverride', 422, 'PUT', partner, { key, json: { action: 'block' } }],
      ['listOverrides', 200, 'GET', '/admin/overrides', { key }],
      ['listOverrides', 401, 'GET', '/admin/overrides', {}],
      ['listOverrides', 405, 'POST', '/admin/overrides', { key }],
      ['listActs', 200, 'GET', '/admin/audit?limit=1', { key }],
      ['listActs', 401, 'GET', '/admin/audit', {}],
      ['listActs', 405, 'POST', '/admin/audit', { key }],
      ['listActs', 422, 'GET', '/admin/audit?limit=0', { key }],
      ['listDecisions', 200, 'GET', '/admin/decisions', { key }],
      ['listDecisions', 401, 'GET', '/admin/decisions', {}],
      ['listDecisions', 405, 'POST', '/admin/decisions', { key }],
      ['listDecisions', 422, 'GET', '/admin/decisions?since=tuesday', { key }],
      ['getTraffic', 200, 'GET', '/admin/traffic', { key }],
      ['getTraffic', 401, 'GET', '/admin/traffic', {}],
      ['getTraffic', 405, 'POST', '/admin/traffic', { key }],
      ['getTraffic', 422, 'GET', '/admin/traffic?range=year', { key }],
      ['addOperator', 201, 'POST', '/admin/operators', { key, json: example('addOperator') }],
      ['addOperator', 401, 'POST', '/admin/operators', {}],
      ['addOperator', 405, 'PUT', '/admin/operators', { key }],
      ['addOperator', 413, 'POST', '/admin/operators', large],
      ['addOperator', 415, 'POST', '/admin/operators', text],
      ['addOperator', 422, 'POST', '/admin/operators', { key, json: example('addOperator') }],
      ['listOperators', 200, 'GET', '/admin/operators', { key }],
      ['listOperators', 401, 'GET', '/admin/operators', {}],
      ['revokeOperator', 204, 'POST', '/admin/operators/Ada/revoke', { key }],
      ['revokeOperator', 401, 'POST', '/admin/operators/Ada/revoke', {}],
      ['revokeOperator', 404, 'POST', '/admin/operators/Ada/revoke', { key }],
      ['revokeOperator', 405, 'GET', '/admin/operators/Ada/revoke', { key }],
      ['revokeOperator', 422, 'POST', '/admin/operators/Ada/revoke', { key, json: { reason: 'left' } }],
      ['removeOverride', 204, 'DELETE', partner, { key }],
      ['removeOverride', 401, 'DELETE', partner, {}],
      ['removeOverride', 404, 'DELETE', partner, { key }],
      ['removeOverride', 405, 'POST', partner, { key }],
      ['removeOverride', 422, 'DELETE', '/admin/overrides/bad_name', { key }],
      ['listFeeds', 200, 'GET', '/admin/feeds', { key }],
      ['listFeeds', 401, 'GET', '/admin/feeds', {}],
      ['listFeeds', 405, 'POST', '/admin/feeds', { key }],
      ['rollBackFeed', 401, 'POST', '/admin/feeds/castle/rollback', {}],
      ['rollBackFeed', 404, 'POST', '/admin/feeds/castle/rollback', { key }],
      ['rollBackFeed', 405, 'GET', '/admin/feeds/castle/rollback', { key }],
      ['returnFeed', 401, 'POST', '/admin/feeds/castle/return', {}],
      ['returnFeed', 404, 'POST', '/admin/feeds/castle/return', { key }],
      ['returnFeed', 405, 'GET', '/admin/feeds/castle/return', { key }],
      ['approveFeed', 401, 'POST', '/admin/feeds/castle/approve', {}],
      ['approveFeed', 404, 'POST', '/admin/feeds/castle/approve', { key }],
      ['approveFeed', 405, 'GET', '/admin/feeds/castle/approve', { key }],
      ['rejectFeed', 401, 'POST', '/admin/feeds/castle/reject', {}],
      ['rejectFeed', 404, 'POST', '/admin/feeds/castle/reject', { key }],
      ['rejectFeed', 405, 'GET', '/admin/feeds/castle/reject', { key }],
      ['listHosts', 200, 'GET', '/admin/infra', { key }],
      ['listHosts', 401, 'GET', '/admin/infra', {}],
      ['listHosts', 405, 'POST', '/admin/infra', { key }],
      ['ignoreHost', 200, 'POST', `${host}/forget`, { key }],
      ['ignoreHost', 401, 'POST', `${host}/forget`, {}],
      ['ignoreHost', 405, 'GET', `${host}/forget`, { key }],
      ['ignoreHost', 422, 'POST', '/admin/infra/a..b/forget', { key }],
      ['watchHost', 200, 'POST', `${host}/relearn`, { key }],
      ['watchHost', 401, 'POST', `${host}/relearn`, {}],
      ['watchHost', 405, 'GET', `${host}/relearn`, { key }],
      ['watchHost', 422, 'POST', '/admin/infra/a..b/relearn', { key }],
    ] as [string, number, string, string, Sent][]) {
      called.add(operationId);
      const answer = await send(method, target, sent);
      expect(answer.status, `${method} ${target}: ${answer.body}`).toBe(status);
      expectDocumented(operationId, answer);
      expectExample(operationId, answer);
    }
    expect(uncalled('operators', called)).toEqual([]);
    // These have a key with other members, or an answer of their own.
    const revoked = await send('POST', `${at}/revoke`, { key });
    expectDocumented('revokeKey', revoked);
    const again = await send('POST', `${at}/rotate`, { key });
    expect(again.status).toBe(422);
    expectExample('rotateKey', again);
    expectDocumented('listKeys', await send('GET', '/admin/keys', { key }));
    for (const act of ['forget', 'relearn']) {
      const missing = await send('POST', `/admin/infra/unknown.example.com/${act}`, { key });
      expect(missing.status).toBe(404);
      expectDocumented(act === 'forget' ? 'ignoreHost' : 'watchHost', missing);
    }
  });

  test('without ADMIN_TOKEN the document is the same, and the paths of operators are not there', async () => {
    const { port, get } = withAllLists();
    expect(await (await get('/openapi.json')).json()).toEqual(document);
    expectError(await ask(port, '/admin/keys'), 404, 'not_found');
  });
});

/** What a page loads, by its own words. */
function loadedBy(html: string): string[] {
  return [...html.matchAll(/(?:\bsrc|<link[^>]*\bhref)="([^"]*)"/g)].map(match => match[1]!);
}

function directives(csp: string): Map<string, string[]> {
  return new Map(
    csp
      .split(';')
      .map(part => part.trim().split(/\s+/))
      .filter(([name]) => name)
      .map(([name, ...values]) => [name!, values]),
  );
}

/** Everything that the page loads, the page itself first. */
async function loads(path: string): Promise<Map<string, Answer>> {
  const { port } = shared();
  const page = await ask(port, path);
  const all = new Map([[path, page]]);
  for (const loaded of loadedBy(page.body)) all.set(loaded, await ask(port, loaded));
  return all;
}

test('the reference loads only what comes from here, everything it loads is there, and it is all small', async () => {
  const all = await loads('/docs');
  expect(all.get('/docs')!.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(all.get('/docs')!.headers.get('cache-control')).toBe('no-cache');
  expect(all.size).toBeGreaterThan(4);
  let bytes = 0;
  for (const [path, { status, body, headers }] of all) {
    expect(status, path).toBe(200);
    if (path !== '/docs') expect(path).toMatch(/^\/assets\/[\w.-]+\.(?:js|css|svg)$/);
    if (path.endsWith('.css')) expect(body).not.toMatch(/url\(["']?(https?:)?\/\/|@import/);
    // What scripts import is named by the page too, so that nothing is left out here; what they load later is there.
    for (const [, isLater, name] of body.matchAll(
      /(?:\bfrom|\bimport)\s*(\()?\s*["'`]\.\/([\w.-]+\.js)["'`]/g,
    )) {
      if (isLater) expect((await ask(shared().port, `/assets/${name}`)).status).toBe(200);
      else expect([...all.keys()]).toContain(`/assets/${name}`);
    }
    bytes += Number(headers.get('content-length'));
  }
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThanOrEqual(150_000);
});

test.each(['/docs/', '/docs/index.html', '/docs.html', '/docs/json'])('%s is not there', async path => {
  expectError(await ask(shared().port, path), 404, 'not_found');
});

test('with DOCS off there is neither the page nor the document, and with METRICS_PORT off are no metrics', async () => {
  const { port } = await startTestService({ env: { DOCS: 'off', METRICS_PORT: 'off' } });
  for (const path of ['/docs', '/openapi.json', '/metrics'])
    expectError(await ask(port, path), 404, 'not_found');
  // Nor does the console lead there.
  const { status, body } = await ask(port, '/');
  expect(status).toBe(200);
  expect(body).toContain('<html data-without="/docs /openapi.json /metrics" lang="en">');
});

test.each(['/', '/docs'])('the page %s lets nothing in from elsewhere', async path => {
  const { headers, body } = await ask(shared().port, path);
  const csp = directives(headers.get('content-security-policy') ?? '');
  expect(csp.get('default-src')).toEqual(["'none'"]);
  for (const [name, values] of csp) {
    const allowed = ["'none'", "'self'", 'data:'];
    for (const value of values) expect(allowed, `${name} ${value}`).toContain(value);
  }
  expect(csp.get('script-src') ?? ["'none'"]).not.toContain('data:');
  expect(csp.get('frame-ancestors')).toEqual(["'none'"]);
  expect(csp.get('base-uri')).toEqual(["'none'"]);
  expect(body).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style="/i);
  for (const loaded of loadedBy(body)) expect(loaded).toMatch(/^(\/(?!\/)|data:)/);
});

test('the front page leads to the reference and shows a call', async () => {
  const { body, headers, status } = await ask(shared().port, '/');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(body).toContain('href="/docs"');
  expect(body).toContain('/v1/public/domain/');
});

test('probes and metrics are for machines', async () => {
  const { port } = shared();
  const live = await ask(port, '/livez');
  expect([live.status, live.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const ready = await ask(port, '/readyz');
  expect(ready.status).toBe(200);
  expect(Object.keys(JSON.parse(ready.body))).toEqual(['status', 'store', 'catalog', 'feeds', 'dns']);
  const metrics = await ask(port, '/metrics');
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(metrics.body).toMatch(/^domain_risk_request_seconds_count\{.*route="livez".*\} [1-9]/m);
});

test.each([
  ['/nothing', 'GET', 404, 'not_found'],
  ['/docs/nothing', 'GET', 404, 'not_found'],
  ['/livez', 'POST', 405, 'method_not_allowed'],
  ['/v1/usage', 'GET', 401, 'unauthorized'],
  ['/v1/public/domain/bad_name', 'GET', 401, 'unauthorized'],
])(
  'with Accept: application/problem+json %s (%s) is a problem of RFC 9457',
  async (target, method, status, error) => {
    const { port } = shared();
    const plain = await ask(port, target, { method });
    expectError(plain, status, error);
    for (const accept of ['application/problem+json', 'application/json;q=0.5, Application/Problem+JSON']) {
      const answer = await ask(port, target, { method, headers: [`Accept: ${accept}`] });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const { type, title, status: told, ...members } = JSON.parse(answer.body);
      expect([type, typeof title, told]).toEqual(['about:blank', 'string', status]);
      expect(members).toEqual({
        ...JSON.parse(plain.body),
        request_id: answer.headers.get('x-request-id'),
      });
    }
    expectError(await ask(port, target, { method, headers: ['Accept: text/html, */*'] }), status, error);
  },
);
