/** Examples of `/admin/traffic` and of a key's verdicts for the reference. */

import type { Type } from 'typebox';
import type { TrafficSchema } from './routes-of-traffic.ts';

const MINUTE = { calls: 118, verdicts: 131, flagged: 22, degraded: 0, refused: 3, failed: 0 };

/** An hour of which the service answered in the last minute only. */
export const TRAFFIC: Type.Static<typeof TrafficSchema> = {
  range: 'hour',
  from: '2026-11-16T11:01:00.000Z',
  to: '2026-11-16T12:00:07.000Z',
  step_seconds: 60,
  total: { ...MINUTE, p50_ms: 0.41, p99_ms: 21.5 },
  slots: [{ at: '2026-11-16T12:00:00.000Z', ...MINUTE, p50_ms: 0.41, p99_ms: 21.5 }],
};

export const VERDICTS = { safe: 1_302, disposable: 281, undeliverable: 44, role_account: 2, degraded: 5 };
