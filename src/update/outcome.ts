/** What became of a feed in one update, and what is noted of it. */

import { shortDetail } from '../core/audit.ts';
import type { Dropped } from '../core/feed.ts';
import type { Tried } from '../core/freshness.ts';
import type { Flip } from '../core/what-if.ts';
import type { Version } from './act.ts';
import { oneLine } from './fresh.ts';
import { flaggedIn } from './what-if.ts';

/**
 * - `refused`: the gate found it implausible. `failed`: it could not be read at all.
 * - `overtaken`: somebody else updated the feed at the same moment, which is as good.
 * - `waiting`: it would flag established names that were asked here lately: an operator has to look at them.
 * - `held`: an operator went back to an earlier version of it, so that it is left alone.
 */
export type Outcome =
  | 'accepted'
  | 'forced'
  | 'unchanged'
  | 'refused'
  | 'waiting'
  | 'failed'
  | 'overtaken'
  | 'held';

export interface Updated {
  readonly feed: string;
  readonly outcome: Outcome;
  /** What was in use; null where there was none. */
  readonly before: Version | null;
  /** What was read; null where that failed. */
  readonly after: Version | null;
  readonly dropped: Readonly<Dropped> | null;
  /** Why it was refused, failed or had to be forced. */
  readonly problems: readonly string[];
  /** How many names it brought and took away; null where it changed nothing. */
  readonly turnover: Tried['turnover'];
  /** What it changes for names that were asked here lately; null where that was not tried. */
  readonly flips: readonly Flip[] | null;
  /** What an operator approved or rejected and it has: it was let in with that, or forced in. */
  readonly decided?: readonly string[];
  /** What an operator rejected and it was refused for. */
  readonly again?: readonly string[];
  /** Those of them that an operator has to look at. */
  readonly waiting: readonly string[] | null;
  /** What the server said of the version in use after it; undefined where the one before stays. */
  readonly tag?: Tried['tag'];
  /** Where it was read in place of the feed's own address, and what was wrong with that. */
  readonly fallback: string | null;
  /** It could not be read where it comes from: what else failed, such as a disk that is full, is not its place's fault. */
  readonly isUnread?: boolean;
  /** What must never happen, for the log. */
  readonly fault?: unknown;
}

/** Of a version that was not tried on what was asked. */
export const UNTRIED = { turnover: null, flips: null, waiting: null, fallback: null };

/** Nothing was read of it: whoever added it again while others were fetched has read it then. */
export function overtaken(feed: string): Updated {
  const nothing = { before: null, after: null, dropped: null, ...UNTRIED };
  return { feed, outcome: 'overtaken', ...nothing, problems: [] };
}

export function leftAlone(feed: string): Updated {
  const nothing = { before: null, after: null, dropped: null, ...UNTRIED };
  return { feed, outcome: 'held', ...nothing, problems: ['rolled back: name it to update it all the same'] };
}

/** What had to be forced was looked at by an operator. */
export function triedOf({
  feed,
  outcome,
  problems,
  turnover,
  waiting,
  flips,
  decided = [],
  again = [],
  tag,
  fallback,
}: Updated): Tried {
  const trouble = outcome === 'refused' || outcome === 'failed' || outcome === 'waiting' ? outcome : null;
  const problem = trouble && shortDetail(problems.join('; '));
  const flagged =
    outcome === 'accepted' || outcome === 'forced' ? [...flaggedIn(flips ?? []), ...decided] : [];
  return { feed, problem, trouble, turnover, waiting, flagged, again, tag, fallback };
}

export function failed(feed: string, problem: string, before: Version | null = null): Updated {
  const nothing = { before, after: null, dropped: null, ...UNTRIED };
  return { feed, outcome: 'failed', ...nothing, problems: [oneLine(problem)] };
}
