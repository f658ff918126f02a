/** Whether the days that the clock tells can be believed: by them a month of one day is what was there to stay. */

import type { Clock, Ticks } from './ports.ts';

/** A clock that was wrong for so long may be right: so long nothing is learned. */
const SETTLED_MS = 86_400_000;

/** No service rests for so long, and a clock that is ahead by less makes no month. */
const RESTED_MS = 14 * SETTLED_MS;

/** When each list was updated last. */
interface Lists {
  readonly status: readonly { readonly updatedAt: number | null }[];
}

export class SteadyClock {
  readonly #clock: Clock;
  readonly #ticks: Ticks;
  #offset: number;
  #since: number;
  /** Nobody has set the clock since this process was started, nor shortly before that as far as one can tell. */
  #isUntouched = true;

  /** `lastDay`: on which the store saw anybody. The lists are those at the start: an update would bring today's. */
  constructor(clock: Clock, ticks: Ticks, lastDay: string | null, { status }: Lists) {
    this.#clock = clock;
    this.#ticks = ticks;
    this.#since = ticks();
    this.#offset = clock() - this.#since;
    if (lastDay === null) return;
    const last = Math.max(Date.parse(lastDay), ...status.map(({ updatedAt }) => updatedAt ?? 0));
    this.#isUntouched = clock() - last <= RESTED_MS;
  }

  /**
   * Not for a day after it was set by more than a day, since it was wrong before or is now. Nor where it was started so long
   * after everything that the store knows of that it may be ahead: by such a start a day was a month. Nor where it is behind
   * the last update of the lists (a machine without a battery, before it has asked for the time), unless it goes on so for a
   * day: then it was ahead at that update.
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
