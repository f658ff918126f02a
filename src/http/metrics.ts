/** What operators watch, in Prometheus' text format. Children are bound beforehand: the hot path only adds. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { REASONS, type Reason } from '../core/verdict.ts';

export interface Metrics {
  /** One finished request. */
  request(route: string, status: number, seconds: number): void;
  degraded(): void;
  verdict(reason: Reason): void;
  shed(): void;
  /** A value that is read when somebody scrapes. */
  gauge(name: string, help: string, read: () => number): void;
  /** Counts kept elsewhere, by one label, read when somebody scrapes. */
  counters(name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>): void;
  text(): Promise<{ type: string; body: string }>;
}

/** From a tenth of a millisecond, a cached answer, to the whole DNS budget. */
const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 2.5];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'domain_risk_request_seconds',
    help: 'Requests by route and status, with the time from the head of the request to the end of the answer.',
    labelNames: ['route', 'status'] as const,
    buckets: SECONDS,
    registers,
  });
  const degraded = new Counter({
    name: 'domain_risk_degraded_total',
    help: 'Answers given without DNS evidence because asking failed.',
    registers,
  });
  const shed = new Counter({
    name: 'domain_risk_shed_total',
    help: 'Calls refused with 503, uncounted.',
    registers,
  });
  const verdicts = new Counter({
    name: 'domain_risk_verdicts_total',
    help: 'Verdicts by reason.',
    labelNames: ['reason'] as const,
    registers,
  });
  const bound = new Map<string, ReturnType<typeof requests.labels>>();
  const boundVerdicts = Object.fromEntries(
    REASONS.map(reason => [reason, verdicts.labels(reason)]),
  ) as Record<Reason, ReturnType<typeof verdicts.labels>>;

  return {
    request(route, status, seconds) {
      const name = route + status;
      const child = bound.get(name) ?? requests.labels(route, String(status));
      bound.set(name, child);
      child.observe(seconds);
    },
    degraded: () => degraded.inc(),
    shed: () => shed.inc(),
    verdict(reason) {
      boundVerdicts[reason].inc();
    },
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    counters(name, help, label, read) {
      new Counter({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          this.reset();
          for (const [value, count] of read()) this.inc({ [label]: value }, count);
        },
      });
    },
    text: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  };
}
