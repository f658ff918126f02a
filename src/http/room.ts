/**
 * What connections take of something scarce: where all take too much, whoever has taken some for longest gives way. Honest
 * peers are done in a moment, whoever holds on is not, and no address is too large or too small for that: by the address
 * that takes most, strangers with one connection each had every busy caller behind one address refused (2026-11-16).
 */

/** Whoever takes less counts as much: of tiny ones thousands would have to give way at once. */
const LEAST = 2_048;
/** So many are looked at, at the most, for some that may go. */
const MOST_LOOKED_AT = 512;

export class Room<One> {
  readonly #most: number;
  readonly #mayGo: (one: One) => boolean;
  readonly #giveWay: (one: One) => void;
  /** In the order in which they began to. */
  readonly #taken = new Map<One, number>();
  #sum = 0;
  #isMakingRoom = false;

  constructor(
    most: number,
    { mayGo = () => true, giveWay }: { mayGo?: (one: One) => boolean; giveWay: (one: One) => void },
  ) {
    this.#most = most;
    this.#mayGo = mayGo;
    this.#giveWay = giveWay;
  }

  /** It takes so much now. Others may have to give way for that, or it itself. */
  set(one: One, bytes: number): void {
    this.#put(one, bytes);
    this.#makeRoom();
  }

  /** The same, as if it began to at this moment. */
  renew(one: One, bytes: number): void {
    this.#put(one, 0);
    this.set(one, bytes);
  }

  #put(one: One, bytes: number): void {
    const taken = bytes === 0 ? 0 : Math.max(bytes, LEAST);
    this.#sum += taken - (this.#taken.get(one) ?? 0);
    if (taken === 0) this.#taken.delete(one);
    else this.#taken.set(one, taken);
  }

  /** Whoever gives way tells that it takes nothing any more, which is no reason to begin anew. */
  #makeRoom(): void {
    if (this.#sum <= this.#most || this.#isMakingRoom) return;
    this.#isMakingRoom = true;
    let looked = 0;
    try {
      for (const one of this.#taken.keys()) {
        if (this.#sum <= this.#most || ++looked > MOST_LOOKED_AT) break;
        if (!this.#mayGo(one)) continue;
        this.#put(one, 0);
        this.#giveWay(one);
      }
    } finally {
      this.#isMakingRoom = false;
    }
  }
}
