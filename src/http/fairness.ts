/**
 * Who is served when not all can be: admission control and load shedding. Connections with bytes to be read are queued by
 * caller: its key where that is known from before, else its address. Each turn of the event loop serves for milliseconds,
 * callers in turn: nobody waits for another's queue. Who would wait too long is shed, before anything is parsed or counted.
 * There is one for all ports: where one served for 10 ms in each turn, those who came to the other waited 1.5 s (2026-11-18).
 */

import { Accepting } from './accepting.ts';
import type { Account, Job, Load, Side, Waiting } from './accounts.ts';
import { Accounts, FEW, MOST_WAIT_MS, Sides, waitingOf } from './accounts.ts';
import { PRICES } from './prices.ts';
import { Queue } from './queue.ts';

/** One turn of the event loop spends so long on requests, and a quarter more on refusing others. */
const TURN_MS = 10;
const SHED_MS = 2.5;
/** Refusals that are late by so long take as much time as is served. */
const LATE_MS = 40;
/** The kernel may have more for one turn than can be read in this time. */
const LONG_POLL_MS = 20;
/** What a caller may use before the next one's turn, in microseconds: the quantum of a deficit round robin. */
const QUANTUM = 500;
/** How soon to look again while the store has all that it can take, and how long to wait for it: it may be stuck. */
const FULL_MS = 5;
const MOST_FULL_MS = 100;
/** While connections come, one claim to a key in so long: with one in each turn, 0.8 ms, those waited a second (2026-11-18). */
const CLAIM_MS = 3;

export class Fairness {
  readonly #load: Load;
  readonly #accounts = new Accounts();
  readonly #sides = new Sides();
  /** Those who ask for too much. */
  readonly #greedy = new Set<Account>();
  readonly #late = new Queue<Waiting>();
  readonly #accepting = new Accepting();
  /** Connections whose requests wait for their turn. */
  waiting = 0;
  /** How many ports have everybody wait. */
  holds = 0;
  #isServing = false;
  /** When the last turn was over: what has come since was read in one go. */
  #turnedAt = 0;
  /** When this turn of the event loop has served long enough; 0 before its first request. */
  #turnEnds = 0;
  /** Milliseconds that who watches may use of the next short turn, or owes. */
  #forProbes = 0;
  /** When the next of those who claim to have a key may be served in a short turn. */
  #claimsAt = 0;
  /** Milliseconds that what was read at once in this turn will still take when it is over. */
  #owed = 0;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  constructor(load: Load) {
    this.#load = load;
  }

  /** It has bytes: they are read at once where nobody waits. False where it has to wait. */
  arrive(job: Job): boolean {
    if (!this.isPressed && !this.#accepting.isUnderWay && this.holds === 0) {
      const now = performance.now();
      if (this.#turnEnds === 0) {
        this.#turnEnds = now + TURN_MS;
        this.#owed = 0;
        this.#nextTurn();
      }
      if (now + this.#owed < this.#turnEnds) {
        const price = job.work(this.#turnEnds);
        if (price > PRICES.call) this.#owed += Math.max(0, price / 1_000 - (performance.now() - now));
        return true;
      }
    }
    this.#wait(job);
    this.#soon();
    return false;
  }

  /**
   * The kernel has told of one more socket. Where it has told of many in one turn, who watches and known keys that come
   * now and then are not kept waiting for the rest. Nobody else: whoever is served sends again, and the turn never ends.
   */
  polled(): void {
    if (this.waiting === 0 || this.#isServing || this.holds > 0) return;
    if (performance.now() - this.#turnedAt > LONG_POLL_MS) this.#serveNewcomers();
  }

  /** A connection was taken. */
  accepted(): void {
    this.#accepting.came();
    this.#nextTurn();
  }

  /** Whoever comes now has to wait. */
  get isPressed(): boolean {
    return this.waiting > 0 || this.#load.isFull() || this.#load.isBehind();
  }

  close(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }

  /** Behind the poll phase: everything that the kernel had ready has arrived by then. */
  #nextTurn(): void {
    this.#immediate ??= setImmediate(() => {
      this.#immediate = undefined;
      this.#turnEnds = 0;
      if (this.holds > 0) this.#nextTurn();
      else if (this.#accepting.goesOn()) {
        this.#serveNewcomers();
        this.#nextTurn();
      } else if (this.waiting > 0) this.#serve();
    });
  }

  #soon(): void {
    if (!this.#load.isFull()) return this.#nextTurn();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#nextTurn();
    }, FULL_MS);
  }

  #wait(job: Job): void {
    const caller = job.caller();
    const now = performance.now();
    const account = this.#accounts.of(caller, now);
    this.waiting++;
    const isTooMuch = account.isTooMuch(now);
    if (isTooMuch && job.isProxy) return this.#late.push(waitingOf(job, now));
    if (isTooMuch) this.#greedy.add(account);
    this.#sides[account.kind].join(account, now);
    account.queue.push(waitingOf(job, now, caller.within));
  }

  /** Who watches comes first, for a quarter of the time; keys that are known have half of it where others wait, too. */
  #serve(): void {
    const { key, claim, stranger } = this.#sides;
    this.#isServing = true;
    this.#serveProbes();
    const begin = performance.now();
    this.#turnEnds = begin + TURN_MS;
    this.#sides.oweNothing();
    this.#serveFrom(key.fresh, this.#turnEnds);
    const areOthers = claim.isWaiting || stranger.isWaiting;
    this.#serveFrom(key.row, areOthers ? begin + TURN_MS / 2 : this.#turnEnds);
    this.#serveSide(claim, (performance.now() + this.#turnEnds) / 2);
    this.#serveSide(stranger, this.#accepting.endOfStrangers(this.#turnEnds));
    this.#serveFrom(key.row, this.#turnEnds);
    if (this.#load.isFull())
      for (const one of [...key.fresh, ...key.row]) this.#setLateAside(one, begin, MOST_FULL_MS);
    for (const account of this.#greedy) this.#refuseOldest(account);
    this.#refuseLate();
    this.#isServing = false;
    this.#turnedAt = performance.now();
    this.#soon();
  }

  /** Of all the time, reading included: where thousands send, that takes most of it. */
  #serveProbes(): void {
    const begin = performance.now();
    this.#turnEnds = begin + Math.min(Math.max(TURN_MS, begin - this.#turnedAt), 10 * TURN_MS) / 4;
    this.#sides.oweNothing();
    this.#serveSide(this.#sides.probe, this.#turnEnds);
  }

  /** Newcomers who never end must not starve those who wait: the row of probes grew without end (2026-11-18). */
  #serveSide({ fresh, row }: Side, until: number): void {
    this.#serveFrom(fresh, (performance.now() + until) / 2);
    this.#serveFrom(row, until);
    this.#serveFrom(fresh, until);
  }

  /** Who watches, for a quarter again, and known keys that come now and then: few, or soon no newcomers any more. */
  #serveNewcomers(): void {
    const { probe, key, claim } = this.#sides;
    this.#isServing = true;
    this.#sides.oweNothing();
    const begin = performance.now();
    // With a millisecond in each turn strangers who ask for probes had new connections wait for seconds (2026-11-18).
    this.#forProbes = Math.min(this.#forProbes + (begin - this.#turnedAt) / 4, TURN_MS / 10);
    this.#serveFrom(probe.fresh, begin + this.#forProbes);
    this.#turnedAt = performance.now();
    this.#forProbes -= this.#turnedAt - begin;
    this.#serveFrom(key.fresh, this.#turnedAt + TURN_MS / 10);
    const now = performance.now();
    if (now >= this.#claimsAt) {
      this.#claimsAt = now + CLAIM_MS;
      this.#serveFrom(claim.fresh, now + TURN_MS / 1_000);
    }
    this.#isServing = false;
  }

  /** Who has had a turn goes to the end of the row, and is no newcomer again before it was passed there (RFC 8290 4.2). */
  #serveFrom(those: Set<Account>, until: number): void {
    for (const account of those) {
      const now = performance.now();
      const { fresh, row, owed } = this.#sides[account.kind];
      // Of those whom nobody knows few need the store: probes and pages do not wait for it.
      if ((account.kind === 'key' && this.#load.isFull()) || now + owed >= until) break;
      if (account.queue.size >= FEW) this.#setLateAside(account, now, MOST_WAIT_MS);
      if (account.kind === 'key' && this.#load.isBehind(account.name)) continue;
      those.delete(account);
      if (those === fresh || account.queue.size > 0) {
        this.#takeTurn(account);
        row.add(account);
      } else this.#accounts.forget(account, now);
    }
  }

  #takeTurn(account: Account): void {
    const side = this.#sides[account.kind];
    account.credit = Math.min(QUANTUM, account.credit + QUANTUM);
    while (account.credit > 0) {
      const now = performance.now();
      const next = account.next(now, this.#greedy.has(account));
      if (!next) return;
      account.served(now);
      this.waiting--;
      const price = next.job.work(account.kind === 'probe' ? now : this.#turnEnds);
      const after = performance.now();
      const spent = (after - now) * 1_000;
      account.pay(price, spent);
      // What goes on when its turn is over is taken from this one: calls are counted, refused and answered then.
      side.owed += Math.max(0, price - spent) / 1_000;
      if (after + side.owed >= this.#turnEnds || (account.kind === 'key' && this.#load.isFull())) return;
    }
  }

  #refuseOldest(account: Account): void {
    const now = performance.now();
    account.refuseOldest(now, job => this.#late.push(waitingOf(job, now)));
    if (account.queue.size < FEW) this.#greedy.delete(account);
  }

  #setLateAside({ queue }: Account, now: number, mostMs: number): void {
    while (queue.first && now - queue.first.since > mostMs) this.#late.push(queue.shift()!);
  }

  #refuseLate(): void {
    const now = performance.now();
    const isUrgent = now - (this.#late.first?.since ?? now) > LATE_MS;
    const until = now + (isUrgent ? TURN_MS : SHED_MS);
    while (this.#late.size > 0 && performance.now() < until) {
      this.waiting--;
      this.#late.shift()!.job.shed();
    }
  }
}
