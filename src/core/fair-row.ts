/**
 * Who comes next: one at a time of each, few in all, round robin over those who wait, so that nobody's row is before
 * another's. Who takes little does not wait for those who take much.
 */

/** To be called when it is done, or does not want to any more; again does nothing. */
export type Leave = () => void;

/** Those who take so much at the most have a part of it all that who takes more cannot have. */
export interface Size {
  readonly upTo: number;
  readonly keeps: number;
}

interface Waiter {
  readonly takes: number;
  readonly size: number;
  readonly begin: () => void;
}

interface Row {
  /** Round robin over where they come from, too. */
  readonly waiting: Map<string, Waiter[]>;
  isBusy: boolean;
}

export class FairRow {
  readonly #most: number;
  readonly #sizes: readonly Size[];
  /** In the order of their turns. */
  readonly #rows = new Map<string, Row>();
  /** By size; the last is of those who take more than all others. */
  readonly #taken: number[];
  #isGoingOn = false;
  /** Somebody came or left meanwhile. */
  #isChanged = false;

  /** All who are at it take so much together, or one of each size more. */
  constructor(most: number, sizes: readonly Size[] = []) {
    this.#most = most;
    this.#sizes = sizes;
    this.#taken = Array(sizes.length + 1).fill(0);
  }

  /** Begins at once, or when it is its turn. */
  take(by: string, takes: number, begin: (leave: Leave) => void, from = ''): Leave {
    const row = this.#rows.get(by) ?? { waiting: new Map<string, Waiter[]>(), isBusy: false };
    const size = this.#sizes.findIndex(({ upTo }) => takes <= upTo);
    let leaveNow: Leave = () => this.#withdraw(by, row, from, waiter);
    const leave = () => {
      const now = leaveNow;
      leaveNow = () => {};
      now();
    };
    const waiter: Waiter = {
      takes,
      size: size < 0 ? this.#sizes.length : size,
      begin: () => {
        leaveNow = () => this.#done(by, row, waiter);
        begin(leave);
      },
    };
    this.#rows.set(by, row);
    const fromThere = row.waiting.get(from);
    if (fromThere) fromThere.push(waiter);
    else row.waiting.set(from, [waiter]);
    this.#goOn();
    return leave;
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
    const isHeld = this.#taken.map(() => false);
    for (const [by, row] of this.#rows) {
      const [from, [next] = []] = firstOf(row.waiting);
      if (row.isBusy || !next) continue;
      // Nobody of the same size overtakes: who takes little would keep who takes much waiting for ever.
      if (isHeld[next.size] || !this.#hasRoom(next, isHeld)) {
        isHeld[next.size] = true;
        if (isHeld.every(held => held)) return;
        continue;
      }
      this.#rows.delete(by);
      this.#rows.set(by, row);
      takeOut(row.waiting, from!, next);
      row.isBusy = true;
      this.#taken[next.size]! += next.takes;
      next.begin();
    }
  }

  #hasRoom({ takes, size }: Waiter, isHeld: readonly boolean[]): boolean {
    const own = this.#taken[size]!;
    const most = this.#most;
    if (own === 0) return true;
    const keptFromIt = sum(this.#sizes.slice(0, size).map(({ keeps }) => keeps));
    if (sum(this.#taken) + takes > most) return false;
    if (sum(this.#taken.slice(size)) + takes > most * (1 - keptFromIt)) return false;
    // What somebody larger waits for is not taken away bit by bit.
    return !isHeld.includes(true, size) || own + takes <= most * (this.#sizes[size]?.keeps ?? 1);
  }

  #done(by: string, row: Row, { takes, size }: Waiter): void {
    row.isBusy = false;
    this.#taken[size]! -= takes;
    this.#left(by, row);
  }

  #withdraw(by: string, row: Row, from: string, waiter: Waiter): void {
    takeOut(row.waiting, from, waiter);
    this.#left(by, row);
  }

  #left(by: string, row: Row): void {
    if (row.waiting.size === 0 && !row.isBusy) this.#rows.delete(by);
    this.#goOn();
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

function firstOf<T>(those: Map<string, T>): [string, T] | [] {
  return those.entries().next().value ?? [];
}

/** Others from elsewhere come before the next from there. */
function takeOut(waiting: Map<string, Waiter[]>, from: string, waiter: Waiter): void {
  const left = waiting.get(from)!;
  left.splice(left.indexOf(waiter), 1);
  waiting.delete(from);
  if (left.length > 0) waiting.set(from, left);
}
