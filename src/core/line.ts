/** The lines of a snapshot's text, and what they tell of days. */

import { type Day, dayAt, dayFrom, type Runs, spread } from './days.ts';
import type { Content, Dropped, Feed } from './feed.ts';
import { STEP, type Steps } from './steps.ts';

/** The first line tells version and dropped, each other line one of the rest. */
export interface Part {
  readonly version?: string;
  readonly dropped?: Dropped;
  readonly names?: readonly string[];
  /** Of the names of the same line: since when, last shown, on how many days. */
  readonly days?: Runs;
  readonly last?: Runs;
  readonly shown?: Runs;
  /** In texts of earlier versions. */
  readonly since?: readonly (readonly [string, string])[];
  readonly doubtful?: readonly (readonly [string, Day])[];
  readonly moved?: readonly (readonly [string, Day])[];
  readonly flagged?: readonly (readonly [string, Day])[];
  readonly labels?: readonly (readonly [string, string])[];
}

/** Where names go. */
export type Into = Iterable<string> & { readonly length: number; push(name: string): unknown };

type Known = Pick<Content, 'since' | 'shown'>;

export function daysOf(feed: Feed, lines: readonly Part[], count: number): Known {
  const since = new Uint16Array(count);
  const last = new Uint16Array(feed.rotates === undefined ? 0 : count);
  const days = new Uint8Array(last.length);
  let at = 0;
  for (const line of lines) {
    spread(line.last ?? [], last, at);
    spread(line.shown ?? [], days, at);
    at = spread(line.days ?? [], since, at);
  }
  return feed.rotates === undefined ? { since } : { since, shown: { last, days } };
}

/**
 * Texts of November 2026 and before tell a day for some names only. The others were there when it was accepted, which is
 * all that is known of them. Of a rotating list each counts as shown often enough to stay for its time.
 */
export function* earlierDays(
  feed: Feed,
  names: Into,
  told: ReadonlyMap<string, string>,
  acceptedAt: number | null,
): Steps<Known> {
  const accepted = dayAt(acceptedAt ?? 0);
  const since = new Uint16Array(names.length);
  let at = 0;
  for (const name of names) {
    since[at] = dayFrom(told.get(name) ?? '') || accepted;
    if (++at % STEP === 0) yield;
  }
  if (feed.rotates === undefined) return { since };
  const last = new Uint16Array(names.length).fill(accepted);
  return { since, shown: { last, days: new Uint8Array(names.length).fill(SHOWN_TO_STAY) } };
}

/** A rotating list's name that was shown on fewer days leaves with the list: one bad day of it is over with the next. */
export const SHOWN_TO_STAY = 3;
