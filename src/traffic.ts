/** What was answered → counts by minute and hour in the store → what operators see of the last hour, day, week or month. */

import type { Clock, Store } from './core/ports.ts';
import {
  beginningOf,
  isNothing,
  NO_TRAFFIC,
  placesOf,
  RANGES,
  type Range,
  since,
  slotsAt,
  sumOf,
  type Traffic,
} from './core/traffic.ts';

/** A call may be counted in the minute after its own by so much. */
const FLUSH_MS = 10_000;

export interface TrafficParts {
  readonly store: Pick<Store, 'addTraffic' | 'traffic'>;
  readonly clock: Clock;
  /** All since the start, as the metrics have it anyway: calls have no more work because of this. */
  readonly totals: () => Traffic;
  readonly onError: (error: unknown) => void;
  readonly everyMs?: number | undefined;
}

export interface TrafficWatch {
  /** Of all servers on the store, this one up to now. */
  read(range: Range): Promise<TrafficSeen>;
  close(): Promise<void>;
}

export interface TrafficSeen {
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  readonly total: Traffic;
  readonly places: ReturnType<typeof placesOf>;
}

export function watchTraffic(parts: TrafficParts): TrafficWatch {
  const { store, clock, totals, onError, everyMs = FLUSH_MS } = parts;
  let written = NO_TRAFFIC;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    const all = totals();
    const news = since(written, all);
    if (isNothing(news)) return;
    const now = clock();
    await store.addTraffic(slotsAt(now, news), now);
    // What could not be written goes with the next.
    written = all;
  }

  /** Two at once would both write the same. */
  function flush(): Promise<void> {
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return writing;
  }
  const timer = setInterval(() => void flush().catch(onError), everyMs).unref();

  return {
    async read(range) {
      await writing?.catch(() => {});
      await flush();
      const now = clock();
      const { span, step } = RANGES[range];
      const from = beginningOf(range, now);
      const places = placesOf(range, now, await store.traffic(span, from));
      const total = sumOf(places.map(({ traffic }) => traffic));
      return { from, to: now, stepMs: step, total, places };
    },
    async close() {
      clearInterval(timer);
      await writing?.catch(() => {});
      await flush().catch(onError);
    },
  };
}
