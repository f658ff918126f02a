/** Whose turn a request takes, told from its bytes before anybody has parsed them. */

import type { Memory } from '../admit.ts';
import type { Caller } from './accounts.ts';
import { authorizationIn, hasSameFields, isProbe } from './bytes.ts';

/** The id of the key that an Authorization header holds, where it is known from before. */
export type KeyOf = (authorization: string) => string | undefined;

/** A request of so many bytes is not kept to be compared with the next. */
const MOST_KEPT = 1_024;

/** For one connection. */
export class Whose {
  readonly #network: string;
  readonly #keyOf: KeyOf;
  /** The last request that waited, where it was a known key's. */
  #before: { readonly bytes: Buffer; readonly caller: Caller } | undefined;

  constructor(network: string, keyOf: KeyOf) {
    this.#network = network;
    this.#keyOf = keyOf;
  }

  /** `begins`: bytes that begin a request; what belongs to one that has begun is the turn of whoever sent that. */
  of(begins: Buffer | undefined, { authorization, keyId }: Memory): Caller {
    if (begins && isProbe(begins)) return { name: `probe ${this.#network}`, kind: 'probe' };
    if (begins && this.#before && hasSameFields(begins, this.#before.bytes)) return this.#before.caller;
    const sent = begins ? authorizationIn(begins) : authorization;
    const known = sent === authorization ? keyId : sent && this.#keyOf(sent);
    if (known === undefined) return { name: this.#network, kind: 'stranger' };
    const caller: Caller = { name: known, kind: 'key' };
    if (begins && begins.length < MOST_KEPT) this.#before = { bytes: begins, caller };
    return caller;
  }
}
