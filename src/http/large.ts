/**
 * Answers that may not have been read. The kernel takes them and keeps them until their peer has: 160 KB each, 0.8 GB for
 * 5,000 peers who read nothing (2026-11-15), and many small ones are as good as a large one. Only what a key was counted
 * for is not watched. So few connections of one address get large answers, each of them a few, none idles for long behind
 * one, and where all are too much those of the address with most go.
 */

export const LARGE_BYTES = 32 * 1024;
/** What an answer has beside its body. */
const HEAD_BYTES = 512;
const MOST_PER_ADDRESS = 64;
/** Of one connection: whoever wants more comes again, and is known to have read these. */
const MOST_BYTES = 256 * 1024;
/** Of all connections: from 90 addresses strangers had the kernel keep 1.3 GB (2026-11-16). */
const MOST_BYTES_IN_ALL = 64 * 1024 * 1024;
/** Behind a large answer a connection is kept for so long: whoever reads at 10 KB/s or more gets all of it. */
export const LARGE_IDLE_MS = 15_000;

export class LargeAnswers {
  readonly #byNetwork = new Map<string, number>();
  /** Whoever got as much as a large answer, in the order of their last ones. */
  readonly #unread = new Set<Unread>();
  #bytes = 0;

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

  /** It got so many bytes more. */
  add(one: Unread, bytes: number): void {
    this.#bytes += this.#unread.delete(one) ? bytes : one.bytes;
    this.#unread.add(one);
    while (this.#bytes > MOST_BYTES_IN_ALL) {
      const last = this.#lastOfMost();
      this.remove(last);
      last.owner.drop();
    }
  }

  remove(one: Unread): void {
    if (this.#unread.delete(one)) this.#bytes -= one.bytes;
  }

  /** Of the address with most: whose last answer is oldest, if it can be one that waits for no other. */
  #lastOfMost(): Unread {
    const bytes = new Map<string, number>();
    for (const one of this.#unread) bytes.set(one.network, (bytes.get(one.network) ?? 0) + one.bytes);
    const [most] = [...bytes].reduce((first, second) => (second[1] > first[1] ? second : first));
    const those = [...this.#unread].filter(({ network }) => network === most);
    return those.find(({ owner }) => owner.open === 0) ?? those[0]!;
  }
}

/** The connection. */
interface Owner {
  /** Requests that have no answer yet. */
  readonly open: number;
  /** Ends it, and has the kernel forget what it keeps for it. */
  drop(): void;
}

/** What went out over one connection, as far as nobody knows that it was read. */
export class Unread {
  readonly #all: LargeAnswers;
  readonly network: string;
  readonly owner: Owner;
  bytes = 0;
  #hasPlace = false;
  /** It has had what one connection gets: the next answer is its last. */
  isSpent = false;

  constructor(all: LargeAnswers, network: string, owner: Owner) {
    this.#all = all;
    this.network = network;
    this.owner = owner;
  }

  /** There was a large answer, or as much in small ones. */
  get isLarge(): boolean {
    return this.#hasPlace || this.isSpent;
  }

  /** A body of so many bytes. False where it is large, and whoever asks has too many of those. */
  sends(body: number, isPaid: boolean): boolean {
    if (isPaid && body <= LARGE_BYTES) return true;
    const bytes = this.bytes + body + HEAD_BYTES;
    this.#hasPlace ||= bytes > LARGE_BYTES && this.#all.take(this.network, !isPaid);
    const lacksPlace = bytes > LARGE_BYTES && !this.#hasPlace;
    if (lacksPlace && body > LARGE_BYTES) return false;
    this.bytes = bytes;
    if (bytes > LARGE_BYTES) this.#all.add(this, body + HEAD_BYTES);
    this.isSpent ||= lacksPlace || bytes > MOST_BYTES;
    return true;
  }

  closed(): void {
    this.#all.remove(this);
    if (this.#hasPlace) this.#all.give(this.network);
  }
}
