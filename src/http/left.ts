/**
 * What strangers may have left unread. Nothing that they do tells that they have read, so the kernel is asked; until it has
 * answered all that they got counts. Where that is too much, whoever does not read gives way first. Before the kernel was asked,
 * 200 strangers who had read their pages and stayed had every page reset that was read behind a shared address (2026-11-18).
 */

import type { Doubted, Doubts } from './doubts.ts';
import { type ShareRules, Shares } from './shares.ts';

/** The kernel is asked again when they got half of what all may have: they may get the rest until it has answered. */
const DOUBT = 2;
/** Who got less than this does not count: 5,000 of them had 467 MiB kept with 30 KB each (2026-11-17). */
const LITTLE_BYTES = 2 * 1024;
/** Whoever has read nothing for so long of what the kernel keeps does not read. */
const STALLED_MS = 1_000;

/** Of all strangers. */
export class LeftUnread<One extends { readonly network: string }> {
  readonly doubts: Doubts;
  readonly #most: number;
  readonly #rest: Shares<One>;
  /** Of those who do not read. */
  readonly #stalled: Shares<One>;

  constructor(most: number, rules: ShareRules<One>, doubts: Doubts) {
    this.#most = most;
    this.doubts = doubts;
    this.#rest = new Shares(most, rules);
    this.#stalled = new Shares(most, rules);
  }

  set(one: One, bytes: number, isStalled: boolean): void {
    (isStalled ? this.#stalled : this.#rest).set(one.network, one, bytes);
    this.#stalled.leave(this.#most - this.#rest.sum);
  }

  /** It reads now, or does not any more. */
  moved(one: One, isStalled: boolean): void {
    (isStalled ? this.#rest : this.#stalled).set(one.network, one, 0);
  }
}

/** Of one connection. */
export class Left<One extends { readonly network: string }> {
  readonly #all: LeftUnread<One>;
  readonly #one: One;
  /** It got this since the kernel was asked, … */
  #doubted = 0;
  /** … and this since it is being asked, for so many times. */
  #since = 0;
  #looks = 0;
  /** What the kernel keeps of all that went before, and when some of that was last read. */
  #kept = 0;
  #readAt = 0;
  #isStalled = false;

  constructor(all: LeftUnread<One>, one: One) {
    this.#all = all;
    this.#one = one;
  }

  sends(bytes: number, doubted: Doubted): void {
    const { doubts } = this.#all;
    if (this.#looks !== doubts.looks) this.#since = 0;
    this.#looks = doubts.looks;
    this.#since += bytes;
    this.#doubted += bytes;
    if (this.bytes <= LITTLE_BYTES) return;
    this.#all.set(this.#one, this.bytes, this.#isStalled);
    doubts.sent(doubted, bytes * DOUBT);
  }

  get bytes(): number {
    return this.#kept + this.#doubted;
  }

  /** So much is unread. How much of it went to a stranger: all, where there was nobody else. */
  found(bytes: number, isAlone: boolean): number {
    const since = this.#looks === this.#all.doubts.looks ? this.#since : 0;
    const before = this.bytes - since;
    if (before === 0) return 0;
    const kept = isAlone ? bytes : Math.min(before, bytes);
    const now = performance.now();
    if (this.#kept === 0 || kept < before) this.#readAt = now;
    const isStalled = now - this.#readAt > STALLED_MS;
    if (isStalled !== this.#isStalled) this.#all.moved(this.#one, isStalled);
    // Whoever has read nothing stays where it is in the order in which they go.
    const isSame = isStalled === this.#isStalled && kept === before;
    this.#isStalled = isStalled;
    this.#kept = kept;
    this.#doubted = since;
    if (!isSame) this.#all.set(this.#one, this.bytes > LITTLE_BYTES ? this.bytes : 0, isStalled);
    return kept;
  }

  closed(): void {
    this.#all.set(this.#one, 0, this.#isStalled);
  }
}
