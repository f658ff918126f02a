/** The key that filters are signed with (Ed25519): kept as base64 of its PKCS #8 form, shown to clients as 32 bytes. */

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { type Change, changeOf, type Written } from './restored.ts';

export interface SigningRow {
  readonly id: number;
  readonly secret: string;
}

/** Of a public key's DER form, SubjectPublicKeyInfo (RFC 8410): the key itself is at its end. */
const KEY_BYTES = 32;

export function signingKeyOf(secret: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'pkcs8' });
}

/** In base64, as clients verify with it. */
export function publicKeyOf(secret: string): string {
  const der = createPublicKey(signingKeyOf(secret)).export({ format: 'der', type: 'spki' });
  return der.subarray(-KEY_BYTES).toString('base64');
}

/**
 * The backup's goes back in the place of another: clients were given its other half. A new store makes one of its own
 * when the first client asks, which may be before it is restored.
 */
export function signingAgain(
  present: readonly SigningRow[],
  old: readonly SigningRow[],
): Written<SigningRow>[] {
  const [was, record] = [present[0], old[0]];
  if (!was || !record || was.secret === record.secret) return [];
  const change: Change = changeOf(
    'store.restore',
    'filter key',
    `the filter is signed with the key of the backup again, ${publicKeyOf(record.secret)}; clients that verify with ${publicKeyOf(was.secret)} no longer use it`,
  );
  return [{ record, change }];
}
