/** What the health view makes of the metrics that it sees, one look after the other. */

import { expect, test } from 'vitest';
import {
  API_ROUTES,
  countedIn,
  parseMetrics,
  sum,
  totalsOf,
  type Watch,
  watchOn,
} from '../../console/src/metrics.ts';
import { referenceRoutes } from '../../scripts/reference.ts';

const BEGAN = 1_800_000_000;

interface Look {
  /** Seconds after the first look. */
  readonly at: number;
  readonly calls: number;
  /** Seconds before the first look, or after it where negative. */
  readonly age?: number;
  readonly cpu?: number;
}

const textOf = ({ calls, age = 3_600, cpu = calls }: Look) => `# TYPE process_start_time_seconds gauge
process_start_time_seconds ${BEGAN - age}
process_cpu_seconds_total ${cpu}
domain_risk_dns_lookups_total{how="hit"} ${calls}
domain_risk_request_seconds_bucket{le="0.001",route="domain",status="200"} ${calls}
domain_risk_request_seconds_bucket{le="+Inf",route="domain",status="200"} ${calls}
domain_risk_request_seconds_count{route="domain",status="200"} ${calls}
domain_risk_request_seconds_count{route="metrics",status="200"} 12345
`;

function watched(looks: readonly Look[]): { calls: number; rates: number[]; watch: Watch } {
  let watch: Watch | undefined;
  for (const look of looks)
    watch = watchOn(watch, totalsOf(parseMetrics(textOf(look)), (BEGAN + look.at) * 1000));
  const rates = watch!.intervals.map(({ statuses, seconds }) => sum(statuses) / seconds);
  return { calls: sum(countedIn(watch!).statuses), rates, watch: watch! };
}

test('every route that callers ask with a key is counted', () => {
  const names = referenceRoutes()
    .filter(({ door }) => door === 'key')
    .map(({ name }) => name);
  expect([...API_ROUTES].toSorted()).toEqual([...new Set(names)].toSorted());
});

test('two servers that answer in turn and have no calls show none', () => {
  const looks = [0, 1, 2, 3, 4, 5].map(turn => ({
    at: 5 * turn,
    calls: turn % 2 ? 900 : 1_000,
    age: turn % 2 ? 60 : 3_600,
  }));
  expect(watched(looks)).toMatchObject({ calls: 0, rates: [0, 0, 0, 0] });
});

test('each of them is compared with itself, and both are counted', () => {
  const { calls, rates } = watched([
    { at: 0, calls: 1_000 },
    { at: 5, calls: 900, age: 60 },
    { at: 10, calls: 1_020 },
    { at: 15, calls: 930, age: 60 },
  ]);
  expect({ calls, rates }).toEqual({ calls: 50, rates: [2, 3] });
});

test('calls of a service that was started again are added to those before', () => {
  const { calls, rates } = watched([
    { at: 0, calls: 100 },
    { at: 5, calls: 110 },
    { at: 10, calls: 5, age: -8 },
    { at: 15, calls: 120, age: -8 },
  ]);
  expect({ calls, rates }).toEqual({ calls: 130, rates: [2, 1, 23] });
});

test('servers that began in the same second are said to be mixed, and nothing is made of them', () => {
  const { calls, rates, watch } = watched([
    { at: 0, calls: 900, cpu: 9 },
    { at: 5, calls: 1_000, cpu: 10 },
    { at: 10, calls: 900, cpu: 9.1 },
    { at: 15, calls: 1_000, cpu: 10.1 },
  ]);
  expect({ calls, rates }).toEqual({ calls: 0, rates: [] });
  expect([...watch.processes.values()].map(({ isMixed }) => isMixed)).toEqual([true]);
});

test('the count goes on when the oldest intervals are forgotten', () => {
  const looks = Array.from({ length: 1_001 }, (_, turn) => ({ at: 5 * turn, calls: 7 + turn }));
  const { calls, rates } = watched(looks);
  expect(calls).toBe(1_000);
  expect(rates).toHaveLength(720);
});
