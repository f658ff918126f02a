/** VERB 1: key → origin → rate → quota. A call gets an Admission, counted durably, or a Refusal without effect. */

import { LRUCache } from 'lru-cache';
import { bearerToken, digestOf, isLive, isWellFormedSecret, type KeyRecord } from './core/key.ts';
import { networkMatcher, originAllowed } from './core/origin.ts';
import type { Clock, Store } from './core/ports.ts';
import { type Allowance, allowanceOf, type Month, monthOf, secondsLeft } from './core/quota.ts';
import { type Bucket, takeToken } from './core/rate.ts';
import { type Refusal, refuse } from './core/refusal.ts';

/** What a request shows at the door. Repeated headers arrive joined by ", " and so match nothing. */
export interface Caller {
  readonly authorization: string | undefined;
  readonly origin: string | undefined;
  readonly address: string;
}

export interface Admission {
  readonly key: KeyRecord;
  /** The revision of keys and overrides that this call was judged under. */
  readonly revision: number;
  readonly allowance: Allowance;
}

/** A 429 for a used-up quota still tells the quota. */
export interface QuotaRefusal extends Refusal {
  readonly refused: 'quota_exceeded';
  readonly allowance: Allowance;
}

export interface Admit {
  /** Counts the call. Rejects with StoreUnavailable when the count cannot be confirmed. */
  spend(caller: Caller): Promise<Admission | QuotaRefusal | Refusal>;
  /** The same door without counting: for what a key may ask about itself. */
  enter(caller: Caller): Promise<Admission | Refusal>;
}

interface CachedKey {
  readonly key: KeyRecord;
  readonly revision: number;
  readonly inNetwork: (address: string) => boolean;
  readonly bucket: Bucket;
}

/** Each repetition means that an operator changed something within the last milliseconds. */
const MOST_ATTEMPTS = 5;

export function createAdmit(parts: { store: Store; clock: Clock }): Admit {
  const { store, clock } = parts;
  const keys = new LRUCache<string, CachedKey>({ max: 10_000 });

  async function read(digest: string): Promise<CachedKey | undefined> {
    const { key, revision } = await store.keyByDigest(digest);
    if (!key) {
      keys.delete(digest);
      return undefined;
    }
    const bucket = keys.get(digest)?.bucket ?? { tokens: Math.max(1, key.rate ?? 0), at: clock() };
    const cached = { key, revision, inNetwork: networkMatcher(key.networks), bucket };
    keys.set(digest, cached);
    return cached;
  }

  /** A cached record may admit, because the spend proves its revision; it may never refuse: that needs a fresh one. */
  async function pass(
    caller: Caller,
    mustRead: boolean,
  ): Promise<{ digest: string; cached: CachedKey } | Refusal> {
    const secret = caller.authorization === undefined ? undefined : bearerToken(caller.authorization);
    if (secret === undefined) return refuse('unauthorized');
    const digest = digestOf(secret);
    const known = mustRead ? undefined : keys.get(digest);
    if (known && refusalOf(known, digest, caller, clock()) === undefined) return { digest, cached: known };
    if (!isWellFormedSecret(secret)) return refuse('unauthorized');
    const cached = await read(digest);
    if (!cached) return refuse('unauthorized');
    return refusalOf(cached, digest, caller, clock()) ?? { digest, cached };
  }

  return {
    async spend(caller) {
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        const passed = await pass(caller, attempt > 0);
        if ('refused' in passed) return passed;
        const { key, revision, bucket } = passed.cached;
        const now = clock();
        if (key.rate !== null && attempt === 0) {
          const token = takeToken(bucket, key.rate, now);
          if (!token.ok)
            return refuse('rate_limited', `limit: ${key.rate} calls per second`, token.retryAfter);
        }
        const month = monthOf(now);
        const spent = await store.spend({ keyId: key.id, month: month.name, quota: key.quota }, revision);
        if (spent.outcome === 'changed') continue;
        const allowance = allowanceOf(key.quota, spent.used, month);
        if (spent.outcome === 'exhausted') return quotaRefusal(allowance, month, now);
        return { key, revision, allowance };
      }
      throw new Error(`the store changed ${MOST_ATTEMPTS} times during one call`);
    },

    async enter(caller) {
      const passed = await pass(caller, true);
      if ('refused' in passed) return passed;
      const { key, revision } = passed.cached;
      const month = monthOf(clock());
      return {
        key,
        revision,
        allowance: allowanceOf(key.quota, await store.used(key.id, month.name), month),
      };
    },
  };
}

function quotaRefusal(allowance: Allowance, month: Month, now: number): QuotaRefusal {
  const detail = `quota: ${allowance.limit} calls per month, used up`;
  return { refused: 'quota_exceeded', detail, retryAfter: secondsLeft(month, now), allowance };
}

function refusalOf(cached: CachedKey, digest: string, caller: Caller, now: number): Refusal | undefined {
  const { key } = cached;
  if (!isLive(key, digest, now)) return refuse('unauthorized');
  if (key.origins.length > 0) {
    if (caller.origin === undefined) {
      return refuse('forbidden', 'this key is limited to web origins and the request has no Origin header');
    }
    if (!originAllowed(key.origins, caller.origin)) {
      return refuse(
        'forbidden',
        `the origin ${JSON.stringify(caller.origin.slice(0, 200))} is not allowed for this key`,
      );
    }
  }
  if (key.networks.length > 0 && !cached.inNetwork(caller.address)) {
    return refuse('forbidden', `the client address ${caller.address} is not in the networks of this key`);
  }
  return undefined;
}
