/**
 * Answers that may not have been read. The kernel takes them and keeps them until their peer has: 160 KB each, 0.8 GB for
 * 5,000 peers who read nothing (2026-11-15), and many small ones are as good as a large one: 300 connections of one key
 * with 100 of 30 KB each took 1 GB (2026-11-17). So few connections of one address get large answers, each of them a few,
 * none idles for long behind one, and where all are too much those go whose last answer is oldest and that wait for no
 * other: not those of a key or an operator for what strangers have left unread, of keys those of the one that has left most,
 * and there the ones that have, and of strangers those of the network that has, if that is more than one connection may have
 * (left.ts).
 */

import { type Doubted, Doubts } from './doubts.ts';
import type { Sent } from './farewell.ts';
import { type Ends, nameOf } from './kernel.ts';
import { Left, LeftUnread } from './left.ts';
import { Shares } from './shares.ts';

const LARGE_BYTES = 32 * 1024;
/** What an answer has beside its body. */
const HEAD_BYTES = 512;
const MOST_PER_ADDRESS = 64;
/** Of one connection: whoever wants more comes again, and is known to have read these. */
const MOST_BYTES = 256 * 1024;
/** Of one connection in small answers that a key was counted for: 1,000 lookups that were sent ahead are less. */
const MOST_SMALL_BYTES = 1024 * 1024;
/** Of all connections that a key was counted for, … */
const MOST_PAID = 64 * 1024 * 1024;
/** … of those that the kernel has been seen to keep, whatever was asked since, … */
const MOST_KEPT = 32 * 1024 * 1024;
/**
 * … and of strangers: from 90 addresses they had the kernel keep 1.3 GB (2026-11-16). What it takes for an answer is 2.3
 * times its length (Linux 6, 2026-11-17), so this is 75 MiB of the 128 that they may take.
 */
const MOST_UNPAID = 32 * 1024 * 1024;

/** The connection. */
interface Owner {
  readonly network: string;
  readonly socket: Ends;
  /** A request that came whole has no answer yet. */
  readonly isBusy: boolean;
  /** Whose key the last call over it was let in with. */
  readonly party?: string | undefined;
  /** Ends it, and has the kernel forget what it keeps for it. */
  drop(): void;
}

const DROPPING = { mayGo: ({ isBusy }: Owner) => !isBusy, giveWay: (one: Owner) => one.drop() };

export class LargeAnswers {
  readonly #byNetwork = new Map<string, number>();
  readonly unpaid: LeftUnread<Owner>;
  readonly paid: Shares<Owner>;
  readonly kept: Shares<Owner>;
  readonly doubts: Doubts;
  /** Connections that both sides have ended, and whose peers may still read. */
  ended = 0;

  /** A share of what all ports of the process may leave unread. */
  constructor(share = 1, doubts = new Doubts(share)) {
    this.doubts = doubts;
    this.unpaid = new LeftUnread(MOST_UNPAID * share, { ...DROPPING, little: MOST_BYTES }, doubts);
    this.paid = new Shares(MOST_PAID * share, DROPPING);
    this.kept = new Shares(MOST_KEPT * share, DROPPING);
  }

  /** For one connection. False where there are enough, but not for what a key has paid for. */
  take(network: string, isLimited: boolean): boolean {
    const count = this.#byNetwork.get(network) ?? 0;
    if (isLimited && count >= MOST_PER_ADDRESS) return false;
    this.#byNetwork.set(network, count + 1);
    return true;
  }

  /** That connection is gone. */
  give(network: string): void {
    const count = this.#byNetwork.get(network) ?? 0;
    if (count > 1) this.#byNetwork.set(network, count - 1);
    else this.#byNetwork.delete(network);
  }
}

/** What went out over one connection, as far as nobody knows that it was read. */
export class Unread implements Doubted, Sent {
  readonly #all: LargeAnswers;
  readonly #owner: Owner;
  #bytes = 0;
  readonly #unpaid: Left<Owner>;
  /** Since the last request that came behind all answers. */
  #paid = 0;
  /** Small ones that a key was counted for since then: they count when they are as much as a large one. */
  #small = 0;
  /** Whose key was counted for last. */
  #payer = '';
  /** What the kernel has been seen to keep for it, whatever was asked since. */
  #kept = 0;
  #name: string | undefined;
  #hasPlace = false;
  #isLarge = false;
  #hasEnded = false;
  /** It has had what one connection gets: the next answer is its last. */
  isSpent = false;

  constructor(all: LargeAnswers, owner: Owner) {
    this.#all = all;
    this.#owner = owner;
    this.#unpaid = new Left(all.unpaid, owner);
  }

  get name(): string {
    this.#name ??= nameOf(this.#owner.socket);
    return this.#name;
  }

  get waiting(): number {
    return this.#owner.socket.writableLength ?? 0;
  }

  /** There was a large answer, or as much in small ones. */
  get isLarge(): boolean {
    return this.#isLarge || this.isSpent;
  }

  get bytes(): number {
    return this.#bytes + this.#small;
  }

  /** Whoever asks again has most likely read what was answered, or will be found out; of strangers only the kernel tells. */
  asked(): void {
    this.#small = 0;
    if (this.#paid === 0) return;
    this.#bytes -= this.#paid;
    this.#paid = 0;
    this.#all.paid.set(this.#payer, this.#owner, 0);
  }

  found(all: number, hasMore: boolean): void {
    const unpaid = this.#unpaid.bytes;
    const bytes = all - this.#unpaid.found(all, this.#payer === '');
    this.#bytes += this.#unpaid.bytes - unpaid;
    const paid = hasMore ? this.#paid : Math.min(this.#paid, bytes);
    const kept = Math.max(0, bytes - paid);
    this.#bytes += paid + kept - this.#paid - this.#kept;
    if (paid !== this.#paid) this.#all.paid.set(this.#payer, this.#owner, paid);
    if (kept !== this.#kept) this.#all.kept.set(this.#payer, this.#owner, kept);
    this.#paid = paid;
    this.#kept = kept;
  }

  /** A body of so many bytes, for which this key was counted. False where it is large, and whoever asks has too many of those. */
  sends(body: number, counted: string | undefined): boolean {
    // Who calls with a key is no stranger for what is small and not counted: it was reset in the middle of its calls, though
    // it had read everything, since it had asked for its usage in between (2026-11-18).
    const payer = counted ?? (body > LARGE_BYTES ? undefined : this.#owner.party);
    const isPaid = payer !== undefined;
    let more = body + HEAD_BYTES;
    if (isPaid) this.#pays(payer, more);
    if (isPaid && body <= LARGE_BYTES) {
      // Of a caller who reads what it asks for all answers end here.
      this.#small += more;
      if (this.#small <= LARGE_BYTES) return true;
      more = this.#small;
      this.#small = 0;
    }
    const bytes = this.#bytes + more;
    this.#hasPlace ||= bytes > LARGE_BYTES && this.#all.take(this.#owner.network, !isPaid);
    this.#isLarge ||= this.#hasPlace;
    const lacksPlace = bytes > LARGE_BYTES && !this.#hasPlace;
    if (lacksPlace && body > LARGE_BYTES) return false;
    this.#bytes = bytes;
    this.isSpent ||= lacksPlace || bytes > (isPaid && body <= LARGE_BYTES ? MOST_SMALL_BYTES : MOST_BYTES);
    if (isPaid) {
      this.#paid += more;
      this.#all.paid.set(payer, this.#owner, this.#paid);
    } else this.#unpaid.sends(more, this);
    return true;
  }

  #pays(payer: string, bytes: number): void {
    this.#all.doubts.sent(this, bytes);
    if (payer === this.#payer) return;
    this.#all.paid.set(this.#payer, this.#owner, 0);
    this.#all.kept.set(this.#payer, this.#owner, 0);
    // What it has left unread stays, whose key ever comes next: with two in turn it counted for nobody (2026-11-18).
    if (this.#paid > 0) this.#all.paid.set(payer, this.#owner, this.#paid);
    if (this.#kept > 0) this.#all.kept.set(payer, this.#owner, this.#kept);
    this.#payer = payer;
  }

  closed(): void {
    this.#all.doubts.closed(this);
    this.#unpaid.closed();
    for (const shares of [this.#all.paid, this.#all.kept]) shares.set(this.#payer, this.#owner, 0);
    this.#givePlace();
    if (this.#hasEnded) this.#all.ended--;
  }

  /** It gets no more, and most likely has read all: others of its address may have large answers. */
  ended(): void {
    this.#givePlace();
    if (!this.#hasEnded) this.#all.ended++;
    this.#hasEnded = true;
  }

  #givePlace(): void {
    if (this.#hasPlace) this.#all.give(this.#owner.network);
    this.#hasPlace = false;
  }
}
