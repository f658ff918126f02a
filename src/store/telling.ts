/**
 * Tells callers that they were counted. Each makes its answer then, which takes 20 µs, or 500 where a name was made to be
 * slow: of a commit of 100 of these the event loop was held for as long as all took (2026-11-18).
 */

/** The answers of a usual commit take 2 ms. */
const TURN_MS = 5;
/** So many are told between two looks at the clock. */
const AT_ONCE = 4;

export class Telling {
  /** What was left for later turns of the event loop, in order: each tells on, and whether that was all. */
  readonly #left: (() => boolean)[] = [];
  #until = 0;
  /** Of all lists: a commit of many keys has one for each. */
  #told = 0;

  /** A commit is done, and its callers follow. */
  begin(): void {
    this.#until = performance.now() + TURN_MS;
  }

  all<T>(waiters: readonly T[], tell: (waiter: T, place: number) => void): void {
    let place = this.#left.length === 0 ? this.#some(waiters, tell, 0) : 0;
    if (place === waiters.length) return;
    if (this.#left.length === 0) setImmediate(this.#goOn);
    this.#left.push(() => {
      place = this.#some(waiters, tell, place);
      return place === waiters.length;
    });
  }

  readonly #goOn = (): void => {
    this.begin();
    while (this.#left[0]?.()) this.#left.shift();
    if (this.#left.length > 0) setImmediate(this.#goOn);
  };

  /** One that throws does not keep the others from their answers: that ends the process behind them. */
  #some<T>(waiters: readonly T[], tell: (waiter: T, place: number) => void, from: number): number {
    for (let place = from; place < waiters.length; place++) {
      if (++this.#told % AT_ONCE === 0 && performance.now() > this.#until) return place;
      try {
        tell(waiters[place]!, place);
      } catch (error) {
        setImmediate(() => {
          throw error;
        });
      }
    }
    return waiters.length;
  }
}
