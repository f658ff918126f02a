/** What this server knows of the use of keys, whichever of its secrets is sent: how fast, and how much is left. */

import type { MeteredRefusal } from '../core/door.ts';
import type { KeyRecord } from '../core/key.ts';
import { lru } from '../core/lru.ts';
import type { Clock, Store, Ticks } from '../core/ports.ts';
import { type Allowance, allowanceOf, monthOf } from '../core/quota.ts';
import { type Bucket, type Token, takeToken } from '../core/rate.ts';
import type { SharedBuckets } from '../core/shared-rate.ts';

interface Meter {
  readonly bucket: Bucket;
  /** After the last call that was counted here. */
  allowance: Allowance | undefined;
}

export interface MetersParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ticks: Ticks;
  /** Where other threads serve the same keys. */
  readonly buckets?: SharedBuckets | undefined;
}

export class Meters {
  readonly #parts: MetersParts;
  readonly #meters = lru<Meter>(10_000);

  constructor(parts: MetersParts) {
    this.#parts = parts;
  }

  /** For a key that has a rate. */
  takeToken(key: KeyRecord, rate: number): Token {
    const { buckets, ticks } = this.#parts;
    return buckets?.take(key.id, rate, ticks()) ?? takeToken(this.#of(key).bucket, rate, ticks());
  }

  counted(key: KeyRecord, allowance: Allowance): void {
    if (key.rate !== null) this.#of(key).allowance = allowance;
  }

  async readAllowance(key: KeyRecord): Promise<Allowance> {
    const { store, clock } = this.#parts;
    const month = monthOf(clock());
    return allowanceOf(key.quota, await store.used(key.id, month.name), month);
  }

  async rateRefusal(key: KeyRecord, retryAfter: number): Promise<MeteredRefusal> {
    const detail = `limit: ${key.rate} calls per second`;
    const { allowance: last } = this.#of(key);
    // What the last counted call left is near enough here, and spares the store a read for each call of a flood.
    const isOfNow = last?.limit === key.quota && last.month === monthOf(this.#parts.clock());
    const allowance = isOfNow ? last : await this.readAllowance(key);
    return { refused: 'rate_limited', detail, retryAfter, allowance };
  }

  #of(key: KeyRecord): Meter {
    let meter = this.#meters.get(key.id);
    if (!meter) {
      const bucket = { tokens: Math.max(1, key.rate ?? 0), at: this.#parts.ticks() };
      meter = { bucket, allowance: undefined };
      this.#meters.set(key.id, meter);
    }
    return meter;
  }
}
