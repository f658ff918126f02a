/** What callers find who have more in hand than one domain: the paths for addresses. */

import { Type } from 'typebox';
import { PRICES } from './prices.ts';
import type { Handle, Parameter, Route } from './routes.ts';
import { CheckSchema } from './schemas.ts';
import { CHECK_PATH } from './target.ts';

const EMAIL_OR_DOMAIN: Parameter = {
  name: 'email_or_domain',
  in: 'path',
  required: true,
  description: 'An email address, or a domain name; at most 320 characters.',
  schema: Type.String({ minLength: 1, examples: ['jane.doe@gmail.com'] }),
};

export function checkRoutes({ check }: { check: Handle }): Route[] {
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
  ];
}
