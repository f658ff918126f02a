/** Who sends a call, before anybody knows its key: for what one key may have at a time, and the addresses that share that. */

import { networkOf } from '../core/address.ts';
import { clientAddress } from '../core/origin.ts';
import type { Call } from './call.ts';

const SCHEME_LENGTH = 'Bearer '.length;

export interface Sender {
  /** What it shows at the door, the scheme apart, which can be spelled in many ways. */
  readonly key: string;
  /** A key of a web page is no secret of one sender: no address takes from the others what belongs to the key. */
  readonly network: string;
}

export function senderOf({ head, connection }: Call, isTrustedProxy: (address: string) => boolean): Sender {
  const key = head.authorization?.slice(SCHEME_LENGTH) ?? '';
  return { key, network: networkOf(clientAddress(connection.address, head.forwardedFor, isTrustedProxy)) };
}
