/** Where lookups wait on that were not answered soon: bounded, and who has most in it gives way first. */

import type { PlaceCaps } from './places.ts';

export interface Slow {
  readonly zone: string;
  readonly key: string;
  /** Called when another one gets its room: it is not waited for any longer. */
  giveUp(): void;
}

export class SlowRoom {
  readonly #caps: PlaceCaps;
  /** In the order of their coming. */
  readonly #inside = new Set<Slow>();

  constructor(caps: PlaceCaps) {
    this.#caps = caps;
  }

  get size(): number {
    return this.#inside.size;
  }

  /**
   * The longest there makes room, as the one least likely to be answered: of the key that is full, or that has most where
   * the zone is or all are. So names of others, and those of the same key that only take a moment longer, stay: one key
   * that asked for 26 names a second below a slow domain kept all others from an answer about it (2026-11-18).
   */
  enter(slow: Slow): void {
    this.#inside.add(slow);
    const sameZone = (one: Slow) => one.zone === slow.zone;
    const sameKey = (one: Slow) => one.key === slow.key;
    if (this.#count(sameZone) > this.#caps.perZone) this.#dropOfLargest(sameZone);
    else if (this.#count(sameKey) > this.#caps.perKey) this.#drop(sameKey);
    else if (this.#inside.size > this.#caps.most) this.#dropOfLargest(() => true);
  }

  leave(slow: Slow): void {
    this.#inside.delete(slow);
  }

  /** A look at all: there are a few hundred at most. */
  #count(isMeant: (one: Slow) => boolean): number {
    let count = 0;
    for (const one of this.#inside) if (isMeant(one)) count += 1;
    return count;
  }

  #drop(isMeant: (one: Slow) => boolean): void {
    for (const one of this.#inside) {
      if (!isMeant(one)) continue;
      this.#inside.delete(one);
      one.giveUp();
      return;
    }
  }

  #dropOfLargest(isMeant: (one: Slow) => boolean): void {
    const largest = this.#largestKey(isMeant);
    this.#drop(one => isMeant(one) && one.key === largest);
  }

  #largestKey(isMeant: (one: Slow) => boolean): string | undefined {
    const counts = new Map<string, number>();
    let largest: string | undefined;
    for (const one of this.#inside) {
      if (!isMeant(one)) continue;
      const { key } = one;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (largest === undefined || count > (counts.get(largest) ?? 0)) largest = key;
    }
    return largest;
  }
}
