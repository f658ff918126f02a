/**
 * Who is served when not all can be. Connections whose bytes wait to be read are queued by caller: its key where that is
 * known from before, else its address. Each turn of the event loop serves for a few milliseconds, callers in turn, so
 * that nobody waits for somebody else's queue. Who keeps waiting too long takes more than there is, and is shed:
 * before anything is parsed, let alone counted.
 */

/** A connection with bytes to be read. */
export interface Job {
  /** Whose turn it takes. */
  caller(): string;
  /** Reads and answers until the moment given at the latest; gives the price of what it did. */
  work(until: number): number;
  /** Refuses one request with 503. True where it is to be left unread for a while. */
  shed(): boolean;
  /** After so long without being read, it may be read again. */
  rested(): void;
}

/** One turn of the event loop spends so long on requests, and a quarter more on refusing others. */
const TURN_MS = 5;
const SHED_MS = 1.25;
/** What a caller may use in one go before the next one's turn, in microseconds. */
const QUANTUM = 500;
/** A caller whose requests wait longer than this … */
const TARGET_MS = 50;
/** … for so long (CoDel, RFC 8289: a burst drains by itself, a standing queue does not) gets 503 for those that do. */
const STANDING_MS = 500;
/** Nobody is kept waiting longer, burst or not. */
const MOST_WAIT_MS = 700;
/** A connection that was refused is left unread for so long: `Retry-After` asked for more. */
const REST_MS = 700;
/**
 * libuv accepts one connection in a turn of the loop, so while new ones come, turns are kept short: nothing is served,
 * for so long at the most. Otherwise 1,000 connections had to wait for four seconds (2026-11-15).
 */
const ACCEPT_MS = 5;
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

interface Account {
  readonly queue: Queue<Waiting>;
  /** What is left of its turn, in microseconds. */
  credit: number;
  /** Since when its requests wait longer than they should; 0 while they do not. */
  lateSince: number;
}

export interface Fairness {
  /** It has bytes: they are read at once where nobody waits. False where it has to wait. */
  arrive(job: Job): boolean;
  /** A connection was taken. */
  accepted(): void;
  readonly waiting: () => number;
  close(): void;
}

/** `isFull`: the store has as many calls as it can take. */
export function createFairness(isFull: () => boolean): Fairness {
  const accounts = new Map<string, Account>();
  const late = new Queue<Waiting>();
  const resting = new Queue<{ readonly job: Job; readonly until: number }>();
  let waiting = 0;
  /** When this turn of the event loop has served long enough; 0 before its first request. */
  let turnEnds = 0;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;

  /** A connection came in this turn, or in the one before: there may be more behind it. */
  let isAccepting = false;
  let hasAccepted = false;
  let acceptUntil = 0;

  /** Behind the poll phase: everything that the kernel had ready has arrived by then. */
  function nextTurn(): void {
    immediate ??= setImmediate(() => {
      immediate = undefined;
      turnEnds = 0;
      isAccepting = hasAccepted;
      hasAccepted = false;
      if (isAccepting && performance.now() < acceptUntil) return nextTurn();
      if (waiting > 0) serve();
    });
  }

  function wait(job: Job): void {
    const name = job.caller();
    let account = accounts.get(name);
    if (!account) {
      account = { queue: new Queue(), credit: 0, lateSince: 0 };
      accounts.set(name, account);
    }
    account.queue.push({ job, since: performance.now() });
    waiting++;
  }

  function serve(): void {
    turnEnds = performance.now() + TURN_MS;
    for (const [name, account] of accounts) {
      if (isFull() || performance.now() >= turnEnds) break;
      takeTurn(account);
      // Who still waits goes to the end of the row, and this loop comes by again; who does not is forgotten.
      accounts.delete(name);
      if (account.queue.size > 0) accounts.set(name, account);
    }
    if (isFull()) for (const account of accounts.values()) setLateAside(account, performance.now());
    refuseLate();
    acceptUntil = performance.now() + ACCEPT_MS;
    if (waiting > 0 && isFull()) timer ??= setTimeout(look, FULL_MS);
    else nextTurn();
  }

  function takeTurn(account: Account): void {
    account.credit = Math.min(QUANTUM, account.credit + QUANTUM);
    while (account.credit > 0) {
      const now = performance.now();
      setLateAside(account, now);
      const next = account.queue.shift();
      if (!next) return;
      waiting--;
      if (now - next.since < TARGET_MS) account.lateSince = 0;
      account.credit -= next.job.work(turnEnds);
      if (performance.now() >= turnEnds || isFull()) return;
    }
  }

  /** Those that have waited too long make room for those that have not: else everybody would be answered too late. */
  function setLateAside(account: Account, now: number): void {
    const { queue } = account;
    for (let first = queue.first; first; first = queue.first) {
      const waited = now - first.since;
      if (waited < TARGET_MS) return;
      if (account.lateSince === 0) account.lateSince = now;
      if (now - account.lateSince < STANDING_MS && waited < MOST_WAIT_MS) return;
      late.push(queue.shift()!);
    }
  }

  function refuseLate(): void {
    const until = performance.now() + SHED_MS;
    while (late.size > 0 && performance.now() < until) {
      const { job } = late.shift()!;
      waiting--;
      if (job.shed()) resting.push({ job, until: performance.now() + REST_MS });
    }
    if (resting.size > 0) timer ??= setTimeout(look, REST_MS / 10);
  }

  function look(): void {
    timer = undefined;
    const now = performance.now();
    while (resting.first && resting.first.until <= now) resting.shift()!.job.rested();
    if (resting.size > 0) timer = setTimeout(look, REST_MS / 10);
    if (waiting > 0) nextTurn();
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
      if (isFull()) timer ??= setTimeout(look, FULL_MS);
      else nextTurn();
      return false;
    },
    accepted() {
      if (!isAccepting && waiting === 0) acceptUntil = performance.now() + ACCEPT_MS;
      isAccepting = true;
      hasAccepted = true;
      nextTurn();
    },
    waiting: () => waiting,
    close() {
      clearTimeout(timer);
      clearImmediate(immediate);
    },
  };
}
