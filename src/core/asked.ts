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
  readonly isFlagged: boolean;
  readonly isEstablished: boolean;
}

export function askedIn(rows: readonly AskedNames[]): Map<string, Asked> {
  const days = new Map<string, Set<string>>();
  const flagged = new Set<string>();
  for (const { day, names } of rows)
    for (const text of names.split(' ')) {
      const name = text.replace('!', '');
      if (name === '') continue;
      if (text !== name) flagged.add(name);
      else days.set(name, (days.get(name) ?? new Set()).add(day));
    }
  const asked = new Map<string, Asked>();
  for (const [name, on] of days)
    asked.set(name, { isFlagged: false, isEstablished: on.size >= ESTABLISHED_DAYS });
  for (const name of flagged) asked.set(name, { isFlagged: true, isEstablished: false });
  return asked;
}
