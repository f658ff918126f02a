/**
 * The limits of calls per second for several threads that serve the same keys: one bucket for a key, in memory that all
 * share. A bucket is one number, the moment at which it is full again (GCRA): whoever takes a token moves it on by compare
 * and swap, so that no thread ever waits for another one, nor for one that died.
 */

import { hash } from 'node:crypto';
import type { Token } from './rate.ts';

/** Of a key: which one, and when its bucket is full again, in nanoseconds. */
const FIELDS = 2;
const BYTES = 8;
/** A mebibyte. Keys without a limit need no place. */
const PLACES = 65_536;
/** A key is looked for in so many places, one after the other. */
const REACH = 16;
const SECOND = 1e9;
const NANOSECONDS = 1e6;

export class SharedBuckets {
  readonly #fields: BigInt64Array;
  readonly #places: number;

  static newMemory(places = PLACES): SharedArrayBuffer {
    return new SharedArrayBuffer(places * FIELDS * BYTES);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#fields = new BigInt64Array(memory);
    this.#places = this.#fields.length / FIELDS;
  }

  /** Takes one token, or says how many whole seconds to wait. `now` is in ticks that are the same in all threads. */
  take(keyId: string, rate: number, now: number): Token {
    const moment = BigInt(Math.round(now * NANOSECONDS));
    const step = Math.max(1, Math.round(SECOND / rate));
    const most = Math.round(step * Math.max(1, rate));
    const at = this.#placeOf(keyId, moment) + 1;
    for (;;) {
      const full = Atomics.load(this.#fields, at);
      const next = (full > moment ? full : moment) + BigInt(step);
      const wait = Number(next - moment) - most;
      if (wait > 0) return { ok: false, retryAfter: Math.max(1, Math.ceil(wait / SECOND)) };
      if (Atomics.compareExchange(this.#fields, at, full, next) === full) return { ok: true };
    }
  }

  /**
   * Its own, else the first free one, else the first whose bucket is full: to forget that one takes nothing from anybody.
   * Threads that look at once find the same place, and whoever comes second finds its key there. Where all are in use,
   * which takes thousands of keys that call within one second, two of them share one.
   */
  #placeOf(keyId: string, now: bigint): number {
    const key = hash('sha256', keyId, 'buffer').readBigInt64LE();
    const first = Number(BigInt.asUintN(32, key)) % this.#places;
    const at = (step: number) => ((first + step) % this.#places) * FIELDS;
    for (let step = 0; step < REACH; step++) {
      const place = at(step);
      const there = Atomics.load(this.#fields, place);
      if (there === key || (there === 0n && this.#claim(place, 0n, key))) return place;
    }
    for (let step = 0; step < REACH; step++) {
      const place = at(step);
      const there = Atomics.load(this.#fields, place);
      if (Atomics.load(this.#fields, place + 1) <= now && this.#claim(place, there, key)) return place;
    }
    return at(0);
  }

  #claim(place: number, was: bigint, key: bigint): boolean {
    const found = Atomics.compareExchange(this.#fields, place, was, key);
    return found === was || found === key;
  }
}
