/** What the supervisor and its workers tell each other. */

import type { Handed } from '../assemble.ts';
import type { ResolverHealth } from '../core/ports.ts';
import type { Together } from '../http/listeners.ts';
import type { MetricsText, MetricValues } from '../http/metrics.ts';
import type { Environment } from '../setting-sources.ts';
import type { StorePorts } from '../store/sqlite/store.ts';

/** What a worker begins with. */
export interface WorkerStart {
  /** Which of them it is: whoever takes its place is the same one. */
  readonly worker: number;
  readonly workers: number;
  /** As they were found free. */
  readonly port: number;
  readonly metricsPort: number | undefined;
  /** Whether the process has a side for operators. */
  readonly hasOperators: boolean;
  /** Of the embedded store. */
  readonly store: StorePorts | undefined;
  /** Limits of calls per second. */
  readonly buckets: SharedArrayBuffer;
  readonly catalog: Handed;
  /** 1 from the moment on that only workers listen; the same memory in all of them, so that they say so in one moment. */
  readonly alone: Int32Array<SharedArrayBuffer>;
}

/** It listens. */
export interface Up {
  readonly health: ResolverHealth;
}

/** It cannot start. An error loses its class on the way: `isExpected` says whether its message is all that is needed. */
export interface Failed {
  readonly failed: Error;
  readonly isExpected: boolean;
}

/** What is asked of each worker, and of the supervisor for all of them together. */
export interface Told {
  readonly health: ResolverHealth;
  readonly metrics: readonly MetricValues[];
}
export interface ToldOfAll {
  readonly health: ResolverHealth;
  readonly metrics: MetricsText;
}
export type Topic = keyof Told;

export type ToWorker =
  | { readonly drain: Together }
  | { readonly settings: Environment }
  /** The next one. */
  | { readonly catalog: Handed }
  | { readonly ask: Topic; readonly id: number }
  | { readonly id: number; readonly ofAll: ToldOfAll[Topic] };

export type FromWorker =
  | { readonly lines: string }
  | { readonly up: Up }
  | Failed
  | { readonly askAll: Topic; readonly id: number }
  | { readonly id: number; readonly told: Told[Topic] };
