/**
 * Tells callers that they were counted. Each makes its answer then, which takes 20 µs, or 500 where a name was made to be
 * slow: of a commit of 100 of these the event loop was held for as long as all took (2026-11-18).
 */

/** The answers of a usual commit take 2 ms. */
const TURN_MS = 5;
/** So many of one key are told before the next key's, and between two looks at the clock. */
const AT_ONCE = 4;

export class Telling {
  /**
   * What was left for later turns of the event loop, of each key in order: each tells on, and whether that was all. Keys
   * take turns: behind a thousand dear answers of one, those of all others waited for a second (2026-11-19).
   */
  readonly #left = new Map<string, (() => boolean)[]>();
  #until = 0;
  /** Of all lists: a commit of many keys has one for each. */
  #told = 0;

  /** A commit is done, and its callers follow. */
  begin(): void {
    this.#until = performance.now() + TURN_MS;
  }

  all<T>(keyId: string, waiters: readonly T[], tell: (waiter: T, place: number) => void): void {
    let place = this.#left.size === 0 ? this.#some(waiters, tell, 0, waiters.length) : 0;
    if (place === waiters.length) return;
    if (this.#left.size === 0) setImmediate(this.#goOn);
    const ofKey = this.#left.get(keyId) ?? [];
    this.#left.set(keyId, ofKey);
    ofKey.push(() => {
      place = this.#some(waiters, tell, place, place + AT_ONCE);
      return place === waiters.length;
    });
  }

  readonly #goOn = (): void => {
    this.begin();
    for (const [keyId, ofKey] of this.#left) {
      if (ofKey[0]!()) ofKey.shift();
      this.#left.delete(keyId);
      // Behind all others, where this comes to it again.
      if (ofKey.length > 0) this.#left.set(keyId, ofKey);
      if (performance.now() > this.#until) break;
    }
    if (this.#left.size > 0) setImmediate(this.#goOn);
  };

  /** One that throws does not keep the others from their answers: that ends the process behind them. */
  #some<T>(
    waiters: readonly T[],
    tell: (waiter: T, place: number) => void,
    from: number,
    to: number,
  ): number {
    const end = Math.min(to, waiters.length);
    for (let place = from; place < end; place++) {
      if (++this.#told % AT_ONCE === 0 && performance.now() > this.#until) return place;
      try {
        tell(waiters[place]!, place);
      } catch (error) {
        setImmediate(() => {
          throw error;
        });
      }
    }
    return end;
  }
}
