/** Who gets the next place to ask from: round robin over the keys that wait, so that no key's row is before another's. */

export interface PlaceCaps {
  /** Places in all. */
  readonly most: number;
  /** Per registrable domain. */
  readonly perZone: number;
  readonly perKey: number;
}

/** With fewer sockets fewer places, in the same parts: who waits for one is answered, who gets no socket is not. */
export function partOf({ most, perZone, perKey }: PlaceCaps, share: number): PlaceCaps {
  return {
    most: Math.ceil(most * share),
    perZone: Math.ceil(perZone * share),
    perKey: Math.ceil(perKey * share),
  };
}

export interface Waiter {
  readonly zone: string;
  readonly key: string;
  /** Called when it has the place. */
  take(): void;
}

export class Places {
  readonly #caps: PlaceCaps;
  readonly #byZone = new Map<string, number>();
  readonly #byKey = new Map<string, number>();
  /**
   * By key and by zone, each in the order of their turns. Only zones that are full are passed over, and no more than
   * `most / perZone` of them can be, so finding the next is a matter of a few steps, however many wait.
   */
  readonly #rows = new Map<string, Map<string, Waiter[]>>();
  #taken = 0;
  #waiting = 0;

  constructor(caps: PlaceCaps) {
    this.#caps = caps;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** False when a cap is reached. Overtakes nobody: whoever waits is held up by a cap of his own. */
  take(zone: string, key: string): boolean {
    if (this.#taken >= this.#caps.most || this.#isKeyFull(key) || this.#isZoneFull(zone)) return false;
    this.#taken += 1;
    this.#byZone.set(zone, (this.#byZone.get(zone) ?? 0) + 1);
    this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + 1);
    return true;
  }

  /** Gives a place back, and on to whoever is next. */
  leave(zone: string, key: string): void {
    this.#taken -= 1;
    lower(this.#byZone, zone);
    lower(this.#byKey, key);
    while (this.#taken < this.#caps.most) {
      const next = this.#next();
      if (!next) return;
      this.take(next.zone, next.key);
      next.take();
    }
  }

  wait(waiter: Waiter): void {
    const row = this.#rows.get(waiter.key) ?? new Map<string, Waiter[]>();
    const ofZone = row.get(waiter.zone) ?? [];
    ofZone.push(waiter);
    row.set(waiter.zone, ofZone);
    this.#rows.set(waiter.key, row);
    this.#waiting += 1;
  }

  /** Waits no longer; nothing happens to one that does not wait. */
  withdraw(waiter: Waiter): void {
    const row = this.#rows.get(waiter.key);
    const ofZone = row?.get(waiter.zone);
    const at = ofZone?.indexOf(waiter) ?? -1;
    if (!row || !ofZone || at < 0) return;
    ofZone.splice(at, 1);
    this.#waiting -= 1;
    if (ofZone.length > 0) return;
    row.delete(waiter.zone);
    if (row.size === 0) this.#rows.delete(waiter.key);
  }

  #next(): Waiter | undefined {
    for (const [key, row] of this.#rows) {
      if (this.#isKeyFull(key)) continue;
      for (const [zone, [first]] of row) {
        if (!first || this.#isZoneFull(zone)) continue;
        this.withdraw(first);
        toEnd(row, zone);
        toEnd(this.#rows, key);
        return first;
      }
    }
    return undefined;
  }

  #isZoneFull(zone: string): boolean {
    return (this.#byZone.get(zone) ?? 0) >= this.#caps.perZone;
  }

  #isKeyFull(key: string): boolean {
    return (this.#byKey.get(key) ?? 0) >= this.#caps.perKey;
  }
}

/** It had its turn. */
function toEnd<T>(rows: Map<string, T>, name: string): void {
  const row = rows.get(name);
  if (row === undefined) return;
  rows.delete(name);
  rows.set(name, row);
}

function lower(counts: Map<string, number>, name: string): void {
  const count = counts.get(name) ?? 0;
  if (count > 1) counts.set(name, count - 1);
  else counts.delete(name);
}
