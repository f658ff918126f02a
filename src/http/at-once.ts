/** How many calls of a kind one caller may have under way. */

export class AtOnce {
  readonly #most: number;
  readonly #byCaller = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Undefined where there are as many already; else what to call when one is done. */
  enter(caller: string): (() => void) | undefined {
    const count = this.#byCaller.get(caller) ?? 0;
    if (count >= this.#most) return undefined;
    this.#byCaller.set(caller, count + 1);
    return () => {
      const left = this.#byCaller.get(caller)! - 1;
      if (left > 0) this.#byCaller.set(caller, left);
      else this.#byCaller.delete(caller);
    };
  }
}
