/** What operators watch, in Prometheus' text format. Children are bound beforehand: the hot path only adds. */

import { Counter, collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import { REASONS, type Reason } from '../core/verdict.ts';
import { createTally } from './tally.ts';

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

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
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
  const boundVerdicts = Object.fromEntries(
    REASONS.map(reason => [reason, verdicts.labels(reason)]),
  ) as Record<Reason, ReturnType<typeof verdicts.labels>>;

  return {
    request: createTally(registry),
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
