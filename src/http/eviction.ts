/**
 * Who makes room where connections run short: those that were idle longest, whose heads are late, or who have their last
 * answer; first of all those of whoever has most.
 */

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
  /** Until when nobody of them who weighs more than that can go, as far as is known: looking at all has its price. */
  readonly #none = new WeakMap<object, { readonly until: number; readonly above: number }>();
  /** Where looking goes on: the same ones would be looked at again and again. */
  readonly #lookedUpTo = new WeakMap<object, Iterator<Connection>>();

  /** Closes a few of those who weigh more than that, the heaviest first. False where none can go. */
  from(those: Set<Connection>, weigh: (one: Connection) => number, above: number): boolean {
    const now = performance.now();
    const none = this.#none.get(those);
    if (none && now < none.until && above >= none.above) return false;
    const some = this.#next(those);
    const idle = some
      .filter(one => !this.leaving.has(one) && weigh(one) > above && one.isDispensable(now))
      .sort((a, b) => weigh(b) - weigh(a) || a.activeAt - b.activeAt);
    const gone = idle.slice(0, Math.min(MOST_EVICTED, Math.ceil(those.size * EVICTED_SHARE)));
    if (gone.length === 0)
      this.#none.set(those, { until: now + (SCAN_MS * some.length) / those.size, above });
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
