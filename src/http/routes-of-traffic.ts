/** What operators see of the traffic: `/admin/traffic`. */

import { Type } from 'typebox';
import { RANGES, type Range } from '../core/traffic.ts';
import type { trafficEndpoints } from './endpoints/traffic.ts';
import type { Parameter, Route } from './routes.ts';
import type { RouteOf } from './rows-of-operators.ts';
import { Moment, nullable, words } from './schemas.ts';

export type TrafficRows = ReturnType<typeof trafficEndpoints>;

const Ranges = words(Object.keys(RANGES) as Range[]);

const RANGE: Parameter = {
  name: 'range',
  in: 'query',
  description: 'How far to look back.',
  schema: Type.Unsafe<Range>({ ...Ranges, default: 'hour' }),
};

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Latency = (description: string) => nullable(Type.Number({ minimum: 0, description }));

const COUNTS = {
  calls: Count('Requests of endpoints that use quota.'),
  verdicts: Count('Domains that were judged. One call may have many.'),
  flagged: Count('Of these, domains with a reason other than `safe`.'),
  degraded: Count('Of these, domains judged without DNS because it did not answer.'),
  refused: Count('Calls answered with 4xx, or with 503 under overload.'),
  failed: Count('Calls answered with another 5xx.'),
  p50_ms: Latency('Median time to answer; null without answers.'),
  p99_ms: Latency('99 of 100 answers took no longer; null without answers.'),
};

export const TrafficSchema = Type.Object(
  {
    range: Ranges,
    from: Moment,
    to: Moment,
    step_seconds: Type.Integer({ description: 'How long each slot is. The last one is not over yet.' }),
    total: Type.Object(COUNTS),
    slots: Type.Array(Type.Object({ at: Moment, ...COUNTS }), {
      description: 'The oldest first, those without calls included.',
    }),
  },
  { title: 'Traffic' },
);

export function trafficRoutes(row: RouteOf, traffic: TrafficRows): Route[] {
  return [
    row({
      at: ['GET', '/admin/traffic'],
      says: [
        'getTraffic',
        'Read the traffic',
        'Calls, verdicts and latency of the last hour, day, week or month, summed over all servers. Up to 10 seconds behind. Kept for 32 days.',
      ],
      answer: TrafficSchema,
      parameters: [RANGE],
      refusals: [422],
      work: traffic.read,
    }),
  ];
}
