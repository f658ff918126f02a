/** Whose turn a request takes, told from its bytes before anybody has parsed them. */

import { networkOf } from '../core/address.ts';
import type { LastSecret } from '../core/door.ts';
import type { Caller } from './accounts.ts';
import { authorizationIn, copied, hasSameFields, isProbe } from './bytes.ts';

/** In which row calls with an Authorization header wait, where their key is known from before. */
export type RowOf = (authorization: string, address: string | undefined) => string | undefined;

/** A request of so many bytes is not kept to be compared with the next. */
const MOST_KEPT = 1_024;

/** For one connection. */
export class Whose {
  readonly #network: string;
  readonly #rowOf: (authorization: string) => string | undefined;
  /** The last request that waited with a key, and its Authorization line. */
  #before: { readonly bytes: Buffer; readonly authorization: string } | undefined;

  constructor(address: string, isProxy: boolean, rowOf: RowOf) {
    this.#network = networkOf(address);
    this.#rowOf = authorization => rowOf(authorization, isProxy ? undefined : address);
  }

  /** `begins`: bytes that begin a request; what belongs to one that has begun is the turn of whoever sent that. */
  of(begins: Buffer | undefined, { authorization, row }: LastSecret): Caller {
    if (begins && isProbe(begins)) return { name: `probe ${this.#network}`, kind: 'probe' };
    const sent = begins ? this.#sentIn(begins) : authorization;
    const known = sent === authorization ? row : sent && this.#rowOf(sent);
    return known === undefined ? { name: this.#network, kind: 'stranger' } : { name: known, kind: 'key' };
  }

  #sentIn(bytes: Buffer): string | undefined {
    if (this.#before && hasSameFields(bytes, this.#before.bytes)) return this.#before.authorization;
    const authorization = authorizationIn(bytes);
    if (authorization && bytes.length < MOST_KEPT) this.#before = { bytes: copied(bytes), authorization };
    return authorization;
  }
}
