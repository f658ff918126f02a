/** Whether a key lets a request in, and in which row its calls wait when not all can be served. */

import { networkOf } from './address.ts';
import { isLive, type KeyRecord } from './key.ts';
import { networkMatcher, originAllowed } from './origin.ts';
import { type Refusal, refuse } from './refusal.ts';

/** A key as it was read, ready to be held against requests. */
export interface OpenedKey {
  readonly key: KeyRecord;
  readonly revision: number;
  readonly inNetwork: (address: string) => boolean;
}

export function openKey(key: KeyRecord, revision: number): OpenedKey {
  return { key, revision, inNetwork: networkMatcher(key.networks) };
}

/** Where a request comes from. */
interface Shown {
  readonly origin: string | undefined;
  readonly address: string;
}

export function refusalOf(
  opened: OpenedKey,
  digest: string,
  caller: Shown,
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
 * must not fill the row of those whom it is for.
 */
export function rowOf({ id, origins, networks }: KeyRecord, address: string | undefined): string {
  const isBound = origins.length > 0 || networks.length > 0;
  return isBound && address !== undefined ? `${id} ${networkOf(address)}` : id;
}
