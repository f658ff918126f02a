/** Whose turn a request takes, told from its bytes before anybody has parsed them. */

import { networkOf } from '../core/address.ts';
import type { LastSecret } from '../core/door.ts';
import { bearerSecret, isWellFormedSecret } from '../core/key.ts';
import { clientAddress } from '../core/origin.ts';
import { type Caller, keyIn } from './accounts.ts';
import { copied, fieldIn, fieldsOf, hasSameFields, isCall, isPreflight } from './bytes.ts';
import { isProbe } from './plain-fields.ts';

/** In which row calls with an Authorization header wait, where their key is known from before and would let them in. */
export type RowOf = (
  authorization: string,
  address: string | undefined,
  origin: () => string | undefined,
) => string | undefined;

/** A request of so many bytes is not kept to be compared with the next. */
const MOST_KEPT = 1_024;

/** For one connection. */
export class Whose {
  readonly #address: string;
  readonly #rowOf: RowOf;
  /** There where the peer is a trusted proxy itself, and speaks for others. */
  readonly #isTrusted: ((address: string) => boolean) | undefined;
  /** Of the last request that waited with a key, without its target: that may hold somebody's address. */
  #before: { readonly bytes: Buffer; readonly sent: Sent } | undefined;

  constructor(address: string, rowOf: RowOf, isTrusted?: (address: string) => boolean) {
    this.#address = address;
    this.#rowOf = rowOf;
    this.#isTrusted = isTrusted;
  }

  /** The key of the last request that waited, where it is known. */
  payer: string | undefined;

  /**
   * `begins`: bytes that begin a request; what belongs to one that has begun is the turn of whoever sent that. `isDear`:
   * whatever it is, Node's parser has to read it.
   */
  of(begins: Buffer | undefined, { authorization, row }: LastSecret, isDear = false): Caller {
    const sent = begins ? this.#sentIn(begins) : { authorization, client: this.#address };
    if (begins && !isDear && isProbe(begins))
      return { name: `probe ${networkOf(sent.client)}`, kind: 'probe' };
    // Behind a proxy the next call may be somebody else's.
    const isSame = sent.authorization === authorization && (!begins || !this.#isTrusted);
    const known = isSame ? row : this.#knownRow(begins!, sent);
    const caller = known === undefined ? undefined : keyIn(known);
    this.payer = caller?.name;
    if (caller) return caller;
    const name = networkOf(sent.client);
    // A browser asks whether it may send the key of its page before it does (CORS preflight).
    const isClaiming = begins
      ? isCall(begins) && (isPreflight(begins) || isClaim(sent.authorization))
      : isClaim(sent.authorization);
    return isClaiming ? { name: `claim ${name}`, kind: 'claim' } : { name, kind: 'stranger' };
  }

  #knownRow(begins: Buffer, { authorization, client }: Sent): string | undefined {
    return authorization && this.#rowOf(authorization, client, () => fieldIn(begins, 'origin'));
  }

  #sentIn(bytes: Buffer): Sent {
    if (this.#before && hasSameFields(bytes, this.#before.bytes)) return this.#before.sent;
    const client = this.#isTrusted
      ? clientAddress(this.#address, fieldIn(bytes, 'x-forwarded-for'), this.#isTrusted)
      : this.#address;
    const sent = { authorization: fieldIn(bytes, 'authorization'), client };
    if (sent.authorization && bytes.length < MOST_KEPT)
      this.#before = { bytes: copied(fieldsOf(bytes)), sent };
    return sent;
  }
}

function isClaim(authorization = ''): boolean {
  const secret = bearerSecret(authorization);
  return secret !== undefined && isWellFormedSecret(secret);
}

/** What tells whose a request is. */
interface Sent {
  readonly authorization: string | undefined;
  readonly client: string;
}
