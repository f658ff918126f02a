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
   * The longest there makes room, as the one least likely to be answered: of the zone or the key that is full, else of
   * the key with most. So names of others, and those of the same key that only take a moment longer, stay.
   */
  enter(slow: Slow): void {
    this.#inside.add(slow);
    const sameZone = (one: Slow) => one.zone === slow.zone;
    const sameKey = (one: Slow) => one.key === slow.key;
    if (this.#count(sameZone) > this.#caps.perZone) this.#drop(sameZone);
    else if (this.#count(sameKey) > this.#caps.perKey) this.#drop(sameKey);
    else if (this.#inside.size > this.#caps.most) {
      const largest = this.#largestKey();
      this.#drop(one => one.key === largest);
    }
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

  #largestKey(): string | undefined {
    const counts = new Map<string, number>();
    let largest: string | undefined;
    for (const { key } of this.#inside) {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (largest === undefined || count > (counts.get(largest) ?? 0)) largest = key;
    }
    return largest;
  }
}
