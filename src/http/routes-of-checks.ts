/** What callers find who have more in hand than one domain: the paths for addresses, and for many names at once. */

import { Type } from 'typebox';
import { DomainsBody, MOST_NAMES_BODY } from './bodies.ts';
import { PRICES } from './prices.ts';
import type { Handle, Parameter, Route } from './routes.ts';
import { CheckSchema, DomainsSchema } from './schemas-of-checks.ts';
import { CHECK_PATH } from './target.ts';

export const EXPLAIN: Parameter = {
  name: 'explain',
  in: 'query',
  description: 'Adds `evidence`: why the answer is what it is.',
  schema: Type.Boolean({ default: false }),
};

const EMAIL_OR_DOMAIN: Parameter = {
  name: 'email_or_domain',
  in: 'path',
  required: true,
  description: 'An email address, or a domain name; at most 320 characters.',
  schema: Type.String({ minLength: 1, examples: ['jane.doe@gmail.com'] }),
};

export function checkRoutes({ check, domains }: { check: Handle; domains: Handle }): Route[] {
  return [
    {
      method: 'GET',
      path: CHECK_PATH,
      name: 'check',
      door: 'key',
      price: PRICES.call,
      answer: CheckSchema,
      handle: check,
      reference: {
        id: 'checkEmail',
        summary: 'Check an email address',
        description:
          'The risk of an email address: that of its domain, and `role_account` for a role word such as `info` before the @. The part before the @ is never stored or logged.',
        parameters: [EMAIL_OR_DOMAIN],
        refusals: [401, 403, 422, 429, 500, 503],
        isCounted: true,
        caching: 'no-store',
        canDegrade: true,
      },
    },
    {
      method: 'POST',
      path: '/v1/public/domains',
      name: 'domains',
      door: 'key',
      price: PRICES.call,
      body: DomainsBody,
      mostBody: MOST_NAMES_BODY,
      answer: DomainsSchema,
      handle: domains,
      reference: {
        id: 'getDomains',
        summary: 'Look up many domains',
        description:
          'The risk of up to 1,000 domains in one call, each counted like a lookup of its own: where fewer are left of the quota than you send, none is counted and the answer is 429. A name that is not valid is a result with `error`.',
        parameters: [EXPLAIN],
        refusals: [401, 403, 413, 415, 422, 429, 500, 503],
        isCounted: true,
        isCountedLate: true,
        caching: 'private, max-age=300',
        canDegrade: true,
      },
    },
  ];
}
