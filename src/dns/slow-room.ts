/** Where lookups wait on that were not answered soon: bounded, and who has most in it gives way first. */

import type { PlaceCaps } from './places.ts';

export interface Slow {
  readonly zone: string;
  /** Who waits for it: it is in the room as the first one's, then as the next one's. Who comes meanwhile is added. */
  readonly keys: Set<string>;
  /** Called when another one gets its room: it is not waited for any longer. */
  giveUp(): void;
}

type IsMeant = (one: Slow) => boolean;

const ownerOf = ({ keys }: Slow): string => keys.values().next().value ?? '';

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
    const changed = [slow];
    // Each step takes a key from one of them: it ends, and costs no more than the lookups that brought these keys.
    while (changed.length > 0) {
      const isMeant = this.#tooMany(changed.at(-1)!);
      const passed = isMeant && this.#dropOfLargest(isMeant);
      if (passed) changed.push(passed);
      else if (!isMeant) changed.pop();
    }
  }

  leave(slow: Slow): void {
    this.#inside.delete(slow);
  }

  /** Those of which one is too many, beside this one. */
  #tooMany(slow: Slow): IsMeant | undefined {
    const sameZone = (one: Slow) => one.zone === slow.zone;
    const key = ownerOf(slow);
    const sameKey = (one: Slow) => ownerOf(one) === key;
    if (this.#count(sameZone) > this.#caps.perZone) return sameZone;
    if (this.#count(sameKey) > this.#caps.perKey) return sameKey;
    return this.#inside.size > this.#caps.most ? () => true : undefined;
  }

  /** A look at all: there are a few hundred at most. */
  #count(isMeant: IsMeant): number {
    let count = 0;
    for (const one of this.#inside) if (isMeant(one)) count += 1;
    return count;
  }

  /**
   * The one that passes on, if others wait for it too. It is not given up for these: one key that asked for a name before
   * others, and for 400 a second that nobody answers for, took its answer from all of them (2026-11-18).
   */
  #dropOfLargest(isMeant: IsMeant): Slow | undefined {
    const largest = this.#largestKey(isMeant);
    for (const one of this.#inside) {
      if (ownerOf(one) !== largest || !isMeant(one)) continue;
      one.keys.delete(largest);
      if (one.keys.size > 0) return one;
      this.#inside.delete(one);
      one.giveUp();
      break;
    }
    return undefined;
  }

  #largestKey(isMeant: IsMeant): string | undefined {
    const counts = new Map<string, number>();
    let largest: string | undefined;
    for (const one of this.#inside) {
      if (!isMeant(one)) continue;
      const key = ownerOf(one);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (largest === undefined || count > (counts.get(largest) ?? 0)) largest = key;
    }
    return largest;
  }
}
