/** Key → origin → rate → quota. A call gets an Admission, counted durably, or a Refusal without effect. */

import { LRUCache } from 'lru-cache';
import {
  type Admission,
  type Credentials,
  keyRefusal,
  type MeteredRefusal,
  type OpenedKey,
  openKey,
  type Passed,
  quotaRefusal,
  remembered,
  rowOf,
  secretOf,
  turnedAway,
} from './core/door.ts';
import { bearerSecret, digestOf, isLive, isWellFormedSecret, type KeyRecord } from './core/key.ts';
import {
  type Clock,
  type Spent,
  type Store,
  StoreUnavailable,
  type Ticks,
  type Waiter,
} from './core/ports.ts';
import { type Allowance, allowanceOf, dayOf, lastDays, monthOf } from './core/quota.ts';
import { type Bucket, takeToken } from './core/rate.ts';
import { type Refusal, refuse } from './core/refusal.ts';

export interface Admit {
  /** Counts the call. Rejects with StoreUnavailable when the count cannot be confirmed. */
  spend(caller: Credentials, waiter: Waiter<Passed>): void;
  /** The same door without counting: for what a key may ask about itself. */
  enter(caller: Credentials): Promise<Admission | Refusal>;
  /**
   * In which row calls with this Authorization header wait, where their key is known from before and would let them in
   * from that address (undefined: who it really is stands in the header of a proxy). Asks nobody.
   */
  known(authorization: string, address: string | undefined): string | undefined;
  /** What was counted on each of the last so many days in UTC, the oldest first, today last. */
  days(key: KeyRecord, count: number): Promise<DayCount[]>;
}

export interface DayCount {
  readonly day: string;
  readonly count: number;
}

/** What this server knows of a key's use, whichever of its secrets is sent. */
interface Meter {
  readonly bucket: Bucket;
  /** After the last call that was counted here. */
  allowance: Allowance | undefined;
}

/**
 * Each repetition means that an operator changed something within the last milliseconds. Five were too few beside one
 * who sets a thousand overrides: of every sixteen calls one had a 500 (measured 2026-11-15).
 */
const CHANGING_MS = 700;

export function createAdmit(parts: { store: Store; clock: Clock; ticks?: Ticks | undefined }): Admit {
  const { store, clock, ticks = () => performance.now() } = parts;
  const keys = new LRUCache<string, OpenedKey>({ max: 10_000 });
  const meters = new LRUCache<string, Meter>({ max: 10_000 });

  function meterOf(key: KeyRecord): Meter {
    let meter = meters.get(key.id);
    if (!meter) {
      meter = { bucket: { tokens: Math.max(1, key.rate ?? 0), at: ticks() }, allowance: undefined };
      meters.set(key.id, meter);
    }
    return meter;
  }

  async function read(digest: string): Promise<OpenedKey | undefined> {
    const { key, revision } = await store.keyByDigest(digest);
    if (!key) {
      keys.delete(digest);
      return undefined;
    }
    const cached = openKey(key, revision);
    keys.set(digest, cached);
    return cached;
  }

  /** A cached record may admit, because the spend proves its revision; it may never refuse: that needs a fresh one. */
  function recall(digest: string, caller: Credentials): OpenedKey | undefined {
    const known = keys.get(digest);
    return known && keyRefusal(known, digest, caller, clock()) === undefined ? known : undefined;
  }

  async function inspect(secret: string, digest: string, caller: Credentials): Promise<OpenedKey | Refusal> {
    if (!isWellFormedSecret(secret)) return refuse('unauthorized');
    const cached = await read(digest);
    if (!cached) return refuse('unauthorized');
    return keyRefusal(cached, digest, caller, clock()) ?? cached;
  }

  async function readAllowance(key: KeyRecord): Promise<Allowance> {
    const month = monthOf(clock());
    return allowanceOf(key.quota, await store.used(key.id, month.name), month);
  }

  async function rateRefusal(key: KeyRecord, retryAfter: number): Promise<MeteredRefusal> {
    const detail = `limit: ${key.rate} calls per second`;
    const { allowance: last } = meterOf(key);
    // What the last counted call left is near enough here, and spares the store a read for each call of a flood.
    const isOfNow = last?.limit === key.quota && last.month === monthOf(clock());
    return {
      refused: 'rate_limited',
      detail,
      retryAfter,
      allowance: isOfNow ? last : await readAllowance(key),
    };
  }

  const spending: SpendingParts = { store, clock, ticks, recall, inspect, meterOf, rateRefusal };

  return {
    spend(caller, waiter) {
      const secret = secretOf(caller);
      if (secret === undefined) return waiter.resolve(refuse('unauthorized'));
      new Spending(spending, caller, secret, remembered(caller, secret), waiter).begin();
    },

    async enter(caller) {
      const secret = secretOf(caller);
      if (secret === undefined) return refuse('unauthorized');
      const passed = await inspect(secret, remembered(caller, secret), caller);
      if ('refused' in passed) return turnedAway(caller, passed);
      const { key, revision } = passed;
      return { key, revision, allowance: await readAllowance(key) };
    },

    known(authorization, address) {
      const secret = bearerSecret(authorization);
      const digest = secret === undefined ? undefined : digestOf(secret);
      const cached = digest && keys.peek(digest);
      // A secret that opens nothing any more must not fill the row of whoever has the new one.
      if (!cached || !isLive(cached.key, digest, clock())) return undefined;
      const { key, inNetwork } = cached;
      if (address !== undefined && key.networks.length > 0 && !inNetwork(address)) return undefined;
      return rowOf(key, address);
    },

    async days(key, count) {
      const days = lastDays(clock(), count);
      const used = new Map((await store.usageDays(days[0]!, key.id)).map(one => [one.day, one.used]));
      return days.map(day => ({ day, count: used.get(day) ?? 0 }));
    },
  };
}

/** What a call needs on its way in. */
interface SpendingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ticks: Ticks;
  recall(digest: string, caller: Credentials): OpenedKey | undefined;
  inspect(secret: string, digest: string, caller: Credentials): Promise<OpenedKey | Refusal>;
  meterOf(key: KeyRecord): Meter;
  rateRefusal(key: KeyRecord, retryAfter: number): Promise<MeteredRefusal>;
}

/**
 * One call that wants to be counted. Where its key is known it makes no promise on its way. Whatever goes wrong here is
 * told to the waiter: thrown at the store or out of a promise it would end the process for one call.
 */
class Spending implements Waiter<Spent> {
  readonly #parts: SpendingParts;
  readonly #caller: Credentials;
  readonly #secret: string;
  readonly #digest: string;
  readonly #waiter: Waiter<Passed>;
  #opened!: OpenedKey;
  #now = 0;
  #hasToken = false;
  /** Set when it is judged anew. */
  #until: number | undefined;

  constructor(
    parts: SpendingParts,
    caller: Credentials,
    secret: string,
    digest: string,
    waiter: Waiter<Passed>,
  ) {
    this.#parts = parts;
    this.#caller = caller;
    this.#secret = secret;
    this.#digest = digest;
    this.#waiter = waiter;
  }

  begin(): void {
    try {
      const known = this.#parts.recall(this.#digest, this.#caller);
      if (known) this.#count(known, true);
      else this.#read();
    } catch (error) {
      this.reject(error as Error);
    }
  }

  #read(): void {
    this.#parts
      .inspect(this.#secret, this.#digest, this.#caller)
      .then(opened => {
        if ('refused' in opened) this.#waiter.resolve(turnedAway(this.#caller, opened));
        else this.#count(opened, false);
      })
      .catch((error: Error) => this.reject(error));
  }

  #count(opened: OpenedKey, isRemembered: boolean): void {
    const { store, clock, ticks, meterOf } = this.#parts;
    const { key, revision } = opened;
    this.#opened = opened;
    if (key.rate !== null && !this.#hasToken) {
      const token = takeToken(meterOf(key).bucket, key.rate, ticks());
      if (!token.ok) return void this.#tooFast(token.retryAfter, isRemembered);
      this.#hasToken = true;
    }
    this.#now = clock();
    store.spend({ keyId: key.id, day: dayOf(this.#now), quota: key.quota }, revision, this);
  }

  /** A record that was remembered may not refuse: the key may have been changed or revoked since. */
  async #tooFast(retryAfter: number, isRemembered: boolean): Promise<void> {
    const { store, rateRefusal } = this.#parts;
    const { key, revision } = this.#opened;
    try {
      const isChanged = isRemembered && (await store.revision()) !== revision;
      if (isChanged) this.#judgeAnew();
      else this.#waiter.resolve(await rateRefusal(key, retryAfter));
    } catch (error) {
      this.reject(error as Error);
    }
  }

  #judgeAnew(): void {
    this.#until ??= performance.now() + CHANGING_MS;
    if (performance.now() < this.#until) this.#read();
    else this.reject(new StoreUnavailable(`the store changed again and again for ${CHANGING_MS} ms`));
  }

  resolve(spent: Spent): void {
    try {
      if (spent.outcome === 'changed') this.#judgeAnew();
      else this.#waiter.resolve(this.#passed(spent));
    } catch (error) {
      this.reject(error as Error);
    }
  }

  #passed({ outcome, used }: Exclude<Spent, { outcome: 'changed' }>): Passed {
    const { lastSecret, address } = this.#caller;
    const { key, revision } = this.#opened;
    const month = monthOf(this.#now);
    const allowance = allowanceOf(key.quota, used, month);
    if (key.rate !== null) this.#parts.meterOf(key).allowance = allowance;
    if (lastSecret.digest === this.#digest) lastSecret.row = rowOf(key, address);
    if (outcome === 'exhausted') return quotaRefusal(allowance, month, this.#now);
    return { key, revision, allowance };
  }

  reject(error: Error): void {
    this.#waiter.reject(error);
  }
}
