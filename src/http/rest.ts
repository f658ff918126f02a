/** Connections that were refused and are left unread for a while, so that refusing costs less than serving. */

import type { Job } from './accounts.ts';

/**
 * A connection that was refused is left unread for a while (`Retry-After` asked for more): the longer the more of them
 * there are, so that refusing costs no more than some 1,200 a second where it can, and never all at the same time.
 */
const LEAST_REST_MS = 100;
const MOST_REST_MS = 780;
const REFUSED_PER_MS = 1.2;
const REST_STEP_MS = 20;

export interface Rest {
  /** It was refused, and has waited for that since. */
  begin(job: Job, since: number): void;
  close(): void;
}

export function createRest(): Rest {
  /** By when they are read again: a ring of moments, each so long. */
  const resting: Job[][] = Array.from({ length: MOST_REST_MS / REST_STEP_MS + 2 }, () => []);
  let count = 0;
  let rested = 0;
  let timer: NodeJS.Timeout | undefined;

  /** By the clock, since the timer comes late when there is much to do. */
  function wake(): void {
    const now = Math.floor(performance.now() / REST_STEP_MS);
    for (let past = 0; rested < now && past < resting.length; past++) {
      const at = ++rested % resting.length;
      const due = resting[at]!;
      resting[at] = [];
      count -= due.length;
      for (const job of due) job.rested();
    }
    rested = now;
    if (count > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    begin(job, since) {
      const now = performance.now();
      const ms = Math.min(MOST_REST_MS, LEAST_REST_MS + count / REFUSED_PER_MS) - (now - since);
      const until = now + Math.max(REST_STEP_MS, ms * (0.95 + Math.random() / 20));
      if (count++ === 0) rested = Math.floor(now / REST_STEP_MS);
      resting[Math.floor(until / REST_STEP_MS) % resting.length]!.push(job);
      timer ??= setInterval(wake, REST_STEP_MS);
    },
    close: () => clearInterval(timer),
  };
}
