/** The operators' token: never kept itself, only a comparison with it. */

import { hash, timingSafeEqual } from 'node:crypto';
import { bad, type Checked, good } from './checked.ts';

const digestOf = (text: string) => hash('sha256', text, 'buffer');

/** Gives a comparison, so that the token itself goes no further; of digests, so that it takes the same time always. */
export function parseToken(text: string): Checked<((sent: string) => boolean) | undefined> {
  if (text === '') return good(undefined);
  const isLongEnough = text.length >= 32 && text.length <= 1000;
  if (!isLongEnough || !/^[!-~]+$/.test(text) || text.startsWith('drk_'))
    return bad(
      'must be 32 characters or more, printable ASCII without spaces, and no API key; make one with: openssl rand -hex 32',
    );
  const digest = digestOf(text);
  return good(sent => timingSafeEqual(digestOf(sent), digest));
}
