/** How long a store may be waited for: judged by when its answer came, not by when this process came to look. */

import { StoreUnavailable } from '../core/ports.ts';

export interface Wait {
  /** What is left of it, in milliseconds. */
  left(): number;
  /** How long the event loop was held meanwhile, which is not taken from it. */
  held(): number;
  end(): void;
}

const STEP_MS = 50;
/** A step that took longer than this did so because the event loop was held: that is not the store's doing. */
const MOST_PER_STEP_MS = 2 * STEP_MS;

/**
 * Ends by itself after `ms` in which the event loop turned. One timer over the whole time would fire after a held loop
 * although the answer lies there unread, since timers come before the poll phase: 2,000 calls that were counted got
 * a 500 for that (2026-11-15). So the time is taken in steps, and `onPassed` is called only after a poll phase has
 * followed the last of them.
 */
export function waitAtMost(ms: number, onPassed = () => {}): Wait {
  const started = performance.now();
  let atStep = ms;
  let since = started;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;

  const left = () => Math.max(0, atStep - Math.min(performance.now() - since, MOST_PER_STEP_MS));

  function step(): void {
    timer = setTimeout(
      () => {
        immediate = setImmediate(look);
      },
      Math.min(atStep, STEP_MS),
    );
  }

  function look(): void {
    atStep = left();
    since = performance.now();
    // A timer may be early by a fraction of a millisecond.
    if (atStep < 1) onPassed();
    else step();
  }

  step();
  return {
    left,
    held: () => performance.now() - started - (ms - left()),
    end() {
      clearTimeout(timer);
      clearImmediate(immediate);
    },
  };
}

/** `passed` rejects when the time is over. */
export function deadlineIn(
  ms: number,
  whose: string,
  onPassed = () => {},
): { readonly passed: Promise<never>; readonly wait: Wait } {
  const { promise: passed, reject } = Promise.withResolvers<never>();
  passed.catch(() => {});
  const wait = waitAtMost(ms, () => {
    onPassed();
    // Without a number: it may be what was left of the time that a call has.
    reject(new StoreUnavailable(`${whose} did not answer in time`));
  });
  return { passed, wait };
}

export function within<T>(ms: number, whose: string, work: Promise<T>): Promise<T> {
  const { passed, wait } = deadlineIn(ms, whose);
  return Promise.race([work, passed]).finally(wait.end);
}
