/**
 * What all connections together take of something scarce, by the network of the peer: where it is too much, the network
 * that takes most gives way. Whoever comes last, or happens to take some, must not pay for what a stranger holds.
 */

/** A connection. */
export interface Sharer {
  readonly network: string;
  /** Requests that have no answer yet. */
  readonly open: number;
}

interface Share<One> {
  bytes: number;
  /** In the order in which they took some last. */
  readonly ones: Map<One, number>;
}

export class Shares<One extends Sharer> {
  readonly #most: number;
  readonly #giveWay: (one: One) => void;
  readonly #byNetwork = new Map<string, Share<One>>();
  #bytes = 0;

  constructor(most: number, giveWay: (one: One) => void) {
    this.#most = most;
    this.#giveWay = giveWay;
  }

  /** So much it takes now. Others may have to give way for that, or it itself. */
  set(one: One, bytes: number): void {
    this.#put(one, bytes);
    while (this.#bytes > this.#most) {
      const first = this.#firstOfMost();
      this.#put(first, 0);
      this.#giveWay(first);
    }
  }

  #put(one: One, bytes: number): void {
    const share = this.#byNetwork.get(one.network) ?? { bytes: 0, ones: new Map<One, number>() };
    const more = bytes - (share.ones.get(one) ?? 0);
    share.ones.delete(one);
    if (bytes > 0) share.ones.set(one, bytes);
    share.bytes += more;
    this.#bytes += more;
    if (share.ones.size > 0) this.#byNetwork.set(one.network, share);
    else this.#byNetwork.delete(one.network);
  }

  /** Of the network with most: the first that waits for no answer, where there is one. */
  #firstOfMost(): One {
    let most: Share<One> | undefined;
    for (const share of this.#byNetwork.values()) if (!most || share.bytes > most.bytes) most = share;
    const ones = [...most!.ones.keys()];
    return ones.find(one => one.open === 0) ?? ones[0]!;
  }
}
