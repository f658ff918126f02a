/** What operators watch, in Prometheus' text format. Children are bound beforehand: the hot path only adds. */

import { readdir } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  Registry,
} from '@prometheus-io/client';
import { REASONS, type Reason } from '../core/signals.ts';
import type { Traffic } from '../core/traffic.ts';
import { createTally, type Tally } from './tally.ts';

export interface Metrics {
  /** One finished request. */
  request(route: string, status: number, seconds: number): void;
  /** One finished question to a DNS server. */
  question(outcome: string, seconds: number): void;
  degraded(): void;
  verdict(reason: Reason): void;
  shed(): void;
  /** A value that is read when somebody scrapes, and what is shown of several workers' values. */
  gauge(name: string, help: string, read: () => number, across: Across): void;
  /** Such values by one label. */
  gauges(name: string, help: string, label: string, read: ByLabel, across: Across): void;
  /** Counts kept elsewhere, by one label, read when somebody scrapes. */
  counters(name: string, help: string, label: string, read: ByLabel): void;
  /** What was called and answered since the start. */
  traffic(): Traffic;
  text(): Promise<MetricsText>;
  /** The same as values, to be added to those of other workers. */
  values(): Promise<MetricValues[]>;
}

export interface MetricsText {
  readonly type: string;
  readonly body: string;
}

type ByLabel = () => Iterable<readonly [string, number]>;
/** What is shown of several workers that each know the same thing. */
type Across = 'sum' | 'max' | 'min';
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const all = [processMetrics(), registry];
  const tally = createTally();
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
  const verdicts = Object.fromEntries(REASONS.map(reason => [reason, 0])) as Record<Reason, number>;
  const read = scraped(registers);
  read.counters('domain_risk_verdicts_total', 'Verdicts by reason.', 'reason', () =>
    Object.entries(verdicts),
  );
  const known = { shed: 0, degraded: 0 };

  return {
    request: tally.count,
    question: (_outcome, seconds) => questions.observe(seconds),
    degraded() {
      degraded.inc();
      known.degraded++;
    },
    shed() {
      shed.inc();
      known.shed++;
    },
    verdict(reason) {
      verdicts[reason]++;
    },
    traffic: () => trafficOf(tally.calls(), verdicts, known),
    ...read,
    text: async () => ({ type: registry.contentType, body: await textOf(all, tally) }),
    values: () => valuesOf(all, tally),
  };
}

function trafficOf(
  calls: Traffic,
  verdicts: Readonly<Record<Reason, number>>,
  { shed, degraded }: { readonly shed: number; readonly degraded: number },
): Traffic {
  const all = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  return {
    ...calls,
    calls: calls.calls + shed,
    refused: calls.refused + shed,
    verdicts: all,
    flagged: all - verdicts.safe,
    degraded,
  };
}

/** What is kept elsewhere, and read when somebody scrapes. */
function scraped(registers: Registry[]): Pick<Metrics, 'gauge' | 'gauges' | 'counters'> {
  return {
    gauge(name, help, read, across) {
      new Gauge({
        name,
        help,
        registers,
        aggregator: across,
        collect() {
          this.set(read());
        },
      });
    },
    gauges(name, help, label, read, across) {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        aggregator: across,
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
  };
}

/**
 * How busy the event loop was, a sample every so often. For all that it missed while the process stood still the library
 * makes up at once: at ten a second, which is its own choice, 20 s were 0.12 s more (2026-11-16).
 */
const UTILIZATION_MS = 10_000;
let ofProcess: Registry | undefined;

/** Once for a process: of each the library keeps a timer and an observer of the garbage collector, for good. */
function processMetrics(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess, eventLoopUtilizationTimeout: UTILIZATION_MS });
  countDescriptors(ofProcess);
  return ofProcess;
}

/** The library's own reads the folder at once, for milliseconds where there are thousands of connections. */
function countDescriptors(registry: Registry): void {
  if (!registry.getSingleMetric('process_open_fds')) return;
  registry.removeSingleMetric('process_open_fds');
  new Gauge({
    name: 'process_open_fds',
    help: 'Number of open file descriptors.',
    registers: [registry],
    async collect() {
      this.set(
        await readdir('/proc/self/fd').then(
          names => names.length,
          () => 0,
        ),
      );
    },
  });
}

/** One metric at a time as well. */
async function valuesOf(all: readonly Registry[], tally: Tally): Promise<MetricValues[]> {
  const values: MetricValues[] = [];
  const metrics = all.flatMap(one => one.getMetricsAsArray() as unknown as Metric[]);
  for (const metric of [...metrics, ...tally.parts()]) {
    values.push(await (metric as unknown as { get(): Promise<MetricValues> }).get());
    await turn();
  }
  return values;
}

/** One metric at a time, with room for others in between: all at once took 20 ms (2026-11-15). */
async function textOf(all: readonly Registry[], tally: Tally): Promise<string> {
  const texts: string[] = [];
  const [registry] = all as [Registry];
  const write = async (metric: Metric) => {
    texts.push(await registry.getMetricsAsString(metric));
    await turn();
  };
  for (const one of all)
    for (const metric of one.getMetricsAsArray()) await write(metric as unknown as Metric);
  const [first, ...others] = tally.parts();
  if (first) await write(first);
  for (const part of others) {
    await write(part);
    // The same metric goes on: its name and help were said.
    texts.push(texts.pop()!.replace(/^(?:#.*\n)+/, ''));
  }
  return `${texts.join('\n')}\n`;
}
