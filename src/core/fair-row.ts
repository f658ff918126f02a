/**
 * Who comes next: one at a time of each, few in all, round robin over those who wait, so that nobody's row is before
 * another's. Who takes little does not wait for those who take much, and nobody for one that only waits itself.
 */

/** To be called when it is done, or does not want to any more; again does nothing. */
export type Leave = () => void;

/** It only waits from here on: it keeps what it takes, and the next of its name may begin. */
export type Rest = () => void;

type Begin = (leave: Leave, rest: Rest) => void;

/** Of it all, for those of one name and size that rest: whoever has more of them waits for the first to be done. */
const RESTING_SHARE = 1 / 16;

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
  /** Who is at work. */
  busy: Waiter | undefined;
  /** What those take that rest, by size. */
  readonly resting: number[];
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
  take(by: string, takes: number, begin: Begin, from = ''): Leave {
    const row = this.#rows.get(by) ?? this.#newRow();
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
        begin(leave, () => this.#rest(row, waiter));
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
      const [from, next] = row.busy ? [] : this.#nextOf(row);
      if (!next) continue;
      // Nobody of the same size overtakes: who takes little would keep who takes much waiting for ever.
      if (isHeld[next.size] || !this.#hasRoom(next, isHeld)) {
        isHeld[next.size] = true;
        if (isHeld.every(held => held)) return;
        continue;
      }
      this.#rows.delete(by);
      this.#rows.set(by, row);
      takeOut(row.waiting, from!, next);
      row.busy = next;
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

  #newRow(): Row {
    return { waiting: new Map(), busy: undefined, resting: this.#taken.map(() => 0) };
  }

  /** The first that need not wait for what others of its name and size take. */
  #nextOf({ waiting, resting }: Row): [string, Waiter] | [] {
    const fits = ({ takes, size }: Waiter) =>
      resting[size] === 0 || resting[size]! + takes <= this.#most * RESTING_SHARE;
    for (const [from, waiters] of waiting) {
      const next = waiters.find(fits);
      if (next) return [from, next];
    }
    return [];
  }

  #rest(row: Row, waiter: Waiter): void {
    if (row.busy !== waiter) return;
    row.busy = undefined;
    row.resting[waiter.size]! += waiter.takes;
    this.#goOn();
  }

  #done(by: string, row: Row, waiter: Waiter): void {
    const { takes, size } = waiter;
    if (row.busy === waiter) row.busy = undefined;
    else row.resting[size]! -= takes;
    this.#taken[size]! -= takes;
    this.#left(by, row);
  }

  #withdraw(by: string, row: Row, from: string, waiter: Waiter): void {
    takeOut(row.waiting, from, waiter);
    this.#left(by, row);
  }

  #left(by: string, row: Row): void {
    if (row.waiting.size === 0 && !row.busy && sum(row.resting) === 0) this.#rows.delete(by);
    this.#goOn();
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** Others from elsewhere come before the next from there. */
function takeOut(waiting: Map<string, Waiter[]>, from: string, waiter: Waiter): void {
  const left = waiting.get(from)!;
  left.splice(left.indexOf(waiter), 1);
  waiting.delete(from);
  if (left.length > 0) waiting.set(from, left);
}
