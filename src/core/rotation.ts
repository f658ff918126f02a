/** A new secret for a key: what becomes of the old ones, and which they were. */

import type { KeyRecord } from './key.ts';
import type { Problem } from './problem.ts';
import { toSecond } from './quota.ts';

/** What a key has of its secrets. */
export type Secrets = Pick<
  KeyRecord,
  'digest' | 'prefix' | 'last4' | 'previousDigest' | 'previousUntil' | 'former'
>;

export function secretsOf({
  digest,
  prefix,
  last4,
  previousDigest,
  previousUntil,
  former,
}: KeyRecord): Secrets {
  return { digest, prefix, last4, previousDigest, previousUntil, former };
}

/** With the secret of a fresh key in place of its own. The old secret stays valid until then; null: not at all. */
export function rotated(before: KeyRecord, fresh: KeyRecord, until: number | null): Secrets {
  const { digest, prefix, last4 } = fresh;
  const former = mostFormer([...formerOf(before), before.digest]);
  const previousDigest = until === null ? null : before.digest;
  return { digest, prefix, last4, previousDigest, previousUntil: until, former };
}

/** In seconds, a leap year: an old secret that never ends is no rotation. */
export const LONGEST_OVERLAP = 366 * 86_400;

export interface Rotation {
  /** So many milliseconds the old secret stays valid. */
  readonly overlap: number;
  /** Also where the one before it has an overlap that still runs: there is room for one. */
  readonly endsPrevious?: boolean | undefined;
}

/** Whoever wants an overlap has callers that he gave one before, and was told until when. */
export function rotation(
  before: KeyRecord,
  fresh: KeyRecord,
  { overlap, endsPrevious = false }: Rotation,
  now: number,
): Secrets | Problem {
  const { previousUntil } = before;
  if (overlap > 0 && !endsPrevious && isRunning(previousUntil, now))
    return {
      problem: 'overlapping',
      detail: `the secret before is valid until ${toSecond(previousUntil)}, and a new overlap would end it now: wait until then, or say that it may end`,
    };
  return rotated(before, fresh, overlap > 0 ? now + overlap : null);
}

const isRunning = (until: number | null, now: number): until is number => until !== null && until > now;

/** For the audit. */
export function rotationInWords(before: KeyRecord, { previousUntil }: KeyRecord, now: number): string {
  const old = previousUntil === null ? 'ends at once' : `stays valid until ${toSecond(previousUntil)}`;
  const ended = endedBy(before, now);
  const and = ended === null ? '' : `; the one before it, valid until ${toSecond(ended)}, ends at once`;
  return `the old secret ${old}${and}`;
}

/** Until when a secret would have been valid that a rotation ends now; null where there is none. */
export function endedBy({ previousUntil }: KeyRecord, now: number): number | null {
  return isRunning(previousUntil, now) ? previousUntil : null;
}

/** A version that does not note them keeps the last one, where it had an overlap. */
function formerOf({ former, previousDigest }: KeyRecord): readonly string[] {
  return [...(former ?? []), ...(previousDigest === null ? [] : [previousDigest])];
}

/** Kept of each key, so that a restore knows them. */
const MOST_FORMER = 32;

/** Each once. The first one always stays: it is what FIRST_KEY names, wherever that is still set. */
export function mostFormer(digests: readonly string[]): readonly string[] {
  const [first, ...others] = new Set(digests);
  return first === undefined ? [] : [first, ...others.slice(1 - MOST_FORMER)];
}

/** Whether this was the key's secret until it was given another one, with an overlap or not. */
export function hadBefore(key: KeyRecord, digest: string): boolean {
  return formerOf(key).includes(digest);
}
