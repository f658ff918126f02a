/** What waits its turn: bounded, and no key can fill it, so that others are not turned away for one. */

/**
 * Of what is free a key may have so many times as much (dynamic thresholds, Choudhury and Hahne 1998): one alone comes to
 * three quarters, and leaves the next one three quarters of the rest.
 */
const SHARE = 3;

export class Pending<T> {
  readonly #most: number;
  #waiting: T[] = [];
  #counts = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#waiting.length;
  }

  hasRoom(by: string): boolean {
    return (this.#counts.get(by) ?? 0) < SHARE * (this.#most - this.#waiting.length);
  }

  /** Whether there was room for it. */
  add(one: T, by: string): boolean {
    if (!this.hasRoom(by)) return false;
    this.#waiting.push(one);
    this.#counts.set(by, (this.#counts.get(by) ?? 0) + 1);
    return true;
  }

  /** All that wait, once. */
  take(): T[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#counts = new Map();
    return waiting;
  }
}
