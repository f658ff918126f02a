/**
 * Tells callers that they were counted. Each makes its answer then, which takes 20 µs, or 500 where a name was made to be
 * slow: of a commit of 100 of these the event loop was held for as long as all took (2026-11-18).
 */

/** The answers of a usual commit take 2 ms. */
const TURN_MS = 5;
/** Of what is left in each turn: whoever connects meanwhile is accepted in turns of the event loop, one in each. */
const LEFT_MS = 1;
/** So many of one key are told before the next key's, and between two looks at the clock. */
const AT_ONCE = 4;
/** Where so many are left, those keys are behind that have no fewer of them than others have. */
const MANY_LEFT = 256;

/** What was left of one key. */
interface Left {
  /** In order: each tells on, and whether that was all. */
  readonly lists: (() => boolean)[];
  calls: number;
}

export class Telling {
  /**
   * For later turns of the event loop. Keys take turns: behind a thousand dear answers of one, those of all others waited
   * for a second (2026-11-19).
   */
  readonly #left = new Map<string, Left>();
  /** Of all keys. */
  #calls = 0;
  #until = 0;
  /** Of all lists: a commit of many keys has one for each. */
  #told = 0;

  /** So many of this key, or of any, were counted and not told yet that no more should be let in meanwhile. */
  isBehind(keyId?: string): boolean {
    if (this.#calls < MANY_LEFT || keyId === undefined) return this.#calls >= MANY_LEFT;
    return (this.#left.get(keyId)?.calls ?? 0) * this.#left.size >= this.#calls;
  }

  /** A commit is done, and its callers follow. */
  begin(): void {
    this.#until = performance.now() + TURN_MS;
  }

  all<T>(keyId: string, waiters: readonly T[], tell: (waiter: T, place: number) => void): void {
    let place = this.#left.size === 0 ? this.#some(waiters, tell, 0, waiters.length) : 0;
    if (place === waiters.length) return;
    if (this.#left.size === 0) setImmediate(this.#goOn);
    const left = this.#left.get(keyId) ?? { lists: [], calls: 0 };
    this.#left.set(keyId, left);
    this.#count(left, waiters.length - place);
    left.lists.push(() => {
      const before = place;
      place = this.#some(waiters, tell, place, place + AT_ONCE);
      this.#count(left, before - place);
      return place === waiters.length;
    });
  }

  #count(left: Left, calls: number): void {
    left.calls += calls;
    this.#calls += calls;
  }

  readonly #goOn = (): void => {
    this.#until = performance.now() + LEFT_MS;
    for (const [keyId, left] of this.#left) {
      if (left.lists[0]!()) left.lists.shift();
      this.#left.delete(keyId);
      // Behind all others, where this comes to it again.
      if (left.lists.length > 0) this.#left.set(keyId, left);
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
