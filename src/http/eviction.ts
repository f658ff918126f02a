/**
 * Who makes room where connections run short: those that were idle longest, whose heads are late, or who have their last
 * answer; first of all those of addresses with a large share of all, then those without a key.
 */

import type { Connection } from './connection.ts';

/** Looking for the longest idle has its price, so of so many that are looked at several go at once. */
const MOST_LOOKED_AT = 2_000;
const MOST_EVICTED = 16;
const EVICTED_SHARE = 0.02;
const SCAN_MS = 100;
/**
 * Whoever has a key and is in the middle of its calls is not idle between two of them. Without one it is: strangers who asked
 * for `/livez` twice a second kept everybody else out (2026-11-17).
 */
const CALLING_MS = 1_000;

export class Eviction {
  /** Those that make room already, and are gone in a moment. */
  readonly leaving = new Set<Connection>();
  /** Since the start. */
  count = 0;
  /** Until when nobody of them can go, as far as is known, for others and for the heavy: looking at all has its price. */
  readonly #noneUntil = { others: new WeakMap<object, number>(), heavy: new WeakMap<object, number>() };
  /** Where looking goes on: the same ones would be looked at again and again. */
  readonly #lookedUpTo = new WeakMap<object, Iterator<Connection>>();

  /** Of one address, for another of its own. */
  fromOwn(those: Set<Connection>): boolean {
    const mayGo = (one: Connection, now: number) => one.isDispensable(now, 0);
    return this.#close(those, 'others', mayGo, () => 0);
  }

  /** Of all; for whoever has a large share itself only of those who do. */
  fromAll(those: Set<Connection>, isHeavy: (one: Connection) => boolean, forHeavy: boolean): boolean {
    const mayGo = (one: Connection, now: number) =>
      (!forHeavy || isHeavy(one)) && one.isDispensable(now, one.hasKey ? CALLING_MS : 0);
    const rankOf = (one: Connection) => (isHeavy(one) ? 0 : one.hasKey ? 2 : 1);
    return this.#close(those, forHeavy ? 'heavy' : 'others', mayGo, rankOf);
  }

  /** Closes a few of those that may go, by their rank and then the longest idle first. False where there are none. */
  #close(
    those: Set<Connection>,
    whose: 'others' | 'heavy',
    mayGo: (one: Connection, now: number) => boolean,
    rankOf: (one: Connection) => number,
  ): boolean {
    const now = performance.now();
    const noneUntil = this.#noneUntil[whose];
    if (now < (noneUntil.get(those) ?? 0)) return false;
    const some = this.#next(those);
    const idle = some
      .filter(one => !this.leaving.has(one) && mayGo(one, now))
      .sort((a, b) => rankOf(a) - rankOf(b) || a.activeAt - b.activeAt);
    const gone = idle.slice(0, Math.min(MOST_EVICTED, Math.ceil(those.size * EVICTED_SHARE)));
    if (gone.length === 0) noneUntil.set(those, now + (SCAN_MS * some.length) / those.size);
    this.count += gone.length;
    for (const connection of gone) {
      this.leaving.add(connection);
      connection.evict();
    }
    return gone.length > 0;
  }

  /** Some of them, all in turn. */
  #next(those: Set<Connection>): Connection[] {
    const some: Connection[] = [];
    let from = this.#lookedUpTo.get(those) ?? those.values();
    for (let left = Math.min(those.size, MOST_LOOKED_AT); left > 0; left--) {
      let one = from.next();
      if (one.done) {
        from = those.values();
        one = from.next();
      }
      if (!one.done) some.push(one.value);
    }
    this.#lookedUpTo.set(those, from);
    return some;
  }
}
