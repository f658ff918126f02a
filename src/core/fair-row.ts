/** A few at a time: round robin over those who wait, so that nobody's row is before another's. */

/** To be called once, when it is done. */
export type Leave = () => void;
type Begin = (leave: Leave) => void;

interface Row {
  readonly waiting: Begin[];
  taken: number;
}

export class FairRow {
  readonly #most: number;
  readonly #mostOfOne: number;
  /** In the order of their turns. */
  readonly #rows = new Map<string, Row>();
  #taken = 0;

  /** So many at a time, and of these so many of one. */
  constructor(most: number, mostOfOne: number) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  /** Begins at once, or when it is its turn. */
  take(by: string, begin: Begin): void {
    const row = this.#rows.get(by) ?? { waiting: [], taken: 0 };
    this.#rows.set(by, row);
    row.waiting.push(begin);
    this.#goOn();
  }

  /** All who wait begin, whatever there is room for: to be told that they need not wait any more. */
  flush(): void {
    for (const [by, row] of this.#rows) while (row.waiting.length > 0) this.#begin(by, row);
  }

  #goOn(): void {
    for (const [by, row] of this.#rows) {
      if (this.#taken >= this.#most) return;
      if (row.waiting.length === 0 || row.taken >= this.#mostOfOne) continue;
      this.#rows.delete(by);
      this.#rows.set(by, row);
      this.#begin(by, row);
    }
  }

  #begin(by: string, row: Row): void {
    row.taken++;
    this.#taken++;
    row.waiting.shift()!(() => {
      row.taken--;
      this.#taken--;
      if (row.taken === 0 && row.waiting.length === 0) this.#rows.delete(by);
      this.#goOn();
    });
  }
}
