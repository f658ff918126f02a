/**
 * Durations of requests by route and status, counted by hand and shown by the metrics library as a histogram.
 * Its own `observe` looks labels up anew for each value: 3.4 µs of a 73 µs request (measured 2026-11-15).
 */

import type { Metric } from '@prometheus-io/client';
import { LATENCY_BOUNDS as BOUNDS, LATENCIES, NO_TRAFFIC, sumOf, type Traffic } from '../core/traffic.ts';

interface Row {
  readonly labels: { readonly route: string; readonly status: string };
  /** One more than there are bounds: the last one is everything above. */
  readonly counts: number[];
  sum: number;
}

const NAME = 'domain_risk_request_seconds';
const HELP =
  'Requests by route and status, with the time from the head of the request to the end of the answer.';

export interface Tally {
  count(route: string, status: number, seconds: number): void;
  /** What the metrics library writes, in parts: a thousand lines at once would hold everybody up. */
  parts(): Metric[];
  /** All calls that a quota is for. */
  calls(): Traffic;
}

/** Routes that a quota is for, by their names. */
const CALLS = ['domain', 'domains', 'check', 'top_domains', 'changes', 'filter'];

export function createTally(): Tally {
  const rows = new Map<string, Map<number, Row>>();

  function newRow(route: string, status: number): Row {
    const labels = { route, status: String(status) };
    const row: Row = { labels, counts: Array(BOUNDS.length + 1).fill(0), sum: 0 };
    rows.set(route, (rows.get(route) ?? new Map()).set(status, row));
    return row;
  }

  return {
    count(route, status, seconds) {
      const row = rows.get(route)?.get(status) ?? newRow(route, status);
      let at = 0;
      while (at < BOUNDS.length && seconds > BOUNDS[at]!) at++;
      row.counts[at]! += 1;
      row.sum += seconds;
    },
    parts: () =>
      [...rows.values()].map(
        ofRoute =>
          ({
            name: NAME,
            help: HELP,
            type: 'histogram',
            get: async () => shown(ofRoute),
          }) as unknown as Metric,
      ),
    calls: () => sumOf(CALLS.flatMap(route => [...(rows.get(route) ?? [])].map(trafficOf))),
  };
}

/** A preflight (204) is no call, and who was shed (503) is counted where that is done. */
function trafficOf([status, { counts }]: readonly [number, Row]): Traffic {
  if (status === 204 || status === 503) return NO_TRAFFIC;
  const calls = counts.reduce((sum, count) => sum + count, 0);
  if (status >= 500) return { ...NO_TRAFFIC, calls, failed: calls };
  if (status >= 400) return { ...NO_TRAFFIC, calls, refused: calls };
  return {
    ...NO_TRAFFIC,
    ...(Object.fromEntries(LATENCIES.map((name, at) => [name, counts[at]])) as Partial<Traffic>),
    calls,
  };
}

function shown(ofRoute: ReadonlyMap<number, Row>) {
  const values: { metricName: string; labels: Record<string, string>; value: number }[] = [];
  for (const row of ofRoute.values()) {
    let count = 0;
    for (const [at, bound] of [...BOUNDS, '+Inf'].entries()) {
      count += row.counts[at]!;
      values.push({
        metricName: `${NAME}_bucket`,
        labels: { le: String(bound), ...row.labels },
        value: count,
      });
    }
    values.push({ metricName: `${NAME}_sum`, labels: row.labels, value: row.sum });
    values.push({ metricName: `${NAME}_count`, labels: row.labels, value: count });
  }
  return { name: NAME, help: HELP, type: 'histogram', values };
}
