/**
 * Who is served when not all can be. Connections whose bytes wait to be read are queued by caller: its key where that is
 * known from before, else its address. Each turn of the event loop serves for a few milliseconds, callers in turn, so
 * that nobody waits for somebody else's queue. Who would have to wait too long takes more than there is, and is shed:
 * before anything is parsed, let alone counted.
 */

export interface Caller {
  readonly name: string;
  readonly isKnown: boolean;
}

/** A connection with bytes to be read. */
export interface Job {
  /** Whose turn it takes, and whether that is a key that is known. */
  caller(): Caller;
  /** Reads and answers until the moment given at the latest; gives the price of what it did. */
  work(until: number): number;
  /** Refuses one request with 503. True where it is to be left unread for a while. */
  shed(): boolean;
  /** After so long without being read, it may be read again. */
  rested(): void;
}

/** One turn of the event loop spends so long on requests, and a quarter more on refusing others. */
const TURN_MS = 10;
const SHED_MS = 2.5;
/** Refusals that have waited for so long take as much time as is served, so that nobody waits for long. */
const LATE_MS = 400;
/** What a caller may use in one go before the next one's turn, in microseconds. */
const QUANTUM = 500;
/** A caller whose requests would wait longer than this … */
const TARGET_MS = 30;
/** … for so long (after CoDel, RFC 8289: a burst drains by itself, a standing queue does not) gets 503 for some. */
const STANDING_MS = 500;
/** Not where they are few: on a slow machine everybody waits, and refusing some would make nobody faster. */
const FEW = 64;
/** It is trusted again after so long without. */
const CALM_MS = 1_000;
/** Nobody is kept waiting longer, burst or not. */
const MOST_WAIT_MS = 700;
/**
 * A connection that was refused is left unread for a while (`Retry-After` asked for more): the longer the more of them
 * there are, so that refusing costs no more than some 1,200 a second where it can, and never all at the same time.
 */
const LEAST_REST_MS = 100;
const MOST_REST_MS = 780;
const REFUSED_PER_MS = 1.2;
const REST_STEP_MS = 20;
/**
 * libuv accepts one connection in a turn of the loop, so while new ones come, turns are kept short: nothing is served
 * in so many of them at the most. Otherwise 1,000 connections had to wait for four seconds (2026-11-15).
 */
const MOST_ACCEPTING = 64;
/** How soon to look again while the store has all that it can take. */
const FULL_MS = 5;

interface Waiting {
  readonly job: Job;
  readonly since: number;
}

/** First in, first out, without moving what is behind. */
class Queue<T> {
  #items: T[] = [];
  #head = 0;

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head++;
    if (this.#head > 1_000 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

class Account {
  readonly isKnown: boolean;
  readonly queue = new Queue<Waiting>();
  /** What is left of its turn, in microseconds. */
  credit = 0;
  /** Milliseconds from one of its requests to the next, while it waits. */
  #pace = 0;
  #servedAt = 0;
  /** Since when, and when last, a request would have had to wait too long. */
  #lateSince = 0;
  #lateAt = 0;

  constructor(isKnown: boolean) {
    this.isKnown = isKnown;
  }

  served(now: number): void {
    if (this.#servedAt > 0) this.#pace += (now - this.#servedAt - this.#pace) / 16;
    this.#servedAt = this.queue.size > 0 ? now : 0;
  }

  /** Whether one more would have to wait too long. */
  isTooLate(now: number): boolean {
    if (this.queue.size < FEW) return false;
    const wait = this.queue.size * this.#pace;
    if (wait > TARGET_MS) {
      if (this.#lateSince === 0) this.#lateSince = now;
      this.#lateAt = now;
    } else if (this.isCalm(now)) {
      this.#lateSince = 0;
    }
    const isStanding = this.#lateSince > 0 && now - this.#lateSince > STANDING_MS;
    return wait > (isStanding ? TARGET_MS : MOST_WAIT_MS);
  }

  isCalm(now: number): boolean {
    return this.queue.size === 0 && now - this.#lateAt > CALM_MS;
  }
}

/**
 * Those who wait, in the order of their turns: first who has just come, then who has had a turn already (after
 * FQ-CoDel, RFC 8290). So one request now and then never waits for the queues of many.
 */
class Side {
  readonly fresh = new Set<Account>();
  readonly row = new Set<Account>();

  get isWaiting(): boolean {
    return this.fresh.size + this.row.size > 0;
  }
}

export interface Fairness {
  /** It has bytes: they are read at once where nobody waits. False where it has to wait. */
  arrive(job: Job): boolean;
  /** A connection was taken. */
  accepted(): void;
  readonly waiting: () => number;
  /** Whoever comes now has to wait. */
  readonly isPressed: () => boolean;
  close(): void;
}

/** `isFull`: the store has as many calls as it can take. */
export function createFairness(isFull: () => boolean): Fairness {
  const accounts = new Map<string, Account>();
  const keys = new Side();
  const strangers = new Side();
  const late = new Queue<Waiting>();
  /** Connections left unread, by when they are read again. */
  const resting: Job[][] = Array.from({ length: MOST_REST_MS / REST_STEP_MS + 2 }, () => []);
  let restedSlot = 0;
  let restingCount = 0;
  let waiting = 0;
  /** When this turn of the event loop has served long enough; 0 before its first request. */
  let turnEnds = 0;
  /** A connection came in this turn, or in the one before: there may be more behind it. */
  let isAccepting = false;
  let hasAccepted = false;
  let acceptingTurns = 0;
  let timer: NodeJS.Timeout | undefined;
  let restTimer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;

  /** Behind the poll phase: everything that the kernel had ready has arrived by then. */
  function nextTurn(): void {
    immediate ??= setImmediate(() => {
      immediate = undefined;
      turnEnds = 0;
      isAccepting = hasAccepted;
      hasAccepted = false;
      if (isAccepting && ++acceptingTurns <= MOST_ACCEPTING) return nextTurn();
      acceptingTurns = 0;
      if (waiting > 0) serve();
    });
  }

  function soon(): void {
    if (isFull()) timer ??= setTimeout(look, FULL_MS);
    else nextTurn();
  }

  function look(): void {
    timer = undefined;
    nextTurn();
  }

  function wait(job: Job): void {
    const { name, isKnown } = job.caller();
    const now = performance.now();
    let account = accounts.get(name);
    if (!account) {
      if (accounts.size >= MOST_ACCOUNTS) forgetCalm(now);
      account = new Account(isKnown);
      accounts.set(name, account);
    }
    waiting++;
    if (account.isTooLate(now)) {
      late.push({ job, since: now });
    } else {
      account.queue.push({ job, since: now });
      const { fresh, row } = sideOf(account);
      if (!row.has(account)) fresh.add(account);
    }
  }

  const sideOf = ({ isKnown }: Account) => (isKnown ? keys : strangers);

  function forgetCalm(now: number): void {
    for (const [name, account] of accounts) if (account.isCalm(now)) accounts.delete(name);
  }

  /** Keys that are known come first, and have half of the time where strangers wait, too. */
  function serve(): void {
    const begin = performance.now();
    turnEnds = begin + TURN_MS;
    serveFrom(keys.fresh, turnEnds);
    serveFrom(keys.row, strangers.isWaiting ? begin + TURN_MS / 2 : turnEnds);
    serveFrom(strangers.fresh, turnEnds);
    serveFrom(strangers.row, turnEnds);
    serveFrom(keys.row, turnEnds);
    if (isFull())
      for (const { fresh, row } of [keys, strangers])
        for (const one of [...fresh, ...row]) setLateAside(one, begin);
    refuseLate();
    if (waiting > 0) soon();
    else nextTurn();
  }

  function serveFrom(those: Set<Account>, until: number): void {
    for (const account of those) {
      if (isFull() || performance.now() >= until) break;
      takeTurn(account);
      // Who still waits goes to the end of the row, and its loop comes by again.
      those.delete(account);
      if (account.queue.size > 0) sideOf(account).row.add(account);
    }
  }

  function takeTurn(account: Account): void {
    account.credit = Math.min(QUANTUM, account.credit + QUANTUM);
    while (account.credit > 0) {
      const now = performance.now();
      setLateAside(account, now);
      const next = account.queue.shift();
      if (!next) return;
      account.served(now);
      waiting--;
      const price = next.job.work(turnEnds);
      const after = performance.now();
      account.credit -= Math.max(price, (after - now) * 1_000);
      if (after >= turnEnds || isFull()) return;
    }
  }

  function setLateAside({ queue }: Account, now: number): void {
    while (queue.first && now - queue.first.since > MOST_WAIT_MS) late.push(queue.shift()!);
  }

  function refuseLate(): void {
    const now = performance.now();
    const isUrgent = now - (late.first?.since ?? now) > LATE_MS;
    const until = now + (isUrgent ? TURN_MS : SHED_MS);
    while (late.size > 0 && performance.now() < until) {
      waiting--;
      const { job, since } = late.shift()!;
      if (job.shed()) rest(job, since);
    }
  }

  function rest(job: Job, since: number): void {
    const now = performance.now();
    const ms = Math.min(MOST_REST_MS, LEAST_REST_MS + restingCount / REFUSED_PER_MS) - (now - since);
    const until = now + Math.max(REST_STEP_MS, ms * (0.95 + Math.random() / 20));
    if (restingCount++ === 0) restedSlot = Math.floor(now / REST_STEP_MS);
    resting[Math.floor(until / REST_STEP_MS) % resting.length]!.push(job);
    restTimer ??= setInterval(wake, REST_STEP_MS);
  }

  /** By the clock, since the timer comes late when there is much to do. */
  function wake(): void {
    const slot = Math.floor(performance.now() / REST_STEP_MS);
    for (let past = 0; restedSlot < slot && past < resting.length; past++) {
      const at = ++restedSlot % resting.length;
      const rested = resting[at]!;
      resting[at] = [];
      restingCount -= rested.length;
      for (const job of rested) job.rested();
    }
    restedSlot = slot;
    if (restingCount > 0) return;
    clearInterval(restTimer);
    restTimer = undefined;
  }

  return {
    arrive(job) {
      if (waiting === 0 && !isAccepting && !isFull()) {
        const now = performance.now();
        if (turnEnds === 0) {
          turnEnds = now + TURN_MS;
          nextTurn();
        }
        if (now < turnEnds) {
          job.work(turnEnds);
          return true;
        }
      }
      wait(job);
      soon();
      return false;
    },
    accepted() {
      isAccepting = true;
      hasAccepted = true;
      nextTurn();
    },
    waiting: () => waiting,
    isPressed: () => waiting > 0 || isFull(),
    close() {
      clearTimeout(timer);
      clearInterval(restTimer);
      clearImmediate(immediate);
    },
  };
}

const MOST_ACCOUNTS = 10_000;
