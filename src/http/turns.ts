/** Work for one call that takes long: a part at a time, each in a turn of its caller, as if it were a call of its own. */

import type { Caller, Job } from './accounts.ts';
import type { Fairness } from './fairness.ts';

export interface LongWork {
  /** Does a part, in about a millisecond; gives its price. */
  step(): number;
  /** Nothing is left. */
  readonly isDone: boolean;
}

/**
 * All of it in one turn. For what many may have waited for: when it was there, 1,000 of them were answered in one go, for
 * 0.19 s (2026-11-18).
 */
export function inOneGo(price: number, work: () => void): LongWork {
  return {
    isDone: true,
    step() {
      work();
      return price;
    },
  };
}

/**
 * Measured 2026-11-17 on one core: beside two keys that always had a call of 1,000 names under way, another key with 16
 * connections got 1,468 answers a second (p99 14 ms); beside 1,024 single calls of each, 1,161 (30 ms).
 */
export function takeTurns(fairness: Fairness, caller: Caller, work: LongWork): void {
  /** Where others wait it joins them at once: what it has used is remembered for as long as it is in the row. */
  const again = () => {
    if (fairness.waiting > 0) fairness.arrive(job);
    else setImmediate(() => fairness.arrive(job));
  };
  const job: Job = {
    caller: () => caller,
    work() {
      const price = work.step();
      if (!work.isDone) again();
      return price;
    },
    // Its call was counted, and is not refused any more: it waits for another turn.
    shed: again,
    isProxy: false,
  };
  fairness.arrive(job);
}
