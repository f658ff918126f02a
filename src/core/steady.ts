/** Whether the days that the clock tells can be believed: by them a month of one day is what was there to stay. */

import type { Clock, Ticks } from './ports.ts';

/** A clock that was wrong for so long may be right: so long nothing is learned. */
const SETTLED_MS = 86_400_000;

/** When each list was updated last. */
interface Lists {
  readonly status: readonly { readonly updatedAt: number | null }[];
}

export class SteadyClock {
  readonly #clock: Clock;
  readonly #ticks: Ticks;
  #offset: number;
  #since: number;
  /** Nobody has set the clock since this process was started. */
  #isUntouched = true;

  constructor(clock: Clock, ticks: Ticks) {
    this.#clock = clock;
    this.#ticks = ticks;
    this.#since = ticks();
    this.#offset = clock() - this.#since;
  }

  /**
   * Not for a day after it was set by more than a day, since it was wrong before or is now. Nor where it is behind the last
   * update of the lists (a machine without a battery, before it has asked for the time), unless it goes on so for a day:
   * then it was ahead at that update.
   */
  isBelieved({ status }: Lists): boolean {
    const ticks = this.#ticks();
    const now = this.#clock();
    if (Math.abs(now - ticks - this.#offset) > SETTLED_MS) {
      this.#offset = now - ticks;
      this.#since = ticks;
      this.#isUntouched = false;
    }
    if (ticks - this.#since >= SETTLED_MS) return true;
    return this.#isUntouched && status.every(({ updatedAt }) => (updatedAt ?? 0) <= now + SETTLED_MS);
  }
}
