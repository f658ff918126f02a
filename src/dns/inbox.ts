/** What servers answered, and who gives up on them, in the order in which that was told, beside all else that a thread does. */

import type { Ticks } from '../core/ports.ts';

/**
 * A new name is asked for behind each answer, and hosts behind that: 160 answers in one turn of the event loop had all
 * other callers of a list of new names wait for 28 to 50 ms (2026-11-19).
 */
const TURN_MS = 2;

type Work = () => void;

export class Inbox {
  readonly #ticks: Ticks;
  #waiting: Work[] = [];
  /** Until then work is done in this turn; undefined when nothing came in it. */
  #until: number | undefined;

  constructor(ticks: Ticks = () => performance.now()) {
    this.#ticks = ticks;
  }

  /** At once where there is time and nobody waits, else in its turn. */
  readonly take = (work: Work): void => {
    if (this.#until === undefined) this.#begin();
    if (this.#hasTime() && this.#waiting.length === 0) work();
    else this.#waiting.push(work);
  };

  #begin(): void {
    this.#until = this.#ticks() + TURN_MS;
    setImmediate(() => void this.#turn());
  }

  readonly #hasTime = () => this.#ticks() < this.#until!;

  async #turn(): Promise<void> {
    this.#until = undefined;
    if (this.#waiting.length === 0) return;
    this.#begin();
    for (let done = 0; this.#waiting.length > 0 && (done === 0 || this.#hasTime()); done++) {
      this.#waiting.shift()!();
      // What waits for this answer goes on now, within the time of this turn.
      await undefined;
    }
  }
}

/** Of the thread: all its resolvers share the time. */
export const inOrder = new Inbox().take;
