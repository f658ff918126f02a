/** Who comes next: one at a time of each, few in all, round robin over those who wait, so that nobody's row is before another's. */

/** To be called when it is done; again does nothing. */
export type Leave = () => void;

interface Waiter {
  readonly takes: number;
  readonly begin: (leave: Leave) => void;
}

interface Row {
  readonly waiting: Waiter[];
  isBusy: boolean;
}

export class FairRow {
  readonly #most: number;
  /** In the order of their turns. */
  readonly #rows = new Map<string, Row>();
  #taken = 0;
  #isGoingOn = false;
  /** Somebody came or left meanwhile. */
  #isChanged = false;

  /** All who are at it take so much together, or one of them more. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Begins at once, or when it is its turn. */
  take(by: string, takes: number, begin: Waiter['begin']): void {
    const row = this.#rows.get(by) ?? { waiting: [], isBusy: false };
    this.#rows.set(by, row);
    row.waiting.push({ takes, begin });
    this.#goOn();
  }

  /** In a loop: thousands who leave as soon as they begin, as when a service ends, would be as many calls in each other. */
  #goOn(): void {
    this.#isChanged = true;
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    try {
      while (this.#isChanged) this.#beginAll();
    } finally {
      this.#isGoingOn = false;
    }
  }

  #beginAll(): void {
    this.#isChanged = false;
    for (const [by, row] of this.#rows) {
      const [next] = row.waiting;
      if (row.isBusy || !next) continue;
      // Nobody overtakes: who takes little would keep who takes much waiting for ever.
      if (this.#taken > 0 && this.#taken + next.takes > this.#most) return;
      this.#rows.delete(by);
      this.#rows.set(by, row);
      this.#begin(by, row);
    }
  }

  #begin(by: string, row: Row): void {
    const { takes, begin } = row.waiting.shift()!;
    let isDone = false;
    row.isBusy = true;
    this.#taken += takes;
    begin(() => {
      if (isDone) return;
      isDone = true;
      row.isBusy = false;
      this.#taken -= takes;
      if (row.waiting.length === 0) this.#rows.delete(by);
      this.#goOn();
    });
  }
}
