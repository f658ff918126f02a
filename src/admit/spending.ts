/** One call on its way in: judged by what is known of its key, counted, and judged anew where that has changed. */

import {
  type Credentials,
  letIn,
  type OpenedKey,
  type Passed,
  quotaRefusal,
  turnedAway,
} from '../core/door.ts';
import { type Clock, type Spent, type Store, StoreUnavailable, type Waiter } from '../core/ports.ts';
import { allowanceOf, dayOf, monthOf } from '../core/quota.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Meters } from './meters.ts';

/**
 * Each repetition means that an operator changed something within the last milliseconds. Five were too few beside one
 * who sets a thousand overrides: of every sixteen calls one had a 500 (measured 2026-11-15).
 */
const CHANGING_MS = 700;

/** What a call needs on its way in. */
export interface SpendingParts {
  readonly store: Store;
  readonly clock: Clock;
  recall(digest: string, caller: Credentials): OpenedKey | undefined;
  inspect(secret: string, digest: string, caller: Credentials): Promise<OpenedKey | Refusal>;
  readonly meters: Meters;
}

/** What is to be counted, and for whom. */
interface Wish {
  readonly caller: Credentials;
  readonly secret: string;
  readonly digest: string;
  readonly names: number;
}

/**
 * One call that wants to be counted. Where its key is known it makes no promise on its way. Whatever goes wrong here is
 * told to the waiter: thrown at the store or out of a promise it would end the process for one call.
 */
export class Spending implements Waiter<Spent> {
  readonly #parts: SpendingParts;
  readonly #caller: Credentials;
  readonly #secret: string;
  readonly #digest: string;
  readonly #names: number;
  readonly #waiter: Waiter<Passed>;
  #opened!: OpenedKey;
  #now = 0;
  #hasToken = false;
  /** Set when it is judged anew. */
  #until: number | undefined;

  constructor(parts: SpendingParts, wish: Wish, waiter: Waiter<Passed>) {
    this.#parts = parts;
    this.#caller = wish.caller;
    this.#secret = wish.secret;
    this.#digest = wish.digest;
    this.#names = wish.names;
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
    const { store, clock, meters } = this.#parts;
    const { key, revision } = opened;
    this.#opened = opened;
    if (key.rate !== null && !this.#hasToken) {
      const token = meters.takeToken(key, key.rate);
      if (!token.ok) return void this.#tooFast(token.retryAfter, isRemembered);
      this.#hasToken = true;
    }
    this.#now = clock();
    const spend = { keyId: key.id, day: dayOf(this.#now), quota: key.quota, names: this.#names };
    store.spend(spend, revision, this);
  }

  /** A record that was remembered may not refuse: the key may have been changed or revoked since. */
  async #tooFast(retryAfter: number, isRemembered: boolean): Promise<void> {
    const { store, meters } = this.#parts;
    const { key, revision } = this.#opened;
    try {
      const isChanged = isRemembered && (await store.revision()) !== revision;
      if (isChanged) this.#judgeAnew();
      else this.#waiter.resolve(await meters.rateRefusal(key, retryAfter));
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
    const { key, revision } = this.#opened;
    const month = monthOf(this.#now);
    const allowance = allowanceOf(key.quota, used, month);
    this.#parts.meters.counted(key, allowance);
    letIn(this.#caller, this.#digest, key);
    if (outcome === 'exhausted') return quotaRefusal(allowance, month, this.#now, this.#names);
    return { key, revision, allowance };
  }

  reject(error: Error): void {
    this.#waiter.reject(error);
  }
}
