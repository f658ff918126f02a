/**
 * What connections take of something scarce: where all take too much, whoever has taken some for longest gives way. Honest
 * peers are done in a moment, whoever holds on is not, and no address is too large or too small for that: by the address
 * that takes most, strangers with one connection each had every busy caller behind one address refused (2026-11-16).
 * Before all others those who take more than anybody needs: of a burst that is read in one go honest ones are the oldest.
 */

/** Whoever takes less counts as much: of tiny ones thousands would have to give way at once. */
const LEAST = 2_048;
/** So many are looked at, at the most, for some that may go. */
const MOST_LOOKED_AT = 512;

export interface RoomRules<One> {
  readonly giveWay: (one: One) => void;
  /** Whoever takes more than this goes first, … */
  readonly much?: number;
  /** … where that is so. */
  readonly mayGoFirst?: (one: One) => boolean;
}

export class Room<One> {
  readonly #most: number;
  readonly #rules: Required<RoomRules<One>>;
  /** In the order in which they began to. */
  readonly #taken = new Map<One, number>();
  /** Of these, who takes much. */
  readonly #large = new Set<One>();
  #sum = 0;
  #isMakingRoom = false;

  constructor(most: number, rules: RoomRules<One>) {
    this.#most = most;
    this.#rules = { much: Number.POSITIVE_INFINITY, mayGoFirst: () => true, ...rules };
  }

  /** It takes so much now. Others may have to give way for that, or it itself. */
  set(one: One, bytes: number): void {
    this.#put(one, bytes);
    this.#makeRoom();
  }

  #put(one: One, bytes: number): void {
    const taken = bytes === 0 ? 0 : Math.max(bytes, LEAST);
    this.#sum += taken - (this.#taken.get(one) ?? 0);
    if (taken === 0) this.#taken.delete(one);
    else this.#taken.set(one, taken);
    if (taken > this.#rules.much) this.#large.add(one);
    else this.#large.delete(one);
  }

  /** Whoever gives way tells that it takes nothing any more, which is no reason to begin anew. */
  #makeRoom(): void {
    if (this.#sum <= this.#most || this.#isMakingRoom) return;
    this.#isMakingRoom = true;
    try {
      this.#makeRoomOf(this.#large, one => this.#goesFirst(one));
      this.#makeRoomOf(this.#taken.keys(), () => true);
    } finally {
      this.#isMakingRoom = false;
    }
  }

  /** Who does not is not asked again before it takes more or less: asking has its price. */
  #goesFirst(one: One): boolean {
    return this.#rules.mayGoFirst(one) || !this.#large.delete(one);
  }

  #makeRoomOf(those: Iterable<One>, mayGo: (one: One) => boolean): void {
    let looked = 0;
    for (const one of those) {
      if (this.#sum <= this.#most || ++looked > MOST_LOOKED_AT) break;
      if (!mayGo(one)) continue;
      this.#put(one, 0);
      this.#rules.giveWay(one);
    }
  }
}
