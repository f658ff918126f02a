/** What a request shows at the door, whether a key lets it in, and in which row its calls wait when not all can be served. */

import { networkOf } from './address.ts';
import { bearerSecret, digestOf, isLive, type KeyRecord } from './key.ts';
import { networkMatcher, originAllowed } from './origin.ts';
import { type Allowance, type Month, secondsLeft } from './quota.ts';
import { type Refusal, refuse } from './refusal.ts';

/** What a request shows at the door. Repeated headers arrive joined by ", " and so match nothing. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly origin: string | undefined;
  readonly address: string;
  /** What is known from the call before over the same connection. */
  readonly lastSecret: LastSecret;
}

/** The digest of the last secret that came over a connection, and where its calls wait: most bring only one. */
export interface LastSecret {
  authorization: string | undefined;
  digest: string;
  /** Undefined where the last call was not let in: it waits among strangers from then on. */
  row: string | undefined;
}

export const newLastSecret = (): LastSecret => ({ authorization: undefined, digest: '', row: undefined });

export interface Admission {
  readonly key: KeyRecord;
  /** The revision of keys and overrides that this call was judged under. */
  readonly revision: number;
  readonly allowance: Allowance;
}

/** A 429 tells the quota, be it used up or not. */
export interface MeteredRefusal extends Refusal {
  readonly refused: 'quota_exceeded' | 'rate_limited';
  readonly allowance: Allowance;
}

/** What comes of a call at the door. */
export type Passed = Admission | MeteredRefusal | Refusal;

/** A key as it was read, ready to be held against requests. */
export interface OpenedKey {
  readonly key: KeyRecord;
  readonly revision: number;
  readonly inNetwork: (address: string) => boolean;
}

export function openKey(key: KeyRecord, revision: number): OpenedKey {
  return { key, revision, inNetwork: networkMatcher(key.networks) };
}

export function keyRefusal(
  opened: OpenedKey,
  digest: string,
  caller: Pick<Credentials, 'origin' | 'address'>,
  now: number,
): Refusal | undefined {
  const { key, inNetwork } = opened;
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
  if (key.networks.length > 0 && !inNetwork(caller.address)) {
    return refuse('forbidden', `the client address ${caller.address} is not in the networks of this key`);
  }
  return undefined;
}

/**
 * The key's own; a key of a web page is no secret, and a key of some networks may be one no longer: whoever else sends it
 * must not fill the row of those whom it is for, so each network has a place of its own in the key's row.
 */
export function rowOf({ id, origins, networks }: KeyRecord, address: string | undefined): string {
  const isBound = origins.length > 0 || networks.length > 0;
  return isBound && address !== undefined ? `${id} ${networkOf(address)}` : id;
}

export function secretOf({ authorization }: Credentials): string | undefined {
  return authorization === undefined ? undefined : bearerSecret(authorization);
}

/** A digest takes 2.7 µs, of a call of 80 (2026-11-15). */
export function remembered({ authorization, lastSecret }: Credentials, secret: string): string {
  if (lastSecret.authorization !== authorization) {
    lastSecret.authorization = authorization;
    lastSecret.digest = digestOf(secret);
    lastSecret.row = undefined;
  }
  return lastSecret.digest;
}

/** What else comes over its connection waits in the row of this key, until another one is sent. */
export function letIn({ lastSecret, address }: Credentials, digest: string, key: KeyRecord): void {
  if (lastSecret.digest === digest) lastSecret.row = rowOf(key, address);
}

export function turnedAway({ lastSecret }: Credentials, refusal: Refusal): Refusal {
  lastSecret.row = undefined;
  return refusal;
}

export function quotaRefusal(allowance: Allowance, month: Month, now: number, names: number): MeteredRefusal {
  const { limit, remaining } = allowance;
  const left = remaining ? `${remaining} left for ${names} names` : 'used up';
  const detail = `quota: ${limit} calls per month, ${left}`;
  return { refused: 'quota_exceeded', detail, retryAfter: secondsLeft(month, now), allowance };
}
