/** Every path of the port but the console's, each with its handler and, where callers use it, what the reference says. */

import { Type } from 'typebox';
import { WINDOW_DAYS } from '../core/quota.ts';
import type { createApi } from './api.ts';
import type { createPages } from './pages.ts';
import type { createProbes } from './probes.ts';
import type { Call } from './reply.ts';
import { DomainSchema, FlagReasonSchema, TopDomainsSchema, UsageSchema } from './schemas.ts';
import { DOMAIN_PATH } from './target.ts';

export interface Route {
  readonly path: string;
  /** What the logs and metrics call it. */
  readonly name: string;
  readonly isApi: boolean;
  readonly reference?: Reference;
  readonly handle: (call: Call) => Promise<void>;
}

export interface Reference {
  readonly summary: string;
  readonly description: string;
  readonly answer: Type.TSchema;
  readonly parameters: readonly Parameter[];
  readonly refusals: readonly number[];
  readonly isCounted: boolean;
  /** Answers carry an ETag and can be asked for by If-None-Match. */
  readonly hasTag?: true;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: true;
  readonly description: string;
  readonly schema: Type.TSchema;
}

const PARAMETERS = {
  domain: {
    name: 'domain',
    in: 'path',
    required: true,
    description: 'A domain name, such as `gmail.com`; never an email address.',
    schema: Type.String({ minLength: 1, examples: ['gmail.com'] }),
  },
  explain: {
    name: 'explain',
    in: 'query',
    description: 'Adds `evidence`: why the answer is what it is.',
    schema: Type.Boolean({ default: false }),
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'How many domains at the most.',
    schema: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
  },
  days: {
    name: 'days',
    in: 'query',
    description: 'Adds `days`: the calls of each of the last so many days.',
    schema: Type.Integer({ minimum: 1, maximum: WINDOW_DAYS }),
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier answer.',
    schema: Type.String(),
  },
  reason: { name: 'reason', in: 'query', description: 'Only these.', schema: FlagReasonSchema },
} as const satisfies Record<string, Parameter>;

export function createRoutes(
  api: ReturnType<typeof createApi>,
  probes: ReturnType<typeof createProbes>,
  pages: ReturnType<typeof createPages>,
): Route[] {
  return [
    {
      path: DOMAIN_PATH,
      name: 'domain',
      isApi: true,
      handle: api.domain,
      reference: {
        summary: 'Risk of one domain',
        description: 'Analyses the domain only, never a local part.',
        answer: DomainSchema,
        parameters: [PARAMETERS.domain, PARAMETERS.explain],
        refusals: [401, 403, 422, 429, 500, 503],
        isCounted: true,
      },
    },
    {
      path: '/v1/public/top-domains',
      name: 'top_domains',
      isApi: true,
      handle: api.topDomains,
      reference: {
        summary: 'Most often flagged domains',
        description: 'The domains that this service flagged most often in the last 30 days.',
        answer: TopDomainsSchema,
        parameters: [PARAMETERS.limit, PARAMETERS.reason, PARAMETERS.ifNoneMatch],
        refusals: [401, 403, 422, 429, 500, 503],
        isCounted: true,
        hasTag: true,
      },
    },
    {
      path: '/v1/usage',
      name: 'usage',
      isApi: true,
      handle: api.usage,
      reference: {
        summary: 'Quota of this key',
        description: 'What is used and left of the monthly quota.',
        answer: UsageSchema,
        parameters: [PARAMETERS.days],
        refusals: [401, 403, 422, 500, 503],
        isCounted: false,
      },
    },
    { path: '/livez', name: 'livez', isApi: false, handle: probes.livez },
    { path: '/readyz', name: 'readyz', isApi: false, handle: probes.readyz },
    { path: '/metrics', name: 'metrics', isApi: false, handle: probes.metrics },
    { path: '/openapi.json', name: 'openapi', isApi: false, handle: pages.openapi },
  ];
}
