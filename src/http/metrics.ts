/** What operators watch, in Prometheus' text format. Children are bound beforehand: the hot path only adds. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { REASONS, type Reason } from '../core/verdict.ts';
import { createTally } from './tally.ts';

export interface Metrics {
  /** One finished request. */
  request(route: string, status: number, seconds: number): void;
  /** One finished question to a DNS server. */
  question(outcome: string, seconds: number): void;
  degraded(): void;
  verdict(reason: Reason): void;
  shed(): void;
  /** A value that is read when somebody scrapes. */
  gauge(name: string, help: string, read: () => number): void;
  /** Such values by one label. */
  gauges(name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>): void;
  /** Counts kept elsewhere, by one label, read when somebody scrapes. */
  counters(name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>): void;
  text(): Promise<{ type: string; body: string }>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const questions = new Histogram({
    name: 'domain_risk_dns_question_seconds',
    help: 'How long questions to DNS servers took.',
    buckets: [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 1.8],
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
  const boundVerdicts = Object.fromEntries(
    REASONS.map(reason => [reason, verdicts.labels(reason)]),
  ) as Record<Reason, ReturnType<typeof verdicts.labels>>;

  return {
    request: createTally(registry),
    question: (_outcome, seconds) => questions.observe(seconds),
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
    gauges(name, help, label, read) {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          this.reset();
          for (const [value, now] of read()) this.set({ [label]: value }, now);
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
