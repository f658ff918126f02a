import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, expect, test } from 'vitest';
import { type Answer, ask, expectError } from '../support/answers.ts';
import { sharedService } from '../support/service.ts';

const shared = sharedService();

interface Operation {
  operationId: string;
  summary: string;
  parameters: { name: string; in: string; required?: boolean; schema: object }[];
  responses: Record<string, { description: string; content?: Record<string, { schema: { $ref: string } }> }>;
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  security: object[];
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
}

let document: Document;
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
beforeAll(async () => {
  document = (await (await shared().get('/openapi.json')).json()) as Document;
  ajv.addSchema(document, 'openapi.json');
});

const DOMAIN = '/v1/public/domain/{domain}';
const TOP = '/v1/public/top-domains';
const USAGE = '/v1/usage';

test('the document is OpenAPI 3.1 and describes the endpoints of callers', () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  expect(document.info).toMatchObject({
    title: 'domain-risk',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  });
  expect(Object.keys(document.paths).sort()).toEqual([DOMAIN, TOP, USAGE]);
  expect(document.servers).toEqual([{ url: '/' }]);
  expect(document.security).toEqual([{ apiKey: [] }]);
  expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' });
  const ids: string[] = [];
  for (const [path, operations] of Object.entries(document.paths)) {
    expect(Object.keys(operations)).toEqual(['get']);
    const { operationId, summary, parameters, responses } = operations.get!;
    ids.push(operationId);
    expect(summary).toMatch(/\S/);
    const inPath = parameters.filter(one => one.in === 'path').map(({ name, required }) => [name, required]);
    expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(match => [match[1], true]));
    for (const [status, { description, content }] of Object.entries(responses)) {
      expect(status).toMatch(/^[1-5]\d\d$|^default$/);
      expect(description).toMatch(/\S/);
      for (const { schema } of Object.values(content ?? {})) {
        expect(() => ajv.compile({ $ref: `openapi.json${schema.$ref}` })).not.toThrow();
      }
    }
  }
  expect(new Set(ids).size).toBe(ids.length);
});

test('every schema of the document is a valid JSON Schema', () => {
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    expect(ajv.validateSchema(schema), name).toBe(true);
  }
  for (const { get } of Object.values(document.paths)) {
    for (const { schema } of get!.parameters) expect(ajv.validateSchema(schema)).toBe(true);
  }
});

test('the six fields are required, and evidence is not', () => {
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

/** The answer is documented under its status, and its body is what the schema there says. */
function expectDocumented(path: string, answer: Answer): void {
  const { responses } = document.paths[path]!.get!;
  const response = responses[String(answer.status)];
  expect(response, `${path} does not document ${answer.status}`).toBeDefined();
  const type = answer.headers.get('content-type')?.split(';')[0];
  if (answer.status === 304) {
    expect(response!.content).toBeUndefined();
    return;
  }
  const { schema } = response!.content![type!]!;
  const validate = ajv.compile({ $ref: `openapi.json${schema.$ref}` });
  expect(validate(JSON.parse(answer.body)), JSON.stringify(validate.errors)).toBe(true);
}

test('real answers of every endpoint are what the document says', async () => {
  const { port, key } = shared();
  const { secret } = await key({ quota: 1000 });
  const origins = ['https://app.example.com'];
  const limited = (await key({ origins })).secret;
  const empty = (await key({ quota: 0 })).secret;
  const targets = [
    [DOMAIN, '/v1/public/domain/gmail.com'],
    [DOMAIN, '/v1/public/domain/gmail.com?explain=true'],
    [DOMAIN, '/v1/public/domain/mailinator.com?explain=true'],
    [DOMAIN, '/v1/public/domain/absent.com?explain=true'],
    [DOMAIN, '/v1/public/domain/foo.test'],
    [DOMAIN, '/v1/public/domain/bad_name'],
    [TOP, TOP],
    [TOP, `${TOP}?limit=0`],
    [USAGE, USAGE],
  ] as const;
  for (const [path, target] of targets) {
    for (const [sent, headers] of [
      [secret, []],
      [secret, ['If-None-Match: *']],
      [undefined, []],
      [undefined, ['Accept: application/problem+json']],
      [limited, []],
      [empty, []],
      [empty, ['Accept: application/problem+json']],
    ] as const) {
      expectDocumented(path, await ask(port, target, { key: sent, headers }));
    }
  }
});

test('the schemas refuse what is wrong, so that the test above can fail', () => {
  const right = { domain: 'a.com', risk_score: 1, reason: 'safe', is_free_provider: false };
  const validate = ajv.compile({ $ref: 'openapi.json#/components/schemas/DomainRisk' });
  expect(validate({ ...right, is_corporate_email: false, mx_provider_label: null })).toBe(true);
  expect(validate({ ...right, is_corporate_email: false })).toBe(false);
  expect(validate({ ...right, is_corporate_email: 0, mx_provider_label: null })).toBe(false);
  expect(validate({ ...right, risk_score: 101, is_corporate_email: false, mx_provider_label: null })).toBe(
    false,
  );
  expect(validate({ ...right, reason: 'spam', is_corporate_email: false, mx_provider_label: null })).toBe(
    false,
  );
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

test('the reference loads only what comes from here, and everything it loads is there', async () => {
  const { port } = shared();
  const page = await ask(port, '/docs');
  expect(page.headers.get('content-type')).toContain('text/html');
  const loaded = loadedBy(page.body);
  expect(loaded.length).toBeGreaterThan(3);
  for (const path of loaded) {
    expect(path).toMatch(/^\/docs\//);
    const answer = await ask(port, path);
    expect(answer.status, path).toBe(200);
    if (path.endsWith('.css')) expect(answer.body).not.toMatch(/url\(["']?(https?:)?\/\/|@import/);
  }
  const initializer = await ask(port, '/docs/static/swagger-initializer.js');
  expect(initializer.body).toContain('validatorUrl: null');
  expect((await ask(port, '/docs/json')).status).toBe(200);
});

test.each(['/', '/docs'])('the page %s lets nothing in from elsewhere', async path => {
  const { headers, body } = await ask(shared().port, path);
  const csp = directives(headers.get('content-security-policy') ?? '');
  expect(csp.get('default-src')).toEqual([
    path === '/' ? "'none'" : expect.stringMatching(/^'(none|self)'$/),
  ]);
  for (const [name, values] of csp) {
    const inline = path === '/docs' && name === 'style-src' ? ["'unsafe-inline'"] : [];
    const allowed = ["'none'", "'self'", 'data:', ...inline];
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
  expect(Object.keys(JSON.parse(ready.body))).toEqual(['status', 'store', 'catalog', 'dns']);
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
