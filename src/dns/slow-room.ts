/** Where lookups wait on that were not answered soon: bounded, and who has most in it gives way first. */

import type { PlaceCaps } from './places.ts';

export interface Slow {
  readonly zone: string;
  /** Who waits for it: it is in the room as the first one's, then as the next one's. Who comes meanwhile is added. */
  readonly keys: Set<string>;
  /** Called when another one gets its room: it is not waited for any longer. */
  giveUp(): void;
}

type Rows = Map<string, Set<Slow>>;

/** For one that comes, in less than a millisecond: 200 keys that wait for the same 320 names made it 190 (2026-11-18). */
const MOST_PASSED = 200;

export class SlowRoom {
  readonly #caps: PlaceCaps;
  /** Each in the order of their coming; by key in that of their becoming its own. */
  readonly #byZone: Rows = new Map();
  readonly #byKey: Rows = new Map();
  #size = 0;

  constructor(caps: PlaceCaps) {
    this.#caps = caps;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * The longest there makes room, as the one least likely to be answered: of the key that is full, or that has most where
   * the zone is or all are. So names of others, and those of the same key that only take a moment longer, stay: one key
   * that asked for 26 names a second below a slow domain kept all others from an answer about it (2026-11-18).
   */
  enter(slow: Slow): void {
    this.#size += 1;
    add(this.#byZone, slow.zone, slow);
    add(this.#byKey, ownerOf(slow), slow);
    // Each step takes a key from one of them.
    const changed = [slow];
    let left = MOST_PASSED;
    while (changed.length > 0) {
      const one = this.#tooMany(changed.at(-1)!);
      if (!one) changed.pop();
      else if (left-- > 0 && this.#passOn(one)) changed.push(one);
      else this.#drop(one);
    }
  }

  leave(slow: Slow): void {
    if (!this.#byZone.get(slow.zone)?.has(slow)) return;
    this.#size -= 1;
    remove(this.#byZone, slow.zone, slow);
    remove(this.#byKey, ownerOf(slow), slow);
  }

  /** Who has to make room where this one is. */
  #tooMany({ zone, keys: [key = ''] }: Slow): Slow | undefined {
    const ofZone = this.#byZone.get(zone);
    if (ofZone && ofZone.size > this.#caps.perZone) {
      const rows: Rows = new Map();
      for (const one of ofZone) add(rows, ownerOf(one), one);
      return firstOfLargest(rows);
    }
    const ofKey = this.#byKey.get(key);
    if (ofKey && ofKey.size > this.#caps.perKey) return firstOf(ofKey);
    return this.#size > this.#caps.most ? firstOfLargest(this.#byKey) : undefined;
  }

  /**
   * Whether others wait for it too: then it is theirs. One key that asked for a name before others, and for 400 a second
   * that nobody answers for, took the answer from all of them (2026-11-18).
   */
  #passOn(slow: Slow): boolean {
    const owner = ownerOf(slow);
    if (slow.keys.size < 2) return false;
    remove(this.#byKey, owner, slow);
    slow.keys.delete(owner);
    add(this.#byKey, ownerOf(slow), slow);
    return true;
  }

  #drop(slow: Slow): void {
    this.leave(slow);
    slow.giveUp();
  }
}

const ownerOf = ({ keys: [owner = ''] }: Slow): string => owner;

const firstOf = ([first]: ReadonlySet<Slow>): Slow | undefined => first;

function firstOfLargest(rows: Rows): Slow | undefined {
  let largest: ReadonlySet<Slow> = new Set();
  for (const row of rows.values()) if (row.size > largest.size) largest = row;
  return firstOf(largest);
}

function add(rows: Rows, name: string, slow: Slow): void {
  const row = rows.get(name) ?? new Set();
  rows.set(name, row.add(slow));
}

function remove(rows: Rows, name: string, slow: Slow): void {
  const row = rows.get(name);
  row?.delete(slow);
  if (row?.size === 0) rows.delete(name);
}
