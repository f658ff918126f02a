/** `/admin/traffic`: what was asked and answered lately, of all servers together. */

import { isRange, latencyOf, RANGES, type Range, type Traffic } from '../../core/traffic.ts';
import type { TrafficWatch } from '../../traffic.ts';
import type { NoBody } from '../bodies.ts';
import { invalid, ok, type Work } from '../operators.ts';
import { parameter } from '../query.ts';

const NAMES = Object.keys(RANGES) as Range[];
const DEFAULT_RANGE: Range = 'hour';

const shown = (traffic: Traffic) => ({
  calls: traffic.calls,
  verdicts: traffic.verdicts,
  flagged: traffic.flagged,
  degraded: traffic.degraded,
  refused: traffic.refused,
  failed: traffic.failed,
  p50_ms: latencyOf(traffic, 0.5),
  p99_ms: latencyOf(traffic, 0.99),
});

export interface TrafficEndpointParts {
  readonly traffic: Pick<TrafficWatch, 'read'>;
}

export function trafficEndpoints({ traffic }: TrafficEndpointParts) {
  const read: Work<typeof NoBody> = async ({ target }) => {
    const range = parameter(target.query, 'range') ?? DEFAULT_RANGE;
    if (!isRange(range)) return invalid(`range must be one of ${NAMES.join(', ')}`);
    const { from, to, stepMs, total, places } = await traffic.read(range);
    return ok({
      range,
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      step_seconds: stepMs / 1_000,
      total: shown(total),
      slots: places.map(({ at, traffic: one }) => ({ at: new Date(at).toISOString(), ...shown(one) })),
    });
  };
  return { read };
}
