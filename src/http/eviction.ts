/** Who makes room where connections run short: those that were idle longest, and whose heads are late. */

import type { Connection } from './connection.ts';

/** Looking for the longest idle has its price, so of so many that are looked at several go at once. */
const MOST_LOOKED_AT = 2_000;
const MOST_EVICTED = 16;
const EVICTED_SHARE = 0.02;
const SCAN_MS = 100;

export class Eviction {
  /** Those that make room already, and are gone in a moment. */
  readonly leaving = new Set<Connection>();
  /** Since the start. */
  count = 0;
  /** Until when nobody of them is idle, as far as is known: looking at all of them has its price. */
  readonly #noneIdleUntil = new WeakMap<object, number>();
  /** Where looking goes on: the same ones would be looked at again and again. */
  readonly #lookedUpTo = new WeakMap<object, Iterator<Connection>>();

  /** Closes those that were idle longest, a few at once. False where none was idle. */
  from(those: Set<Connection>): boolean {
    const now = performance.now();
    if (now < (this.#noneIdleUntil.get(those) ?? 0)) return false;
    const some = this.#next(those);
    const idle = some
      .filter(one => !this.leaving.has(one) && one.isDispensable(now))
      .sort((a, b) => a.activeAt - b.activeAt);
    const gone = idle.slice(0, Math.min(MOST_EVICTED, Math.ceil(those.size * EVICTED_SHARE)));
    if (gone.length === 0) this.#noneIdleUntil.set(those, now + (SCAN_MS * some.length) / those.size);
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
