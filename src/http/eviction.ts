/**
 * Who makes room where connections run short: those that were idle longest, whose heads are late, or who have their last
 * answer; first of all those of addresses with a large share of all, then those without a key. Being busy is no hold on a
 * place: strangers at three addresses who always had a request under way kept everybody else out (2026-11-17).
 */

import type { Connection } from './connection.ts';

/** Looking for the longest idle has its price, so of so many that are looked at several go at once. */
const MOST_LOOKED_AT = 2_000;
const MOST_EVICTED = 16;
const EVICTED_SHARE = 0.02;
const SCAN_MS = 100;
/**
 * Whoever has a key and is in the middle of its calls is not idle between two of them. Without one it is: strangers who asked
 * for `/livez` twice a second kept everybody else out (2026-11-17).
 */
const CALLING_MS = 1_000;

/** Who are told that they have to go; more than that are reset. */
export const MOST_TOLD = 64;
/** Whoever has not gone by then, for want of an answer or of a reader, is reset. */
const LEAVE_MS = 2_000;

/** What is known of somebody who needs a place. */
export interface Newcomer {
  /** Connections that its address has. */
  readonly own: number;
  /** That is a large share of all: it gets a place only of those who have one, too. */
  readonly isHeavy: boolean;
}

/** Connections of its address, and whether that is a large share of all. */
export type ShareOf = (one: Connection) => { readonly size: number; readonly isHeavy: boolean };

/** In this order; `busy` are those that something is under way on. */
const RANKS = { heavyIdle: 0, heavyBusy: 1, strangerIdle: 2, keyIdle: 3, strangerBusy: 4, keyBusy: 5 };

interface Leaver {
  readonly one: Connection;
  readonly rank: number;
  readonly size: number;
}

export class Eviction {
  /** Those that make room already, and are gone in a moment; since when. */
  readonly leaving = new Map<Connection, number>();
  /** Since the start. */
  count = 0;
  /** Ends one behind the answer that is being made for it, or with a word where there is none. */
  readonly #tell: (one: Connection) => void;
  /** Until when nobody of them can go, as far as is known, for others and for the heavy: looking at all has its price. */
  readonly #noneUntil = { others: new WeakMap<object, number>(), heavy: new WeakMap<object, number>() };
  /** Where looking goes on: the same ones would be looked at again and again. */
  readonly #lookedUpTo = new WeakMap<object, Iterator<Connection>>();

  constructor(tell: (one: Connection) => void) {
    this.#tell = tell;
  }

  /** Of one address, for another of its own. */
  fromOwn(those: Set<Connection>): boolean {
    const rankOf = (one: Connection, now: number) =>
      one.isDispensable(now, 0) ? RANKS.heavyIdle : undefined;
    return this.#close(those, 'others', (one, now) => leaver(one, rankOf(one, now), 0));
  }

  /** Of all. */
  fromAll(those: Set<Connection>, shareOf: ShareOf, newcomer: Newcomer): boolean {
    const mayTell = this.leaving.size < MOST_TOLD;
    return this.#close(those, newcomer.isHeavy ? 'heavy' : 'others', (one, now) => {
      const { size, isHeavy } = shareOf(one);
      const rank = one.isDispensable(now, one.hasKey ? CALLING_MS : 0)
        ? rankOfIdle(one, isHeavy)
        : one.hasKey
          ? rankOfCalling(one, isHeavy && mayTell)
          : rankOfBusy(one, isHeavy, size > newcomer.own);
      return leaver(one, newcomer.isHeavy && rank !== RANKS.heavyIdle ? undefined : rank, size);
    });
  }

  /** Now and then: nobody stays for being told to go. */
  tend(now: number): void {
    for (const [one, since] of this.leaving) if (now - since > LEAVE_MS) one.drop();
  }

  /** Closes a few of those that may go and are of the lowest rank. False where there are none. */
  #close(
    those: Set<Connection>,
    whose: 'others' | 'heavy',
    leaverOf: (one: Connection, now: number) => Leaver | undefined,
  ): boolean {
    const now = performance.now();
    const noneUntil = this.#noneUntil[whose];
    if (now < (noneUntil.get(those) ?? 0)) return false;
    const some = this.#next(those);
    const found = some.map(one => (this.leaving.has(one) ? undefined : leaverOf(one, now)));
    const [first, ...others] = found.filter(one => one !== undefined).sort(inOrder);
    if (!first) {
      noneUntil.set(those, now + (SCAN_MS * some.length) / those.size);
      return false;
    }
    const most = Math.min(MOST_EVICTED, Math.ceil(those.size * EVICTED_SHARE));
    const alike = others.filter(({ rank }) => rank === first.rank);
    for (const leaver of [first, ...alike.slice(0, most - 1)]) this.#evict(leaver, now);
    return true;
  }

  #evict({ one, rank }: Leaver, now: number): void {
    this.count++;
    const isTold = this.leaving.size < MOST_TOLD;
    this.leaving.set(one, now);
    if (!isBusy(rank) || one.isIdle) one.evict();
    else if (isTold || one.hasKey) this.#tell(one);
    else one.drop();
  }

  /** Some of them, all in turn. */
  #next(those: Set<Connection>): Connection[] {
    const some: Connection[] = [];
    let from = this.#lookedUpTo.get(those) ?? those.values();
    for (let left = Math.min(those.size, MOST_LOOKED_AT); left > 0; left--) {
      let one = from.next();
      if (one.done) {
        from = those.values();
        one = from.next();
      }
      if (!one.done) some.push(one.value);
    }
    this.#lookedUpTo.set(those, from);
    return some;
  }
}

const isBusy = (rank: number) =>
  rank === RANKS.heavyBusy || rank === RANKS.strangerBusy || rank === RANKS.keyBusy;

const leaver = (one: Connection, rank: number | undefined, size: number): Leaver | undefined =>
  rank === undefined ? undefined : { one, rank, size };

function rankOfIdle(one: Connection, isHeavy: boolean): number {
  if (isHeavy) return RANKS.heavyIdle;
  return one.hasKey ? RANKS.keyIdle : RANKS.strangerIdle;
}

function rankOfBusy(one: Connection, isHeavy: boolean, isLarger: boolean): number | undefined {
  if (isHeavy) return RANKS.heavyBusy;
  return isLarger && !one.isProxy ? RANKS.strangerBusy : undefined;
}

/** With a key only where nothing is lost: it gets its answer, and that says that it is the last. */
function rankOfCalling(one: Connection, mayBeTold: boolean): number | undefined {
  return mayBeTold && one.isBusy ? RANKS.keyBusy : undefined;
}

/**
 * The longest idle first. Of those who are busy the ones of the address with most, then the oldest: the last answer tells
 * nothing, and who has just come has a moment to say what it wants.
 */
function inOrder(a: Leaver, b: Leaver): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  return isBusy(a.rank) ? b.size - a.size || a.one.since - b.one.since : a.one.activeAt - b.one.activeAt;
}
