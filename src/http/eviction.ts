/**
 * Who makes room where connections run short. One rule: strangers, as long as they have more than their share, else keys,
 * else the house; of these the party with most; of that whoever is idle for longest, else whoever came first. Nothing that a
 * connection does is a hold on its place: strangers who were always busy kept everybody else out, and so did those who
 * had a key that was used up (2026-11-17). And nobody is refused, or the address with most would have no `/livez`.
 */

import type { Connection } from './connection.ts';
import type { Order } from './order.ts';
import { FEW, type Places, SHARES } from './places.ts';

/** So many of those who came first are looked at for one that is idle. */
const MOST_LOOKED_AT = 32;
/** Whoever is known and in the middle of its calls is not idle between two of them. Strangers are, … */
const CALLING_MS = 1_000;
/** … and whoever has said nothing after so long, since a client speaks as soon as it is connected, … */
const SILENT_MS = 300;
/** … or sent no more than a part of a head (slow loris). */
const SLOW_HEAD_MS = 1_000;

/** Who are told that they have to go, and are still there: they have descriptors beside those of all places. */
export const MOST_TOLD = 64;
/**
 * Whoever has not gone by then, for want of an answer or of a reader, is reset. A call with a key has its answer first: of
 * batches that waited for their turn some were counted, and reset under their answers (2026-11-17). So has one whose body
 * still comes, for as long as that may take.
 */
const LEAVE_MS = 2_000;

export class Eviction {
  /** Those that were told to go, and have no place any more; since when. */
  readonly leaving = new Map<Connection, number>();
  /** Since the start. */
  count = 0;
  readonly #places: Places;
  /** Ends one behind the answer that is being made for it, or with a word where there is none. */
  readonly #tell: (one: Connection) => void;
  readonly #mostTold: number;

  constructor(places: Places, tell: (one: Connection) => void, mostTold = MOST_TOLD) {
    this.#places = places;
    this.#tell = tell;
    this.#mostTold = mostTold;
  }

  /** One of all. */
  fromAll(): void {
    const { largest } = this.#places.yielding;
    const now = performance.now();
    this.#sendOff(idleOf(largest.some(MOST_LOOKED_AT), now) ?? largest.first!, now);
  }

  /**
   * One of an address that has as many as it may, by the same rule: of its strangers, as long as they have more than their
   * share of it, else of the key with most there. Whoever comes with another key is a stranger until its first call was let
   * in: it went for the next of those who never sent their bodies (2026-11-18). False where nobody may go.
   */
  fromOwn(network: string): boolean {
    const now = performance.now();
    const all = this.#places.ofNetwork(network)!;
    const strangers = this.#places.strangers.of(network);
    const stranger = strangers && (idleOf(strangers.some(MOST_LOOKED_AT), now) ?? strangers.first);
    const isMany = strangers && strangers.size > all.size * SHARES.strangers;
    const goes = isMany ? stranger : inTurn(all, now, stranger);
    if (goes) this.#sendOff(goes, now);
    return goes !== undefined;
  }

  /** It found no place, and is told so. False where too many are told already. */
  refuses(one: Connection): boolean {
    if (this.leaving.size >= this.#mostTold) return false;
    this.leaving.set(one, performance.now());
    return true;
  }

  /** Now and then: nobody stays for being told to go. */
  tend(now: number): void {
    for (const [one, since] of this.leaving)
      if (isKnown(one) && one.open > 0) this.leaving.set(one, now);
      else if (now - since > LEAVE_MS) this.#end(one);
  }

  #sendOff(one: Connection, now: number): void {
    this.count++;
    this.#places.leave(one);
    if (isIdle(one, now)) return one.evict();
    if (this.leaving.size >= this.#mostTold) this.#end(this.#nextToLeave());
    this.leaving.set(one, now);
    // What it is about to ask for, or waits for its turn with, is answered, and that says that it was the last.
    if (one.isIdle || (one.open === 0 && one.isAheadOfParser)) one.retire();
    else this.#tell(one);
  }

  /**
   * Who was told first had most time to go. But before that who has its last answer, then a key's whose bodies have not come,
   * where those are many, then the key's of which most are, then who has no key.
   */
  #nextToLeave(): Connection {
    const told = [...this.leaving.keys()];
    const [unsent, ...more] = ofLargest(told.filter(isUnsent));
    const first = told.find(hasLastAnswer) ?? (more.length >= FEW ? unsent : undefined);
    return first ?? ofMost(told)?.[0] ?? told.find(one => !isKnown(one)) ?? told[0]!;
  }

  #end(one: Connection): void {
    this.leaving.delete(one);
    if (one.isIdle) one.evict();
    else one.drop();
  }
}

const isKnown = ({ isProxy, party }: Connection) => isProxy || party !== undefined;

/** It may go at once: nothing was asked over it, a head is late, or it has its last answer. */
function isIdle(one: Connection, now: number, least = isKnown(one) ? CALLING_MS : 0): boolean {
  if (one.hasLeft(now)) return true;
  if (!one.isIdle) return one.open === 0 && one.isWritten && now - (one.inHeadSince ?? now) > SLOW_HEAD_MS;
  return now - one.activeAt >= (one.requests === 0 ? SILENT_MS : least);
}

/** Nothing more is made for it. */
const hasLastAnswer = (one: Connection) => one.open === 0 && one.isEnding;

/** Whoever is idle for longest. */
function idleOf(those: readonly Connection[], now: number, least?: number): Connection | undefined {
  let longest: Connection | undefined;
  for (const one of those)
    if (isIdle(one, now, least) && (!longest || one.activeAt < longest.activeAt)) longest = one;
  return longest;
}

/** Its body has not come: with the key of a web page, which is no secret, heads alone closed a shared address (2026-11-18). */
const isUnsent = (one: Connection) => one.open > 0 && !one.isBusy;

const idleOrUnsent = (those: readonly Connection[], now: number, least?: number) =>
  idleOf(those, now, least) ?? those.find(isUnsent);

/** Those of the key with most. */
function ofLargest(those: readonly Connection[]): readonly Connection[] {
  const byParty = Object.groupBy(those.filter(isKnown), ({ party = '' }) => party);
  return Object.values(byParty).reduce((a = [], b = []) => (b.length > a.length ? b : a), []) ?? [];
}

/** Of the one key that has more than all others. */
function ofMost(those: readonly Connection[]): readonly Connection[] | undefined {
  const largest = ofLargest(those);
  return largest.length > those.length / 2 ? largest : undefined;
}

/**
 * Of the key with most among those who are looked at, else the stranger, else of any. Where that key has more than all others
 * one that is calling goes for the stranger, with its answer: that is another key's newcomer, and of those up to half were
 * reset in the middle of their first call (2026-11-18). Whoever was looked at goes behind the others, who are looked at next.
 */
function inTurn(those: Order<Connection>, now: number, stranger?: Connection): Connection | undefined {
  const looked = those.some(MOST_LOOKED_AT);
  for (const one of looked) {
    those.delete(one);
    those.add(one);
  }
  const newcomer = stranger && (ofMost(looked)?.[0] ?? stranger);
  return idleOrUnsent(ofLargest(looked), now) ?? newcomer ?? idleOrUnsent(looked, now, 0);
}
