/**
 * What connections take of something scarce: where all take too much, whoever takes most makes room. By who came first, one
 * key that left 400 large answers unread had those of others reset, and strangers at 20 addresses the pages of everybody
 * who read slowly (2026-11-17).
 */

interface Share<One> {
  /** In the order in which they began to. */
  readonly taken: Map<One, number>;
  sum: number;
}

export interface ShareRules<One> {
  /** Nothing is lost by it; where none is so, another one gives way. */
  readonly mayGo: (one: One) => boolean;
  readonly giveWay: (one: One) => void;
  /**
   * Who takes no more than this is as good as any other: of such, whoever began to first gives way. Those who can have as
   * many names as they like would otherwise take a little under each, and everybody else most.
   */
  readonly little?: number;
}

/** So many are looked at, at the most, for one that may go. */
const MOST_LOOKED_AT = 512;

export class Shares<One> {
  readonly #most: number;
  readonly #little: number;
  readonly #rules: ShareRules<One>;
  readonly #shares = new Map<string, Share<One>>();
  /** Who takes more than a little. */
  readonly #large = new Set<string>();
  /** Who takes it by each, in the order in which they began to. */
  readonly #names = new Map<One, string>();
  #sum = 0;

  constructor(most: number, rules: ShareRules<One>) {
    this.#most = most;
    this.#little = rules.little ?? 0;
    this.#rules = rules;
  }

  /** It takes so much now, as if it began to at this moment. Others may have to give way for that, or it itself. */
  set(name: string, one: One, bytes: number): void {
    this.#put(name, one, bytes);
    this.leave(this.#most);
  }

  /** What all take. */
  get sum(): number {
    return this.#sum;
  }

  /** All of them take no more than this. */
  leave(most: number): void {
    while (this.#sum > Math.max(0, most)) {
      const largest = this.#largest();
      const taken = largest?.taken ?? this.#names;
      const goes =
        largest && this.#little === 0 ? this.#heaviestOf(largest.taken) : this.#oldestOf(taken.keys());
      this.#put(this.#names.get(goes)!, goes, 0);
      this.#rules.giveWay(goes);
    }
  }

  #put(name: string, one: One, bytes: number): void {
    if (bytes === 0 && !this.#names.has(one)) return;
    const share = this.#shares.get(name) ?? { taken: new Map(), sum: 0 };
    const more = bytes - (share.taken.get(one) ?? 0);
    share.taken.delete(one);
    this.#names.delete(one);
    if (bytes > 0) {
      share.taken.set(one, bytes);
      this.#names.set(one, name);
    }
    share.sum += more;
    this.#sum += more;
    if (share.taken.size > 0) this.#shares.set(name, share);
    else this.#shares.delete(name);
    if (share.sum > this.#little) this.#large.add(name);
    else this.#large.delete(name);
  }

  /**
   * Of a key whoever has most, and of those the oldest. One that reads has one answer at the most: by age alone it was reset
   * beside others of its key that did not, where the kernel was asked a moment before it had read (2026-11-18). Of those who
   * share an address it would be whoever reads a large page, and not the many who each leave less.
   */
  #heaviestOf(taken: ReadonlyMap<One, number>): One {
    const [first] = taken.keys();
    let [heaviest, most, looked] = [first, 0, 0];
    for (const [one, bytes] of taken) {
      if (bytes > most && this.#rules.mayGo(one)) [heaviest, most] = [one, bytes];
      if (++looked === MOST_LOOKED_AT) break;
    }
    return heaviest!;
  }

  #oldestOf(those: MapIterator<One>): One {
    let [first, looked] = [undefined as One | undefined, 0];
    for (const one of those) {
      first ??= one;
      if (this.#rules.mayGo(one)) return one;
      if (++looked === MOST_LOOKED_AT) break;
    }
    return first!;
  }

  #largest(): Share<One> | undefined {
    let largest: Share<One> | undefined;
    for (const name of this.#large) {
      const share = this.#shares.get(name)!;
      if (share.sum > (largest?.sum ?? 0)) largest = share;
    }
    return largest;
  }
}
