/** How fresh the lists are: what became of each feed when it was last looked at. Nothing new is as fresh as news. */

import type { KeptTag } from './tag.ts';

/** `failed`: it could not be read. `refused`: it is not plausible, or was rejected. `waiting`: for an operator to look at it. */
export type Trouble = 'failed' | 'refused' | 'waiting';

export interface FeedCheck {
  /** Id of the feed. */
  readonly feed: string;
  /** When it was last tried. Milliseconds since the epoch, as is the other. */
  readonly triedAt: number;
  /** When it was last read and found plausible; null where that never was. */
  readonly checkedAt: number | null;
  /** How many names the last change brought and took away. */
  readonly added: number;
  readonly removed: number;
  /** Why the last try failed or was refused; null where it went well. */
  readonly problem: string | null;
  /** What kind of problem that is. */
  readonly trouble: Trouble | null;
  /** Established names that the version which was held back would flag: an operator has to look at them. */
  readonly waiting: readonly string[] | null;
  /** Names that an operator lets the next version flag which has them. */
  readonly approved: readonly string[] | null;
  /** Names that no version may flag, until an operator approves or forces one. */
  readonly rejected: readonly string[] | null;
  /** What its server said of the version in use; null where it said nothing. */
  readonly tag: KeptTag | null;
  /** Where it was last read in place of its own address, and what was wrong with that; null where it was read there. */
  readonly fallback: string | null;
}

/**
 * Of lists that are followed: `ids` are ours that are in use, the others are operators' own. One that a later version of
 * the program no longer follows is nobody's to fetch, and it alarmed for good (2026-11-17).
 */
export function ofFollowed<T extends { readonly feed: string }>(
  rows: readonly T[],
  ids: readonly string[],
  added: readonly { readonly name: string }[],
): T[] {
  const followed = new Set([...ids, ...added.map(({ name }) => name)]);
  return rows.filter(({ feed }) => followed.has(feed));
}

/** What one try found: nothing is known of names where it changed nothing. */
export interface Tried {
  readonly feed: string;
  readonly problem: string | null;
  readonly trouble: Trouble | null;
  readonly turnover: { readonly added: number; readonly removed: number } | null;
  readonly waiting: readonly string[] | null;
  /** Names that the version flags which was taken. */
  readonly flagged?: readonly string[];
  /** What it was refused for: names that an operator rejected. */
  readonly again?: readonly string[];
  /** Of the version that is in use after it; undefined where the one before is. */
  readonly tag?: KeptTag | null | undefined;
  readonly fallback: string | null;
}

export function checkAfter(
  was: FeedCheck | undefined,
  {
    feed,
    trouble,
    turnover,
    waiting,
    flagged = [],
    again = [],
    tag = was?.tag ?? null,
    fallback,
    ...told
  }: Tried,
  now: number,
): FeedCheck {
  const { added, removed } = turnover ?? was ?? { added: 0, removed: 0 };
  // Nobody is asked again who decided while this was found.
  const decided = new Set([...(was?.approved ?? []), ...(was?.rejected ?? [])]);
  const open = waiting?.filter(name => !decided.has(name)) ?? was?.waiting ?? [];
  const answered = trouble === 'waiting' && open.length === 0 ? (waiting ?? []) : [];
  const known = again.length > 0 ? again : answered;
  const { approved, rejected, named } = decidedAfter(was, flagged, known);
  // Who approved it meanwhile is not told that it is rejected, nor who rejected it that it waits.
  const isAsFound = answered.length === 0 && named === again.length;
  const problem = isAsFound ? told.problem : decidedProblem(feed, known.length, named);
  const checkedAt = problem === null ? now : (was?.checkedAt ?? null);
  const held = problem === null ? null : someOf(open);
  const last = { feed, triedAt: now, checkedAt, added, removed, problem, trouble };
  return { ...last, waiting: held, approved, rejected, tag, fallback };
}

const someOf = (names: readonly string[]) => (names.length === 0 ? null : names);

/**
 * An update that goes well settles nothing by itself: a server may still have the version before, or again. An approval
 * is used by the first version that flags something of it; what was rejected and is flagged all the same was forced in.
 */
function decidedAfter(was: FeedCheck | undefined, flagged: readonly string[], again: readonly string[]) {
  const { approved = null, rejected = null } = was ?? {};
  const [taken, refused] = [new Set(flagged), new Set(again)];
  const left = (rejected ?? []).filter(name => !taken.has(name));
  const [others = [], named = []] = [false, true].map(is => left.filter(name => refused.has(name) === is));
  return {
    approved: approved?.some(name => taken.has(name)) ? null : approved,
    // What the last version was refused for stands last: `refusedFor`.
    rejected: someOf([...others, ...named]),
    named: named.length,
  };
}

/** Of names of one feed, the last ones. */
const MOST_DECIDED = 20_000;

/** What stands after an operator approved or rejected some names. */
export function decidedWith(check: FeedCheck, names: readonly string[], isApproved: boolean): FeedCheck {
  const now = new Set(names);
  const without = (some: FeedCheck['approved']) => someOf((some ?? []).filter(name => !now.has(name)));
  // Of a version with more than one look shows, one decision after the other adds up.
  const more = (some: FeedCheck['approved']) => [...(without(some) ?? []), ...now].slice(-MOST_DECIDED);
  const { feed, approved, rejected, problem, trouble } = check;
  const refused = refusedFor(check);
  const isAbout = problem !== null && (trouble === 'waiting' || refused !== null);
  // Of what it was refused for, some may be approved by name.
  const left = isApproved ? (refused?.filter(name => !now.has(name)).length ?? 0) : names.length;
  const told = isAbout ? decidedProblem(feed, names.length, left) : problem;
  const after = { ...check, waiting: null, problem: told };
  return isApproved
    ? { ...after, approved: more(approved), rejected: without(rejected) }
    : { ...after, approved: without(approved), rejected: more(rejected) };
}

/** What it said to do was done; it led in a circle (2026-11-17). */
const decidedProblem = (feed: string, count: number, rejected: number): string =>
  rejected > 0
    ? rejectedProblem(feed, rejected)
    : `it would flag ${count} names, which is approved: "feeds update ${feed}" takes it`;

/** The first number in our sentence. */
const countIn = (problem: string | null) => Number(problem?.match(/\d+/)?.[0]);

/**
 * The names that an operator rejected before and the last version was refused for; null where it was not. Known by the
 * whole sentence, which nobody else writes: a line of a list stood in another one, with these words, and took a rejection
 * back (2026-11-18). The others that are rejected stay so: "8 names" were told, and 16 approved.
 */
export function refusedFor({ feed, problem, trouble, rejected }: FeedCheck): readonly string[] | null {
  const count = countIn(problem);
  if (trouble === 'failed' || !rejected || problem !== rejectedProblem(feed, count)) return null;
  return someOf(rejected.slice(-count));
}

/** An operator has decided about it, and no try came since: nobody needs to be told. */
export const isAnswered = ({ feed, problem, trouble, waiting }: FeedCheck): boolean =>
  trouble === 'waiting'
    ? waiting === null
    : trouble === 'refused' && problem === decidedProblem(feed, countIn(problem), 0);

/** Without the names, which are callers': this text goes into the log and to whoever is alerted. */
export const rejectedProblem = (feed: string, count: number): string =>
  `it would flag ${count} names that an operator rejected: "feeds approve ${feed}" takes it all the same`;

/** Of what came in before that, or by going back. */
export const inUseProblem = (feed: string, count: number, isLeftOut = false): string =>
  `the version in use ${isLeftOut ? 'leaves out' : 'has'} ${count} of the names that an operator rejected: "feeds rollback ${feed}" (or with --undo) takes another version, "overrides set <domain> allow" clears one`;

/** A week without updates costs 4 of 100 disposable names, a month 12 (November 2026): long before that somebody is told. */
export const STALE_MS = 3 * 86_400_000;

export interface Freshness {
  readonly status: 'fresh' | 'stale' | 'never';
  /** Of the feed that was checked last. */
  readonly checkedAt: number | null;
  /** Feeds whose last try did not go well. */
  readonly failing: readonly string[];
}

/** What is further ahead was dated by a clock that was wrong: by so much those of servers do not differ. */
const AHEAD_MS = 3_600_000;

/** When a feed was last read, by a clock that can have been right; null where that is not known. */
export function checkedBy(now: number, { checkedAt }: Pick<FeedCheck, 'checkedAt'>): number | null {
  return checkedAt !== null && checkedAt <= now + AHEAD_MS ? checkedAt : null;
}

export function freshnessOf(checks: readonly FeedCheck[], now: number): Freshness {
  const known = checks.flatMap(check => checkedBy(now, check) ?? []);
  const checkedAt = known.length === 0 ? null : Math.max(...known);
  const failing = checks.filter(({ problem }) => problem !== null).map(({ feed }) => feed);
  if (checkedAt === null) return { status: 'never', checkedAt, failing };
  return { status: now - checkedAt > STALE_MS ? 'stale' : 'fresh', checkedAt, failing };
}
