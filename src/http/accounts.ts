/** Callers who have to wait: each has its own queue (fair queuing), and knows when it asks for more than there is. */

import { Queue, SharedQueue } from './queue.ts';

export interface Caller {
  readonly name: string;
  /** Whoever brings a key that may be one, and is new here, claims to be no stranger: it is looked up before they are served. */
  readonly kind: 'key' | 'claim' | 'stranger' | 'probe';
  /** Where many send one key, who of them: they share its turns. */
  readonly within?: string | undefined;
}

/** In the row that the door has named: of a key, and where many send it, of whom. */
export function keyIn(row: string): Caller {
  const at = row.indexOf(' ');
  if (at === -1) return { name: row, kind: 'key' };
  return { name: row.slice(0, at), kind: 'key', within: row.slice(at + 1) };
}

/** A connection with bytes to be read. */
export interface Job {
  /** Whose turn it takes: that of a key that is known, of a stranger, or of whoever watches the service. */
  caller(): Caller;
  /**
   * Reads and answers until the moment given, and one request at the least: behind a probe no more than that, since pages
   * that are pipelined there take the turn of a stranger. Gives the price of what it did.
   */
  work(until: number): number;
  /** Refuses one request with 503. */
  shed(): void;
  /** Others wait behind it for what it carries (head-of-line blocking): it is refused at once where it would be later. */
  readonly isProxy: boolean;
  /** As it waits in a row: made the first time. */
  waiting?: Waiting;
}

/** What the store has taken on. */
export interface Load {
  /** As many calls as it can take. */
  isFull(): boolean;
  /**
   * So many calls of this key, or of any, that were counted and have yet to be answered that it gets no turn before they are:
   * 2,500 of one were let in for what counting them costs, and others waited a second for their answers (2026-11-19).
   */
  isBehind(key?: string): boolean;
}

/** A caller whose requests would wait longer than this … */
const TARGET_MS = 30;
/** … for so long (after CoDel, RFC 8289: a burst drains by itself, a standing queue does not) asks for too much. */
const STANDING_MS = 800;
/** Not where they are few: on a slow machine everybody waits, and refusing some would make nobody faster. */
export const FEW = 64;
/** It is trusted again after so long without. */
const CALM_MS = 1_000;
/** Of many, none is kept waiting longer, burst or not. */
export const MOST_WAIT_MS = 900;
/** As many as are refused in any case; more only so that none waits longer. Each refusal costs somebody an answer. */
const REFUSED_PER_MS = 1.2;

/**
 * Of so many waiting, those that were served last come first (adaptive LIFO), until the oldest has waited for long: what they
 * need is still in the processor's caches. A call over 1,000 connections takes 1.37 times the processor cycles of one over
 * 256 so, and 1.44 in the order of their coming (means of paired rounds, 2026-11-19).
 */
const MANY = 512;
const LONG_MS = 250;

/** Whoever comes back sooner asks again and again. */
const RARE_MS = 100;

export interface Waiting {
  readonly job: Job;
  since: number;
  within?: string | undefined;
}

/** The same one each time: of its own for each wait the garbage collector had 6,000 to carry (2026-11-18). */
export function waitingOf(job: Job, since: number, within?: string): Waiting {
  job.waiting ??= { job, since, within };
  job.waiting.since = since;
  job.waiting.within = within;
  return job.waiting;
}

export class Account {
  readonly name: string;
  readonly kind: Caller['kind'];
  readonly queue: Queue<Waiting> | SharedQueue<Waiting>;
  /** What is left of its turn, in microseconds: the deficit of a deficit round robin. */
  credit = 0;
  /** Milliseconds from one of its requests to the next, while it waits. */
  #pace = 0;
  #servedAt = 0;
  /** When it was last served, and when it last asked. */
  #lastAt = 0;
  #askedAt = 0;
  /** Since when, and when last, a request would have had to wait too long. */
  #lateSince = 0;
  #lateAt = 0;
  /** When some were last refused, and how many more are due. */
  #refusedAt = 0;
  #due = 0;

  constructor({ name, kind, within }: Caller) {
    this.name = name;
    this.kind = kind;
    this.queue = within === undefined ? new Queue() : new SharedQueue(({ within: who = '' }) => who);
  }

  /** Probes are all alike: one that took long, with a connection of its own, does not have the next wait for a round. */
  pay(price: number, spent: number): void {
    this.credit -= this.kind === 'probe' ? price : Math.max(price, spent);
  }

  served(now: number): void {
    if (this.#servedAt > 0) this.#pace += (now - this.#servedAt - this.#pace) / 16;
    this.#servedAt = this.queue.size > 0 ? now : 0;
    this.#lastAt = now;
  }

  /** The one to be served now. */
  next(now: number, isGreedy: boolean): Waiting | undefined {
    const { queue } = this;
    const isNewest = isGreedy || (queue.size >= MANY && now - queue.first!.since < LONG_MS);
    return isNewest ? queue.pop() : queue.next();
  }

  /**
   * It asks, and not again at once: neither behind an answer nor behind its last request. Whether that one still waits is
   * no sign of it: a probe that had to wait once made its sender one who asks all the time (2026-11-18).
   */
  asksRarely(now: number): boolean {
    const isRare = now - Math.max(this.#lastAt, this.#askedAt) > RARE_MS;
    this.#askedAt = now;
    return isRare;
  }

  /**
   * Whether it asks for more than there is. Its newest are served first then (adaptive LIFO: the oldest have waited for
   * nothing, and whoever sent them may be gone), and the oldest are refused, no faster than they must be.
   */
  isTooMuch(now: number): boolean {
    if (this.queue.size < FEW) return false;
    const wait = this.queue.size * this.#pace;
    // After a while without, what comes is a burst again.
    if (now - this.#lateAt > CALM_MS) this.#lateSince = 0;
    if (wait > TARGET_MS) {
      if (this.#lateSince === 0) this.#lateSince = now;
      this.#lateAt = now;
    }
    const isStanding = this.#lateSince > 0 && now - this.#lateSince > STANDING_MS;
    return wait > (isStanding ? TARGET_MS : MOST_WAIT_MS);
  }

  /** Takes out the oldest, as many as are to be refused by now. */
  refuseOldest(now: number, refuse: (job: Job) => void): void {
    const { queue } = this;
    const perMs = Math.max(REFUSED_PER_MS, queue.size / MOST_WAIT_MS);
    // Who comes back to this after a while owes nothing for the time between.
    this.#due = Math.min(FEW, this.#due + (now - this.#refusedAt) * perMs);
    this.#refusedAt = now;
    while (queue.size >= FEW && (this.#due >= 1 || now - queue.first!.since > MOST_WAIT_MS)) {
      this.#due = Math.max(0, this.#due - 1);
      refuse(queue.shift()!.job);
    }
  }

  /** It needs not be remembered. */
  isCalm(now: number): boolean {
    return this.queue.size === 0 && now - this.#lateAt > CALM_MS;
  }
}

/**
 * Those who wait, in the order of their turns: first who has just come, then who has had a turn already (after
 * FQ-CoDel, RFC 8290). So one request now and then never waits for the queues of many.
 */
export class Side {
  readonly fresh = new Set<Account>();
  readonly row = new Set<Account>();
  /**
   * Milliseconds that its answers of this turn will still take when it is over. In one for all sides, dear requests of one
   * left nothing of the turn to those that come after it: strangers waited for seconds (2026-11-18).
   */
  owed = 0;

  get isWaiting(): boolean {
    return this.fresh.size + this.row.size > 0;
  }

  /** Its next request is about to wait. */
  join(account: Account, now: number): void {
    // Who watches asks now and then. In one row with thousands who ask again and again it would wait for seconds.
    if (account.kind === 'probe' && account.asksRarely(now)) this.row.delete(account);
    if (!this.row.has(account)) this.fresh.add(account);
  }
}

/** All who wait, by what is known of them. */
export class Sides {
  readonly key = new Side();
  readonly claim = new Side();
  readonly stranger = new Side();
  readonly probe = new Side();

  /** Another turn begins. */
  oweNothing(): void {
    for (const side of [this.key, this.claim, this.stranger, this.probe]) side.owed = 0;
  }
}

/** Who asked for too much is remembered for a while; when they are so many, those are looked for who did long ago. */
const MOST_ACCOUNTS = 1_000;
const FORGET_MS = 100;

export class Accounts {
  readonly #all = new Map<string, Account>();
  #forgetAt = 0;

  of(caller: Caller, now: number): Account {
    let account = this.#all.get(caller.name);
    if (!account) {
      if (this.#all.size >= MOST_ACCOUNTS && now > this.#forgetAt) this.#forgetCalm(now);
      account = new Account(caller);
      this.#all.set(caller.name, account);
    }
    return account;
  }

  /** Not somebody who came anew under the same name meanwhile. */
  forget(account: Account, now: number): void {
    if (account.isCalm(now) && this.#all.get(account.name) === account) this.#all.delete(account.name);
  }

  #forgetCalm(now: number): void {
    this.#forgetAt = now + FORGET_MS;
    for (const account of this.#all.values()) this.forget(account, now);
  }
}
