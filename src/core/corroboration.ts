/** How much the lists' word is worth: what one stranger can write may warn, it takes more to block. */

import type { Family } from './feed.ts';
import type { Mail } from './mail.ts';

/** What is known of a listed name without asking DNS. */
export interface Listed {
  readonly families: ReadonlySet<Family>;
  /** For how many days its feeds have named it. */
  readonly namedDays: number;
  /** Only rotating lists have named it, and none shows it any more: it may have gone, or have been taken back. */
  readonly left: boolean;
  /** Its registrable domain is one of the panel, or consumer webmail by our own tables. */
  readonly popular: boolean;
  /**
   * Only a public suffix above it is named, below which strangers register: one that gives names away, or one of a
   * registry, of a profession, of a town, of a hosting company.
   */
  readonly byItsSuffix: 'free' | 'registry' | undefined;
}

/** What DNS adds. */
export interface Received {
  readonly mail: Mail;
  /** Every exchange belongs to a business platform or a gateway (`platform`), or to these and to hosts of its own. */
  readonly settled: 'platform' | 'own' | undefined;
  /** Whether no answer is the name's own fault, since others are answered; trouble of ours or of a resolver never counts. */
  readonly silent: boolean;
}

/** A name is new for so long: an error in a list is mostly found within a month. */
export const NEW_DAYS = 30;

export type Weight =
  | 'verified'
  | 'popular'
  | 'two_families'
  | 'registry'
  | 'one_family'
  | 'unanswered'
  | 'left'
  | 'new';

/** The only listed names whose verdict waits for DNS: one family's word, and a new one. */
export function waitsForDns(listed: Listed): boolean {
  return isNew(listed) && !listed.left && !listed.byItsSuffix;
}

function isNew({ families, namedDays, popular }: Listed): boolean {
  return families.size === 1 && !families.has('verified') && !popular && namedDays < NEW_DAYS;
}

/**
 * Whoever looked at a suffix did not look at the names below it: what many people use is innocent there, and most others
 * too where names are not given away.
 */
export function isVerified(listed: Listed): boolean {
  const { families, popular, byItsSuffix } = listed;
  return families.has('verified') && !(popular && byItsSuffix) && !isByOneLine(listed);
}

/** notaires.fr, seattle.wa.us, github.io: one line would block all who are there (2026-11-17). */
const isByOneLine = ({ families, byItsSuffix }: Listed) => byItsSuffix === 'registry' && families.size === 1;

/**
 * The first that holds. Companies on the large platforms are what a poisoned list hits and what hardly any disposable
 * service uses; hosts of their own are more common among these, so there only a broad feed's word is doubted: what was
 * seen in abuse was seen. One new line must not block all who registered below a suffix. A name whose servers do not
 * answer is no such company. What a rotating list named for days and took back must not block for as long as such names
 * are kept.
 */
export function weigh(listed: Listed, { mail, settled, silent }: Received): Weight {
  const { families, popular } = listed;
  if (isVerified(listed)) return 'verified';
  if (popular) return 'popular';
  if (families.size > 1) return 'two_families';
  if (isByOneLine(listed)) return 'registry';
  if (!isNew(listed)) return 'one_family';
  if (listed.left) return 'left';
  if (listed.byItsSuffix) return 'new';
  if (mail.state === 'unknown') return silent ? 'unanswered' : 'new';
  if (settled === 'platform' || (settled === 'own' && families.has('broad'))) return 'new';
  return 'one_family';
}
