/**
 * Who is served when not all can be: admission control and load shedding. Connections whose bytes wait to be read are
 * queued by caller: its key where that is known from before, else its address. Each turn of the event loop serves for
 * a few milliseconds, callers in turn, so that nobody waits for somebody else's queue. Who would have to wait too long
 * takes more than there is, and is shed: before anything is parsed, let alone counted.
 */

import { Account, FEW, type Job, MOST_WAIT_MS, Queue, Side, type Waiting } from './accounts.ts';
import { PRICES } from './prices.ts';

/** One turn of the event loop spends so long on requests, and a quarter more on refusing others. */
const TURN_MS = 10;
const SHED_MS = 2.5;
/** Refusals that are late by so long take as much time as is served. */
const LATE_MS = 40;
/** The kernel may have more for one turn than can be read in this time. */
const LONG_POLL_MS = 20;
/** What a caller may use before the next one's turn, in microseconds: the quantum of a deficit round robin. */
const QUANTUM = 500;
/**
 * libuv accepts one connection in a turn of the loop, so while new ones come, turns are kept short: nothing is served
 * in so many of them at the most. Otherwise 1,000 connections had to wait for four seconds (2026-11-15).
 */
const MOST_ACCEPTING = 64;
/** Where turns are slow, since calls that were let in before are answered in them, fewer. */
const LEAST_ACCEPTING = 32;
const ACCEPTING_MS = 20;
/** Callers who asked for too much are remembered for a while; when they are so many, those are looked for who did long ago. */
const MOST_ACCOUNTS = 1_000;
const FORGET_MS = 100;
/** How soon to look again while the store has all that it can take, and how long to wait for it: it may be stuck. */
const FULL_MS = 5;
const MOST_FULL_MS = 100;

export interface Fairness {
  /** It has bytes: they are read at once where nobody waits. False where it has to wait. */
  arrive(job: Job): boolean;
  /**
   * The kernel has told of one more socket. Where it has told of many in one turn, who watches and known keys that come
   * now and then are not kept waiting for the rest. Nobody else: whoever is served sends again, and the turn never ends.
   */
  polled(): void;
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
  const sides = { key: new Side(), stranger: new Side(), probe: new Side() };
  /** Those who ask for too much. */
  const greedy = new Set<Account>();
  const late = new Queue<Waiting>();
  let waiting = 0;
  let forgetAt = 0;
  let isServing = false;
  /** When the last turn was over: what has come since was read in one go. */
  let turnedAt = 0;
  /** When this turn of the event loop has served long enough; 0 before its first request. */
  let turnEnds = 0;
  /** Milliseconds that the answers of this turn will still take when it is over. */
  let owed = 0;
  /** A connection came in this turn, or in the one before: there may be more behind it. */
  let isAccepting = false;
  let hasAccepted = false;
  let acceptingTurns = 0;
  let acceptingSince = 0;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;

  /** Behind the poll phase: everything that the kernel had ready has arrived by then. */
  function nextTurn(): void {
    immediate ??= setImmediate(() => {
      immediate = undefined;
      turnEnds = 0;
      isAccepting = hasAccepted;
      hasAccepted = false;
      if (isAccepting && goesOnAccepting()) {
        serveNewcomers();
        return nextTurn();
      }
      acceptingTurns = 0;
      if (waiting > 0) serve();
    });
  }

  function goesOnAccepting(): boolean {
    const now = performance.now();
    if (acceptingTurns++ === 0) acceptingSince = now;
    if (acceptingTurns <= LEAST_ACCEPTING) return true;
    return acceptingTurns <= MOST_ACCEPTING && now - acceptingSince < ACCEPTING_MS;
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
    const caller = job.caller();
    const now = performance.now();
    let account = accounts.get(caller.name);
    if (!account) {
      if (accounts.size >= MOST_ACCOUNTS && now > forgetAt) forgetCalm(now);
      account = new Account(caller);
      accounts.set(caller.name, account);
    }
    waiting++;
    const isTooMuch = account.isTooMuch(now);
    if (isTooMuch && job.isProxy) return void late.push({ job, since: now });
    if (isTooMuch) greedy.add(account);
    account.queue.push({ job, since: now });
    const { fresh, row } = sides[account.kind];
    if (!row.has(account)) fresh.add(account);
  }

  function forgetCalm(now: number): void {
    forgetAt = now + FORGET_MS;
    for (const account of accounts.values()) forget(account, now);
  }

  /** Not somebody who came anew under the same name meanwhile. */
  function forget(account: Account, now: number): void {
    if (account.isCalm(now) && accounts.get(account.name) === account) accounts.delete(account.name);
  }

  /** Who watches comes first, for a tenth of the time; keys that are known have half of it where strangers wait, too. */
  function serve(): void {
    const { key, stranger, probe } = sides;
    const begin = performance.now();
    isServing = true;
    turnEnds = begin + TURN_MS;
    owed = 0;
    serveFrom(probe.fresh, begin + TURN_MS / 10);
    serveFrom(probe.row, begin + TURN_MS / 10);
    serveFrom(key.fresh, turnEnds);
    serveFrom(key.row, stranger.isWaiting ? begin + TURN_MS / 2 : turnEnds);
    serveFrom(stranger.fresh, turnEnds);
    serveFrom(stranger.row, turnEnds);
    serveFrom(key.row, turnEnds);
    serveFrom(probe.row, turnEnds);
    if (isFull()) for (const one of [...key.fresh, ...key.row]) setLateAside(one, begin, MOST_FULL_MS);
    for (const account of greedy) refuseOldest(account);
    refuseLate();
    isServing = false;
    turnedAt = performance.now();
    if (waiting > 0) soon();
    else nextTurn();
  }

  /** Who watches, and known keys that come now and then: they are few, or soon no newcomers any more. */
  function serveNewcomers(): void {
    isServing = true;
    owed = 0;
    turnedAt = performance.now();
    serveFrom(sides.probe.fresh, turnedAt + TURN_MS / 10);
    serveFrom(sides.key.fresh, turnedAt + TURN_MS / 10);
    isServing = false;
  }

  /** Who has had a turn goes to the end of the row, and is no newcomer again before it was passed there (RFC 8290 4.2). */
  function serveFrom(those: Set<Account>, until: number): void {
    for (const account of those) {
      const now = performance.now();
      // Of those whom nobody knows few need the store: probes and pages do not wait for it.
      if ((account.kind === 'key' && isFull()) || now + owed >= until) break;
      those.delete(account);
      const { fresh, row } = sides[account.kind];
      if (those === fresh || account.queue.size > 0) {
        takeTurn(account);
        row.add(account);
      } else forget(account, now);
    }
  }

  function takeTurn(account: Account): void {
    account.credit = Math.min(QUANTUM, account.credit + QUANTUM);
    while (account.credit > 0) {
      const now = performance.now();
      if (account.queue.size >= FEW) setLateAside(account, now, MOST_WAIT_MS);
      const next = greedy.has(account) ? account.queue.pop() : account.queue.shift();
      if (!next) return;
      account.served(now);
      waiting--;
      const price = next.job.work(turnEnds);
      const after = performance.now();
      const spent = (after - now) * 1_000;
      account.credit -= Math.max(price, spent);
      // A large answer goes on being written when its turn is over: what that takes is taken from this one.
      if (price > PRICES.read) owed += Math.max(0, price - spent) / 1_000;
      if (after + owed >= turnEnds || (account.kind === 'key' && isFull())) return;
    }
  }

  function refuseOldest(account: Account): void {
    const now = performance.now();
    account.refuseOldest(now, job => late.push({ job, since: now }));
    if (account.queue.size < FEW) greedy.delete(account);
  }

  function setLateAside({ queue }: Account, now: number, mostMs: number): void {
    while (queue.first && now - queue.first.since > mostMs) late.push(queue.shift()!);
  }

  function refuseLate(): void {
    const now = performance.now();
    const isUrgent = now - (late.first?.since ?? now) > LATE_MS;
    const until = now + (isUrgent ? TURN_MS : SHED_MS);
    while (late.size > 0 && performance.now() < until) {
      waiting--;
      late.shift()!.job.shed();
    }
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
    polled() {
      if (waiting > 0 && !isServing && performance.now() - turnedAt > LONG_POLL_MS) serveNewcomers();
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
      clearImmediate(immediate);
    },
  };
}
