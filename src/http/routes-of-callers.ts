/** What callers and watchers find: the paths of the API, and the probes. */

import { Type } from 'typebox';
import { WINDOW_DAYS } from '../core/quota.ts';
import { MOST_TOP } from '../core/ranking.ts';
import { MOST_CHANGES } from './endpoints/changes.ts';
import { livez, type probeEndpoints } from './endpoints/probes.ts';
import { PRICES } from './prices.ts';
import { type Handle, type Parameter, page, type Route } from './routes.ts';
import { checkRoutes, EXPLAIN } from './routes-of-checks.ts';
import { DomainSchema, FlagReasonSchema, TopDomainsSchema, UsageSchema, words } from './schemas.ts';
import { ChangesSchema } from './schemas-of-feeds.ts';
import { DOMAIN_PATH } from './target.ts';

const PARAMETERS = {
  domain: {
    name: 'domain',
    in: 'path',
    required: true,
    description: 'A domain name, such as `gmail.com`; never an email address.',
    schema: Type.String({ minLength: 1, examples: ['gmail.com'] }),
  },
  explain: EXPLAIN,
  limit: {
    name: 'limit',
    in: 'query',
    description: 'At most this many domains.',
    schema: Type.Integer({ minimum: 1, maximum: MOST_TOP, default: 100 }),
  },
  days: {
    name: 'days',
    in: 'query',
    description: 'Adds `days`: the calls of each of the last so many days, today last.',
    schema: Type.Integer({ minimum: 1, maximum: WINDOW_DAYS }),
  },
  numbers: {
    name: 'numbers',
    in: 'query',
    description:
      'For clients that expect numbers: of an unlimited key `monthly_limit` is 2147483647 and `remaining_month` what is left of that, instead of null.',
    schema: Type.Boolean({ default: false }),
  },
  reason: {
    name: 'reason',
    in: 'query',
    description: 'Only domains with this reason.',
    schema: FlagReasonSchema,
  },
  source: {
    name: 'source',
    in: 'query',
    description: '`observed` leaves out domains that only lists name.',
    schema: words(['observed']),
  },
  explainTop: {
    name: 'explain',
    in: 'query',
    description: 'Adds `flags` and `source` to each domain.',
    schema: Type.Boolean({ default: false }),
  },
  since: {
    name: 'since',
    in: 'query',
    description: 'The `cursor` of an earlier answer; absent, the last 24 hours.',
    schema: Type.String({ examples: ['c179471640000034.1794716400000'] }),
  },
  changes: {
    name: 'limit',
    in: 'query',
    description: 'At most this many changes.',
    schema: Type.Integer({ minimum: 1, maximum: MOST_CHANGES, default: 100 }),
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier answer.',
    schema: Type.String(),
  },
} as const satisfies Record<string, Parameter>;

/** There from the first moment on. */
export const LIVEZ: Route = { ...page('/livez', 'livez', 'application/json', livez), isProbe: true };

interface Handlers {
  domain: Handle;
  top: Handle;
  usage: Handle;
  check: Handle;
  domains: Handle;
  changes: Handle;
  probes: ReturnType<typeof probeEndpoints>;
}

export function publicRoutes(handlers: Handlers): Route[] {
  const { domain, top, usage, check, domains, changes, probes } = handlers;
  return [
    {
      method: 'GET',
      path: DOMAIN_PATH,
      name: 'domain',
      door: 'key',
      price: PRICES.call,
      answer: DomainSchema,
      handle: domain,
      reference: {
        id: 'getDomain',
        summary: 'Look up a domain',
        description:
          'The risk of one domain, from 0 to 100. Send the domain only, never a whole email address.',
        parameters: [PARAMETERS.domain, PARAMETERS.explain],
        refusals: [401, 403, 422, 429, 500, 503],
        isCounted: true,
        caching: 'private, max-age=300',
        canDegrade: true,
      },
    },
    {
      method: 'GET',
      path: '/v1/public/top-domains',
      name: 'top_domains',
      door: 'key',
      price: PRICES.list,
      answer: TopDomainsSchema,
      handle: top,
      reference: {
        id: 'listTopDomains',
        summary: 'List top domains',
        description:
          'The domains flagged most often here in the last 30 days; the rest of the list is padded with widely listed domains.',
        parameters: [
          PARAMETERS.limit,
          PARAMETERS.reason,
          PARAMETERS.source,
          PARAMETERS.explainTop,
          PARAMETERS.ifNoneMatch,
        ],
        refusals: [401, 403, 422, 429, 500, 503],
        isCounted: true,
        caching: 'private, max-age=60',
        hasTag: true,
      },
    },
    usageRoute(usage),
    ...checkRoutes({ check, domains }),
    changesRoute(changes),
    LIVEZ,
    { ...page('/readyz', 'readyz', 'application/json', probes.readyz), isProbe: true },
  ];
}

function usageRoute(handle: Handle): Route {
  return {
    method: 'GET',
    path: '/v1/usage',
    name: 'usage',
    door: 'key',
    price: PRICES.read,
    answer: UsageSchema,
    handle,
    reference: {
      id: 'getUsage',
      summary: 'Get the usage of your key',
      description: 'How much of the monthly quota is used and left.',
      parameters: [PARAMETERS.days, PARAMETERS.numbers],
      refusals: [401, 403, 422, 500, 503],
      isCounted: false,
      caching: 'no-store',
    },
  };
}

function changesRoute(handle: Handle): Route {
  return {
    method: 'GET',
    path: '/v1/public/changes',
    name: 'changes',
    door: 'key',
    price: PRICES.list,
    answer: ChangesSchema,
    handle,
    reference: {
      id: 'listChanges',
      summary: 'Follow changes of the lists',
      description:
        'Domains that the lists began or ceased to flag, oldest first, so that you can keep a copy. Start without `since`, then send the `cursor` of each answer; changes are kept for 30 days. After a 410 changes were missed: discard the copy and start again.',
      parameters: [PARAMETERS.since, PARAMETERS.changes, PARAMETERS.ifNoneMatch],
      refusals: [401, 403, 410, 422, 429, 500, 503],
      isCounted: true,
      caching: 'private, max-age=60',
      hasTag: true,
    },
  };
}
