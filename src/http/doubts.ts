/**
 * Answers of which nobody knows whether they were read, though their caller has asked again: 300 connections of one key
 * that asked and never read had the kernel keep 856 MiB (2026-11-17). When they may be much, the kernel is asked.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kept, keptByKernel, LITTLE_BYTES } from './kernel.ts';

/** Bytes that went out since the kernel was asked last. */
const MOST_DOUBTED = 32 * 1024 * 1024;
/** Connections that are looked at before others are answered: in less than a millisecond (2026-11-18). */
const AT_ONCE = 1_024;

export interface Doubted {
  /** In the table of the kernel. */
  readonly name: string;
  /** What the kernel has not taken yet. */
  readonly waiting: number;
  /** So many bytes were unread; it may have got more since they were counted. */
  found(bytes: number, hasMore: boolean): void;
}

export class Doubts {
  readonly #most: number;
  readonly #ask: () => Promise<Kept | undefined>;
  /** Whoever got something since the kernel was asked, or had something unread then. */
  #all = new Set<Doubted>();
  /** Those of whom it was asked just now. */
  #asked = new Set<Doubted>();
  #bytes = 0;
  #isLooking = false;
  /** How often the kernel was asked. */
  looks = 0;

  constructor(share = 1, ask = keptByKernel) {
    this.#most = MOST_DOUBTED * share;
    this.#ask = ask;
  }

  sent(one: Doubted, bytes: number): void {
    this.#all.add(one);
    this.#bytes += bytes;
    if (this.#bytes > this.#most && !this.#isLooking) void this.#look();
  }

  /** Its connection is gone. */
  closed(one: Doubted): void {
    this.#all.delete(one);
    this.#asked.delete(one);
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    this.looks++;
    this.#bytes = 0;
    this.#asked = this.#all;
    this.#all = new Set();
    const kept = await this.#ask();
    if (kept) await this.#tell(kept);
    this.#isLooking = false;
  }

  async #tell(kept: Kept): Promise<void> {
    let told = 0;
    for (const one of this.#asked) {
      const hasMore = this.#all.has(one);
      const bytes = (kept.get(one.name) ?? 0) + one.waiting;
      const isUnread = bytes >= LITTLE_BYTES;
      if (isUnread) this.#all.add(one);
      one.found(isUnread ? bytes : 0, hasMore);
      if (++told % AT_ONCE === 0) await nextTurn();
    }
  }
}
