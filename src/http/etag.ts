/** Tags of what is sent (RFC 9110 8.8.3), and whether a caller has it already. */

import { hash } from 'node:crypto';

const LENGTH = 22;

/** Of a whole SHA-256 in base64url: 132 of its bits tell enough. */
export const shortTag = (digest: string) => digest.slice(0, LENGTH);

/** Of what the bytes say, so that all servers and workers give the same. */
export const contentTag = (bytes: Buffer | string) => shortTag(hash('sha256', bytes, 'base64url'));

/** RFC 9110 13.1.2: weak comparison, any of the listed tags or `*`. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*');
}
