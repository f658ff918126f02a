/** Stops asking a service that does not answer, and lets one call through from time to time to see. */

import type { Result } from './result.ts';

export interface Breaker {
  /** Whether a call may be sent now. */
  admits(): boolean;
  isClosed(): boolean;
  note(result: Result<unknown>): void;
}

/** A 4xx is an answer: the service lives, and it is the call that is wrong. */
const NO_ANSWER = ['timeout', 'network', 'server', 'answer'];

/** Opens after so many calls in a row without an answer. */
export function createBreaker(most: number, pause: number, now: () => number): Breaker {
  let failures = 0;
  let nextTry = 0;
  const isClosed = () => failures < most;
  return {
    isClosed,
    admits() {
      if (isClosed()) return true;
      if (now() < nextTry) return false;
      // This call is the one that looks; if nothing is ever heard of it, the next may go after another pause.
      nextTry = now() + pause;
      return true;
    },
    note(result) {
      if (result.ok || !NO_ANSWER.includes(result.cause)) {
        failures = 0;
        return;
      }
      failures++;
      nextTry = now() + pause;
    },
  };
}
