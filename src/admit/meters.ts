/** What this server knows of the use of keys, whichever of its secrets is sent: how fast, and how much is left. */

import type { MeteredRefusal } from '../core/door.ts';
import { type KeyRecord, MOST_REMEMBERED } from '../core/key.ts';
import { lru } from '../core/lru.ts';
import type { Clock, Store, Ticks } from '../core/ports.ts';
import { type Allowance, allowanceOf, monthOf } from '../core/quota.ts';
import { type Bucket, type Token, takeToken } from '../core/rate.ts';
import type { SharedBuckets } from '../core/shared-rate.ts';

export interface MetersParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ticks: Ticks;
  /** Where other threads serve the same keys. */
  readonly buckets?: SharedBuckets | undefined;
}

export class Meters {
  readonly #parts: MetersParts;
  readonly #buckets = lru<Bucket>(MOST_REMEMBERED);
  /** After the last call that was counted here. */
  readonly #allowances = lru<Allowance>(MOST_REMEMBERED);

  constructor(parts: MetersParts) {
    this.#parts = parts;
  }

  /** For a key that has a rate. */
  takeToken(key: KeyRecord, rate: number): Token {
    const { buckets, ticks } = this.#parts;
    return buckets?.take(key.id, rate, ticks()) ?? takeToken(this.#bucketOf(key, rate), rate, ticks());
  }

  counted(key: KeyRecord, allowance: Allowance): void {
    if (key.rate !== null || key.quota !== null) this.#allowances.set(key.id, allowance);
  }

  /** After its last call that was counted here too little was left for so many names. Asks nobody. */
  lacks(key: KeyRecord, names: number): boolean {
    const remaining = this.#lastOf(key)?.remaining ?? null;
    return remaining !== null && remaining < names;
  }

  async readAllowance(key: KeyRecord): Promise<Allowance> {
    const { store, clock } = this.#parts;
    const month = monthOf(clock());
    return allowanceOf(key.quota, await store.used(key.id, month.name), month);
  }

  async rateRefusal(key: KeyRecord, retryAfter: number): Promise<MeteredRefusal> {
    const detail = `limit: ${key.rate} calls per second`;
    // What the last counted call left is near enough here, and spares the store a read for each call of a flood.
    const allowance = this.#lastOf(key) ?? (await this.readAllowance(key));
    return { refused: 'rate_limited', detail, retryAfter, allowance };
  }

  /** Undefined where its quota is another one by now, or the month. */
  #lastOf(key: KeyRecord): Allowance | undefined {
    const last = this.#allowances.peek(key.id);
    return last?.limit === key.quota && last.month === monthOf(this.#parts.clock()) ? last : undefined;
  }

  #bucketOf({ id }: KeyRecord, rate: number): Bucket {
    let bucket = this.#buckets.get(id);
    if (!bucket) {
      bucket = { tokens: Math.max(1, rate), at: this.#parts.ticks() };
      this.#buckets.set(id, bucket);
    }
    return bucket;
  }
}
