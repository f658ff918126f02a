/** What callers find who want to ask less: the filter of confirmed domains. */

import { Type } from 'typebox';
import { FILTER_TYPE } from './endpoints/filter.ts';
import { PRICES } from './prices.ts';
import type { Handle, Route } from './routes.ts';

export function filterRoute(filter: Handle): Route {
  return {
    method: 'GET',
    path: '/v1/public/filter',
    name: 'filter',
    door: 'key',
    price: PRICES.call,
    answer: FILTER_TYPE,
    handle: filter,
    reference: {
      id: 'getFilter',
      summary: 'Get the filter of confirmed domains',
      description:
        'All domains at 100 by lists or by your overrides, in a signed binary fuse filter of about 2.3 bytes a name. The client uses it to answer for these without a call.',
      parameters: [
        {
          name: 'If-None-Match',
          in: 'header',
          description: 'The `ETag` of an earlier answer.',
          schema: Type.String(),
        },
      ],
      refusals: [401, 403, 429, 500, 503],
      isCounted: true,
      caching: 'private, max-age=3600',
      hasTag: true,
    },
  };
}
