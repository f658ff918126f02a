/** Every path of the port, with what the OpenAPI document says about it. */

import type { FastifySchema } from 'fastify';
import { Type } from 'typebox';
import type { createApi } from './api.ts';
import type { createPages } from './pages.ts';
import type { createProbes } from './probes.ts';
import type { Route } from './server.ts';
import { DOMAIN_ROUTE } from './target.ts';
import { DomainSchema, ErrorSchema, FLAG_REASONS, TopDomainsSchema, UsageSchema } from './wire.ts';

const REFUSED = {
  401: 'API key missing or invalid: fix the key.',
  403: 'Origin or network not authorised for this key: fix the origin.',
  422: 'A value is not valid, `detail` names the rule: fix the input.',
  429: 'Quota used up or too many calls per second: continue without the check.',
  500: 'Internal server error: continue without the check.',
  503: 'Overloaded, uncounted: continue without the check.',
} as const;

function documented(
  summary: string,
  description: string,
  ok: Type.TSchema,
  statuses: readonly (keyof typeof REFUSED)[],
  inputs: { params?: Type.TSchema; querystring?: Type.TSchema } = {},
): FastifySchema {
  const responses: Record<number, unknown> = { 200: { description: 'OK', ...ok } };
  for (const status of statuses) responses[status] = { description: REFUSED[status], ...ErrorSchema };
  return {
    summary,
    description,
    security: [{ apiKey: [] }],
    response: responses,
    ...inputs,
  } as FastifySchema;
}

export function createRoutes(
  api: ReturnType<typeof createApi>,
  probes: ReturnType<typeof createProbes>,
  pages: ReturnType<typeof createPages>,
): Route[] {
  return [
    {
      path: DOMAIN_ROUTE,
      name: 'domain',
      isApi: true,
      handle: api.domain,
      schema: documented(
        'Risk of one domain',
        'Analyses the domain only, never a local part. Each call counts against the monthly quota.',
        DomainSchema,
        [401, 403, 422, 429, 500, 503],
        {
          params: Type.Object({
            domain: Type.String({ description: 'A domain name, such as `gmail.com`.' }),
          }),
          querystring: Type.Object({
            explain: Type.Optional(
              Type.Boolean({ description: 'Adds `evidence`: why the answer is what it is.' }),
            ),
          }),
        },
      ),
    },
    {
      path: '/v1/public/top-domains',
      name: 'top_domains',
      isApi: true,
      handle: api.topDomains,
      schema: documented(
        'Most often flagged domains',
        'The domains that this service flagged most often in the last 30 days. Counts against the monthly quota.',
        TopDomainsSchema,
        [401, 403, 422, 429, 500, 503],
        {
          querystring: Type.Object({
            limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
            reason: Type.Optional(Type.Union(FLAG_REASONS.map(reason => Type.Literal(reason)))),
          }),
        },
      ),
    },
    {
      path: '/v1/usage',
      name: 'usage',
      isApi: true,
      handle: api.usage,
      schema: documented('Quota of this key', 'Not counted.', UsageSchema, [401, 403, 500]),
    },
    { path: '/livez', name: 'livez', isApi: false, handle: probes.livez },
    { path: '/readyz', name: 'readyz', isApi: false, handle: probes.readyz },
    { path: '/metrics', name: 'metrics', isApi: false, handle: probes.metrics },
    { path: '/openapi.json', name: 'openapi', isApi: false, handle: pages.openapi },
    { path: '/', name: 'home', isApi: false, handle: pages.home },
  ];
}
