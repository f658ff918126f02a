/**
 * Tells callers that they were counted. Each makes its answer then, which takes 20 µs, or 500 where a name was made to be
 * slow: of a commit of 100 of these the event loop was held for as long as all took (2026-11-18).
 */

/** The answers of a usual commit take 2 ms. */
const TURN_MS = 5;
/** So many are told between two looks at the clock. */
const AT_ONCE = 4;
/**
 * What is left has half as long as everything else had since its last turn, since that goes on letting calls in, but so long
 * at the least. Connections are accepted one in each turn: while they come, turns are short, and stay so.
 */
const LEFT_MS = 1;
const SHARE = 1 / 2;
/** Of one key before the next one's: one dear answer, or a dozen others. */
const SLICE_MS = 0.2;
/** Shared by all keys that have some left: one that has its part of so many, or more, is behind. */
const MANY_LEFT = 256;
/** With fewer of all keys nobody is: then they are soon told. */
const FEW_LEFT = 32;

/** What was left of one key. */
interface Left {
  /** In order: each tells on until then, one at the least, and whether that was all. */
  readonly lists: ((until: number) => boolean)[];
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
  #turnedAt = 0;
  /** Of all lists: a commit of many keys has one for each. */
  #told = 0;

  /** So many of this key, or of any, were counted and not told yet that no more should be let in meanwhile. */
  isBehind(keyId?: string): boolean {
    if (this.#calls < FEW_LEFT || keyId === undefined) return this.#calls >= FEW_LEFT;
    return (this.#left.get(keyId)?.calls ?? 0) * this.#left.size >= MANY_LEFT;
  }

  /** A commit is done, and its callers follow. */
  begin(): void {
    this.#until = performance.now() + TURN_MS;
  }

  all<T>(keyId: string, waiters: readonly T[], tell: (waiter: T, place: number) => void): void {
    let place = this.#left.size === 0 ? this.#first(waiters, tell) : 0;
    if (place === waiters.length) return;
    if (this.#left.size === 0) this.#turnEnds();
    const left = this.#left.get(keyId) ?? { lists: [], calls: 0 };
    this.#left.set(keyId, left);
    this.#count(left, waiters.length - place);
    left.lists.push(until => {
      do {
        this.#count(left, -1);
        tellOne(waiters[place]!, place++, tell);
      } while (place < waiters.length && performance.now() < until);
      return place === waiters.length;
    });
  }

  #count(left: Left, calls: number): void {
    left.calls += calls;
    this.#calls += calls;
  }

  readonly #goOn = (): void => {
    const begun = performance.now();
    this.#until = begun + Math.min(TURN_MS, Math.max(LEFT_MS, (begun - this.#turnedAt) * SHARE));
    for (const [keyId, left] of this.#left) {
      const until = performance.now() + SLICE_MS;
      do {
        if (left.lists[0]!(until)) left.lists.shift();
      } while (left.lists.length > 0 && performance.now() < until);
      this.#left.delete(keyId);
      // Behind all others, where this comes to it again.
      if (left.lists.length > 0) this.#left.set(keyId, left);
      if (performance.now() > this.#until) break;
    }
    if (this.#left.size > 0) this.#turnEnds();
  };

  #turnEnds(): void {
    this.#turnedAt = performance.now();
    setImmediate(this.#goOn);
  }

  /** Of a commit that is done, for as long as one may take. */
  #first<T>(waiters: readonly T[], tell: (waiter: T, place: number) => void): number {
    for (let place = 0; place < waiters.length; place++) {
      if (++this.#told % AT_ONCE === 0 && performance.now() > this.#until) return place;
      tellOne(waiters[place]!, place, tell);
    }
    return waiters.length;
  }
}

/** One that throws does not keep the others from their answers: that ends the process behind them. */
function tellOne<T>(waiter: T, place: number, tell: (waiter: T, place: number) => void): void {
  try {
    tell(waiter, place);
  } catch (error) {
    setImmediate(() => {
      throw error;
    });
  }
}
