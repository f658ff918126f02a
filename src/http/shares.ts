/**
 * What connections take of something scarce for those who pay: where all take too much, whoever takes most makes room. By
 * who came first, one key that left 400 large answers unread had those of others reset (2026-11-17).
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
}

export class Shares<One> {
  readonly #most: number;
  readonly #rules: ShareRules<One>;
  readonly #byPayer = new Map<string, Share<One>>();
  #sum = 0;

  constructor(most: number, rules: ShareRules<One>) {
    this.#most = most;
    this.#rules = rules;
  }

  /** It takes so much now, as if it began to at this moment. Others may have to give way for that, or it itself. */
  set(payer: string, one: One, bytes: number): void {
    this.#put(payer, one, bytes);
    while (this.#sum > this.#most) {
      const largest = this.#largest()!;
      const goes = this.#oldestOf(largest);
      this.#put(largest, goes, 0);
      this.#rules.giveWay(goes);
    }
  }

  #put(payer: string, one: One, bytes: number): void {
    const share = this.#byPayer.get(payer) ?? { taken: new Map(), sum: 0 };
    const more = bytes - (share.taken.get(one) ?? 0);
    share.taken.delete(one);
    if (bytes > 0) share.taken.set(one, bytes);
    share.sum += more;
    this.#sum += more;
    if (share.taken.size > 0) this.#byPayer.set(payer, share);
    else this.#byPayer.delete(payer);
  }

  #oldestOf(payer: string): One {
    const { taken } = this.#byPayer.get(payer)!;
    const [first] = taken.keys();
    return taken.keys().find(this.#rules.mayGo) ?? first!;
  }

  #largest(): string | undefined {
    let [largest, most] = [undefined as string | undefined, 0];
    for (const [payer, { sum }] of this.#byPayer) if (sum > most) [largest, most] = [payer, sum];
    return largest;
  }
}
