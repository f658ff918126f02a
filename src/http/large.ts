/**
 * Answers that may not have been read. The kernel takes them and keeps them until their peer has: 160 KB each, 0.8 GB for
 * 5,000 peers who read nothing (2026-11-15), and many small ones are as good as a large one. So few connections of one
 * address get large answers, each of them a few, and none idles for long behind one.
 */

export const LARGE_BYTES = 32 * 1024;
/** What an answer has beside its body. */
const HEAD_BYTES = 512;
const MOST_PER_ADDRESS = 64;
/** Of one connection: whoever wants more comes again, and is known to have read these. */
const MOST_LARGE = 8;
/** Behind a large answer a connection is kept for so long: whoever reads at 10 KB/s or more gets all of it. */
export const LARGE_IDLE_MS = 15_000;

export class LargeAnswers {
  readonly #byNetwork = new Map<string, number>();

  /** For one connection. False where there are enough, but not for what a key has paid for. */
  take(network: string, isLimited: boolean): boolean {
    const count = this.#byNetwork.get(network) ?? 0;
    if (isLimited && count >= MOST_PER_ADDRESS) return false;
    this.#byNetwork.set(network, count + 1);
    return true;
  }

  /** That connection is gone. */
  give(network: string): void {
    const count = this.#byNetwork.get(network) ?? 0;
    if (count > 1) this.#byNetwork.set(network, count - 1);
    else this.#byNetwork.delete(network);
  }
}

/** What went out over one connection, as far as nobody knows that it was read. */
export class Unread {
  readonly #all: LargeAnswers;
  readonly #network: string;
  #small = 0;
  #large = 0;
  /** It has had what one connection gets: the next answer is its last. */
  isSpent = false;

  constructor(all: LargeAnswers, network: string) {
    this.#all = all;
    this.#network = network;
  }

  /** There was a large answer, or as much in small ones. */
  get isLarge(): boolean {
    return this.#large > 0 || this.isSpent;
  }

  /** A body of so many bytes. False where it is large, and whoever asks has too many of those. */
  sends(body: number, isPaid: boolean): boolean {
    if (isPaid && body <= LARGE_BYTES) return true;
    const small = this.#small + body + HEAD_BYTES;
    if (body <= LARGE_BYTES && small <= LARGE_BYTES) {
      this.#small = small;
      return true;
    }
    const hasPlace = this.#large > 0 || this.#all.take(this.#network, !isPaid);
    if (hasPlace) {
      this.#small = 0;
      this.#large++;
    }
    this.isSpent ||= hasPlace ? this.#large >= MOST_LARGE : body <= LARGE_BYTES;
    return hasPlace || body <= LARGE_BYTES;
  }

  closed(): void {
    if (this.#large > 0) this.#all.give(this.#network);
  }
}
