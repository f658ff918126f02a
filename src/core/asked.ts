/** Names that callers asked for lately: what a new version of a list is tried on. Never shown to callers. */

import { hashOf } from './guest.ts';

export interface AskedNames {
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** Whichever server, or worker of one, was asked. */
  readonly server: string;
  /** Parted by spaces; a `!` before those that are flagged as disposable. */
  readonly names: string;
}

/** Of one server on one day: 200 kB. Of longer names there are fewer. */
export const MOST_NAMES = 10_000;
export const CHARACTERS = 20;
export const KEPT_DAYS = 14;
/**
 * So many characters of each day are read for an update, of all servers and workers the same share: ten whole ones, 28 MB
 * in all. With four whole ones and none of the others, half of what eight workers were asked was tried by nobody
 * (2026-11-17); with as many characters of each, a server that was started 20 times on a day had 2,515 of its 9,000 names
 * tried (2026-11-18).
 */
export const MOST_READ = 2_000_000;
/**
 * Of all days together, those of the newest first: of what an update touches, not of all that was asked for. Beside those
 * that may be established, of which there are no more: one line of a list touches any number of names below it, and 10,000
 * of these in two days at each of 16 workers had 40 companies tried by nobody (2026-11-18).
 */
const MOST_TRIED = 200_000;
/** By these they are told apart before they are taken; two names in one take a place more at the most. */
const SLOTS = 2 ** 20;

/**
 * On so many days a name was asked for and safe. Half of those that are kept: most disposable names are listed sooner, and
 * with three days whoever has six of them asked for could hold back the list that is about to name them.
 */
const ESTABLISHED_DAYS = 7;

/** Names of which a share is read, a space behind each: the last one of a text that was cut is not whole. */
export const wholeOf = (text: string): string => text.slice(0, Math.max(0, text.lastIndexOf(' ')));

/** So many places in a row of names. */
export const ORDERS = 256;

/**
 * The place of a name, the same for all servers on all days: where only a share of each row is read, those are the same
 * names every day, and what is asked for on seven of them is known to be.
 */
export const orderOf = (name: string): number => hashOf(name) % ORDERS;

export interface Asked {
  /** On the newest day on which it was asked for, wherever it was. */
  readonly isFlagged: boolean;
  /** One day on which it was flagged, by a version that an operator went back from, takes none of the others away. */
  readonly isEstablished: boolean;
}

const bitsIn = (days: number): number => {
  let count = 0;
  for (let left = days; left !== 0; left &= left - 1) count++;
  return count;
};

/** Each name that is tried, on each day, the newest as 0. */
function* triedIn(rows: readonly AskedNames[], isTried: (name: string) => boolean) {
  const days = [...new Set(rows.map(({ day }) => day))].sort().reverse().slice(0, KEPT_DAYS);
  for (const { day, names } of rows) {
    const at = days.indexOf(day);
    if (at === -1) continue;
    for (const text of names.split(' ')) {
      const name = text.replace('!', '');
      if (name !== '' && isTried(name)) yield { name, at, isSafe: text === name };
    }
  }
}

/** By name one bit for each day, the newest first: those on which it was safe, and `KEPT_DAYS` further those it was flagged on. */
function daysIn(rows: readonly AskedNames[], isTried: (name: string) => boolean): Map<string, number> {
  const safe = new Uint16Array(SLOTS);
  for (const { name, at, isSafe } of triedIn(rows, isTried))
    if (isSafe) safe[hashOf(name) % SLOTS]! |= 1 << at;
  const seen = new Map<string, number>();
  let others = 0;
  for (const { name, at, isSafe } of triedIn(rows, isTried)) {
    const before = seen.get(name);
    const isOther = before === undefined && bitsIn(safe[hashOf(name) % SLOTS]!) < ESTABLISHED_DAYS;
    if (isOther && ++others > MOST_TRIED) continue;
    seen.set(name, (before ?? 0) | (1 << (isSafe ? at : KEPT_DAYS + at)));
  }
  return seen;
}

const ALL_DAYS = 2 ** KEPT_DAYS - 1;

/**
 * Of names that are tried. Where all counted, those of ten workers that one key asked for 10,000 names of its own a day
 * were all of the last two days: what others asked for before was tried by nobody (2026-11-18).
 */
export function askedIn(
  rows: readonly AskedNames[],
  isTried: (name: string) => boolean = () => true,
): Map<string, Asked> {
  const asked = new Map<string, Asked>();
  for (const [name, bits] of daysIn(rows, isTried)) {
    const safe = bits & ALL_DAYS;
    const any = safe | (bits >>> KEPT_DAYS);
    const newest = any & -any;
    asked.set(name, { isFlagged: (safe & newest) === 0, isEstablished: bitsIn(safe) >= ESTABLISHED_DAYS });
  }
  return asked;
}
