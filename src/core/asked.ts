/** Names that callers asked for lately: what a new version of a list is tried on. Never shown to callers. */

export interface AskedNames {
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** Whichever server, or worker of one, was asked. */
  readonly server: string;
  /** Parted by spaces; a `!` before those that are flagged as disposable. */
  readonly names: string;
}

/** Of one server on one day: 200 kB. */
export const MOST_NAMES = 10_000;
export const KEPT_DAYS = 14;
/** So many servers of each day are read for an update: 11 MB. By the newest alone, many servers had nothing established. */
export const SERVERS_READ = 4;

/**
 * On so many days a name was asked for and safe. Half of those that are kept: most disposable names are listed sooner, and
 * with three days whoever has six of them asked for could hold back the list that is about to name them.
 */
const ESTABLISHED_DAYS = 7;

export interface Asked {
  /** On the newest day on which it was asked for, wherever it was. */
  readonly isFlagged: boolean;
  /** One day on which it was flagged, by a version that an operator went back from, takes none of the others away. */
  readonly isEstablished: boolean;
}

/** By name one bit for each day, the newest first: those on which it was safe, and `KEPT_DAYS` further those it was flagged on. */
function daysIn(rows: readonly AskedNames[]): Map<string, number> {
  const days = [...new Set(rows.map(({ day }) => day))].sort().reverse().slice(0, KEPT_DAYS);
  const seen = new Map<string, number>();
  for (const { day, names } of rows) {
    const at = days.indexOf(day);
    if (at === -1) continue;
    for (const text of names.split(' ')) {
      const name = text.replace('!', '');
      if (name === '') continue;
      const bit = 1 << (text === name ? at : KEPT_DAYS + at);
      seen.set(name, (seen.get(name) ?? 0) | bit);
    }
  }
  return seen;
}

const ALL_DAYS = 2 ** KEPT_DAYS - 1;

export function askedIn(rows: readonly AskedNames[]): Map<string, Asked> {
  const asked = new Map<string, Asked>();
  for (const [name, bits] of daysIn(rows)) {
    const safe = bits & ALL_DAYS;
    const any = safe | (bits >>> KEPT_DAYS);
    const newest = any & -any;
    let days = 0;
    for (let left = safe; left !== 0; left &= left - 1) days++;
    asked.set(name, { isFlagged: (safe & newest) === 0, isEstablished: days >= ESTABLISHED_DAYS });
  }
  return asked;
}
