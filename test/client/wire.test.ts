/** One source: the schemas, the OpenAPI document, the answers and the client's types do not drift apart. */

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createClient, createFilter } from '../../client/src/index.ts';
import { isDomainRisk, isEmailCheck, isTopDomains, isUsage } from '../../client/src/wire.ts';
import { CLIENT, CONSOLE, wireTypes } from '../../scripts/client-types.ts';
import { sharedService } from '../support/service.ts';

const service = sharedService();
const written = readFileSync(CLIENT.file, 'utf8');

it.each([
  ['client', CLIENT],
  ['console', CONSOLE],
])('has the types that the table of routes gives, in the %s', (_name, target) => {
  expect(wireTypes(target), 'run `npm run client:types`').toBe(readFileSync(target.file, 'utf8'));
});

it('has the type of every answer for whoever uses the client', () => {
  const types = [...written.matchAll(/^export interface (\w+)/gm)].map(found => found[1]!);
  const entry = readFileSync(new URL('../../client/src/index.ts', import.meta.url), 'utf8');
  expect(types).toContain('DomainRisk');
  expect(types.filter(name => !new RegExp(`\\b${name}\\b`).test(entry))).toEqual([]);
});

it('has the types that the OpenAPI document gives', async () => {
  const document = (await (await service().get('/openapi.json')).json()) as {
    components: { schemas: Record<string, unknown> };
  };
  expect(wireTypes(CLIENT, document.components.schemas)).toBe(written);
  expect(wireTypes(CONSOLE, document.components.schemas)).toBe(readFileSync(CONSOLE.file, 'utf8'));
});

it('knows every path for callers of the OpenAPI document, and no other', async () => {
  const asked: string[] = [];
  const options = {
    baseUrl: service().base,
    apiKey: 'drk_none',
    fetch: async (input: string | URL | Request) => {
      asked.push(
        new URL(String(input)).pathname
          .replace('jane%40example.com', '{email_or_domain}')
          .replace('example.com', '{domain}'),
      );
      return new Response('', { status: 429 });
    },
  };
  await createFilter({ ...options, publicKey: '' }).ready();
  const client = createClient(options);
  await client.lookup('example.com');
  await client.check('jane@example.com');
  await client.domains(['example.com']);
  await client.topDomains();
  await client.usage();
  for await (const page of client.changes()) expect(page.ok).toBe(false);
  const document = (await (await service().get('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { tags: string[] }>>;
  };
  const forCallers = Object.keys(document.paths).filter(path =>
    Object.values(document.paths[path]!).some(({ tags }) => tags.includes('callers')),
  );
  expect(asked.sort()).toEqual(forCallers.sort());
});

it('ends where a page of changes leads back to one that was seen', async () => {
  let asked = 0;
  const client = createClient({
    baseUrl: 'https://risk.example',
    apiKey: 'drk_none',
    fetch: async () => {
      asked++;
      const page = { changes: [], cursor: `c${asked % 2}`, more: true };
      return Response.json(page, { headers: { 'cache-control': 'max-age=86400' } });
    },
  });
  let pages = 0;
  for await (const page of client.changes()) pages += Number(page.ok);
  expect([pages, asked]).toEqual([3, 3]);
});

it('follows changes page by page, from the cursor on, and ends when there are no more', async () => {
  const asked: string[] = [];
  const at = '2026-11-16T12:00:00Z';
  const client = createClient({
    baseUrl: 'https://risk.example',
    apiKey: 'drk_none',
    fetch: async input => {
      const { search } = new URL(String(input));
      asked.push(search);
      const [id, more] = search.includes('c7') ? ['8', false] : ['7', true];
      const changes = [{ domain: `n${id}.com`, change: 'flagged', at, feeds: ['castle'] }];
      return Response.json({ changes, cursor: `c${id}`, more });
    },
  });
  const seen: unknown[] = [];
  for await (const page of client.changes({ since: 'c6', limit: 1 }))
    seen.push(page.ok && [page.data.changes[0]?.domain, page.data.cursor]);
  expect(asked).toEqual(['?since=c6&limit=1', '?since=c7&limit=1']);
  expect(seen).toEqual([
    ['n7.com', 'c7'],
    ['n8.com', 'c8'],
  ]);
});

/** The fields that the generated type has, for the answers of each kind. */
function fieldsOf(name: string): string[] {
  const [, body = ''] = new RegExp(`export interface ${name} \\{\\n([^]*?)\\n\\}`).exec(written) ?? [];
  return [...body.matchAll(/^ {2}readonly (\w+)/gm)].map(([, field = '']) => field);
}

it('has the fields that the service sends, no more and no less', async () => {
  const { secret } = await service().key({ quota: 100 });
  const answers = [
    ['/v1/public/domain/gmail.com?explain=true', 'DomainRisk', isDomainRisk],
    ['/v1/public/domain/mailinator.com?explain=true', 'DomainRisk', isDomainRisk],
    ['/v1/public/domain/x.invalid?explain=true', 'DomainRisk', isDomainRisk],
    ['/v1/public/top-domains', 'TopDomains', isTopDomains],
    ['/v1/check/jane@gmail.com', 'EmailCheck', isEmailCheck],
    ['/v1/usage?days=2', 'Usage', isUsage],
  ] as const;
  for (const [path, name, isOne] of answers) {
    const response = await service().get(path, secret);
    const body = await response.json();
    expect(response.status, path).toBe(200);
    expect(Object.keys(body as object), path).toEqual(fieldsOf(name));
    expect(isOne(body), path).toBe(true);
  }
});

it('refuses every answer in which one field is missing or has another type', async () => {
  const { secret } = await service().key({ quota: 100 });
  const answers = [
    ['/v1/public/domain/gmail.com?explain=true', isDomainRisk],
    ['/v1/public/top-domains', isTopDomains],
    ['/v1/check/jane@gmail.com', isEmailCheck],
    ['/v1/usage?days=2', isUsage],
  ] as const;
  for (const [path, isOne] of answers) {
    const body = (await (await service().get(path, secret)).json()) as Record<string, unknown>;
    for (const field of Object.keys(body)) {
      expect(isOne({ ...body, [field]: Symbol() }), `${path} ${field}`).toBe(false);
      const { [field]: _, ...rest } = body;
      expect(isOne(rest), `${path} without ${field}`).toBe(field === 'evidence' || field === 'days');
    }
  }
});
