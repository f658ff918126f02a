/** What several workers tell, as one service. */

import type { ResolverHealth } from '../core/ports.ts';
import { MetricSums } from '../http/metric-sums.ts';
import type { MetricsText, MetricValues } from '../http/metrics.ts';
import type { Told, ToldOfAll, Topic } from './messages.ts';

/** A worker that is held for longer is shown as it was before. A probe has its answer within 0.1 s, metrics may take one. */
const PATIENCE_MS = { health: 50, metrics: 1_000 } satisfies Record<Topic, number>;

export interface WholeParts {
  /** Asks every worker that is up. */
  readonly askEach: <T extends Topic>(
    topic: T,
    ms: number,
    take: (worker: number, told: Told[T]) => void,
  ) => Promise<void>;
  /** Of the thread that none of them runs in. */
  readonly own: () => Promise<readonly MetricValues[]>;
}

export class Whole {
  readonly #parts: WholeParts;
  readonly #healths = new Map<number, ResolverHealth>();
  readonly #sums = new MetricSums();

  constructor(parts: WholeParts) {
    this.#parts = parts;
  }

  came(worker: number, health: ResolverHealth): void {
    this.#healths.set(worker, health);
  }

  async ended(worker: number): Promise<void> {
    this.#healths.delete(worker);
    await this.#sums.ended(worker);
  }

  tell<T extends Topic>(topic: T): Promise<ToldOfAll[T]> {
    return (topic === 'health' ? this.#health() : this.#metrics()) as Promise<ToldOfAll[T]>;
  }

  async #health(): Promise<ResolverHealth> {
    const { askEach } = this.#parts;
    await askEach('health', PATIENCE_MS.health, (worker, told) => this.#healths.set(worker, told));
    return healthOf([...this.#healths.values()]);
  }

  async #metrics(): Promise<MetricsText> {
    const { askEach, own } = this.#parts;
    await askEach('metrics', PATIENCE_MS.metrics, (worker, told) => this.#sums.told(worker, told));
    return this.#sums.text(await own());
  }
}

/** Their work together. Of a server that one of them has trouble with the trouble is told. */
export function healthOf(all: readonly ResolverHealth[]): ResolverHealth {
  const sum = (read: (one: ResolverHealth) => number) => all.reduce((total, one) => total + read(one), 0);
  return {
    servers: (all[0]?.servers ?? []).map((server, at) => ({
      ...server,
      healthy: all.every(({ servers }) => servers[at]?.healthy !== false),
      problem: all.map(({ servers }) => servers[at]?.problem).find(problem => problem != null) ?? null,
    })),
    degraded: all.some(({ degraded }) => degraded),
    inFlight: sum(one => one.inFlight),
    slow: sum(one => one.slow),
    waiting: sum(one => one.waiting),
    cached: sum(one => one.cached),
  };
}
