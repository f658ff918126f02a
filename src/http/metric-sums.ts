/** The metrics of several workers as those of one service. */

import { Registry } from '@prometheus-io/client';
import type { MetricsText, MetricValues } from './metrics.ts';

/** Of the process, which every worker would tell alike: they come from one thread. */
const isOfProcess = ({ name }: MetricValues) => name.startsWith('process_');
/** What only grows. Those of a worker that has ended stay in the sum: a counter that falls is taken for a restart. */
const isGrowing = ({ type }: MetricValues) => String(type) === 'counter' || String(type) === 'histogram';

export class MetricSums {
  /** By worker, as they were told last. */
  readonly #last = new Map<number, readonly MetricValues[]>();
  /** Of those that have ended: one sum, and those that came to it meanwhile. */
  #past: (readonly MetricValues[])[] = [];

  told(worker: number, values: readonly MetricValues[]): void {
    this.#last.set(
      worker,
      values.filter(one => !isOfProcess(one)),
    );
  }

  /** From that moment on it is among them, though others end and somebody asks before they are added up. */
  async ended(worker: number): Promise<void> {
    const last = this.#last.get(worker) ?? [];
    this.#last.delete(worker);
    const added = [...this.#past, last.filter(isGrowing)];
    this.#past = added;
    const sum = (await sumOf(added).getMetricsAsJSON()) as MetricValues[];
    if (this.#past === added) this.#past = [sum];
  }

  /** With `own`, what the thread tells that none of the workers runs in. */
  async text(own: readonly MetricValues[]): Promise<MetricsText> {
    const registry = sumOf([own, ...this.#last.values(), ...this.#past]);
    return { type: registry.contentType, body: await registry.metrics() };
  }

  /** Those of the process itself, and others that no worker has. */
  static ofProcess(values: readonly MetricValues[], ...more: readonly string[]): MetricValues[] {
    return values
      .filter(one => isOfProcess(one) || more.includes(one.name))
      .map(one => ({ ...one, aggregator: 'first' }));
  }
}

/** Quantiles cannot be added: of the workers' the busiest one's are shown. */
function sumOf(all: readonly (readonly MetricValues[])[]): Registry {
  const summable = all.map(values =>
    values.map(one => (String(one.type) === 'summary' ? { ...one, aggregator: 'max' as const } : one)),
  );
  return Registry.aggregate(summable as object[][] as object[]) as Registry;
}
