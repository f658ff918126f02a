/** The table of columns, of verdicts that were given: as in columns.ts. */

import type { Flag, FlagReason, Ranked } from '../core/ranking.ts';
import { later, orNull, text, whole, word, yesNo } from './codecs.ts';
import { shape, table } from './table.ts';

interface KeptFlag extends Flag {
  /** How many keys' flags of that day are in it, all but its own of other keys; null where it is one. */
  readonly times: number | null;
}

const KEY = ['domain', 'day', 'keyId'] as const;
const CODECS = {
  day: text,
  domain: text,
  keyId: text,
  listed: yesNo,
  reason: word<FlagReason>(),
  score: whole,
};

export const FLAG = table<KeptFlag>('flag', KEY, { ...CODECS, times: later(orNull(whole)) });
/** As it is given; what it has gathered stays. */
export const GIVEN_FLAG = table<Flag>('flag', KEY, CODECS);

/** Not kept but made of flags. */
export const RANKED = shape<Ranked>({
  domain: text,
  times: whole,
  listed: yesNo,
  reason: word<FlagReason>(),
  score: whole,
  lastDay: text,
});
