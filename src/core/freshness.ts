/** How fresh the lists are: what became of each feed when it was last looked at. Nothing new is as fresh as news. */

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
  /** Established names that the version which was held back would flag: an operator has to look at them. */
  readonly waiting: readonly string[] | null;
  /** Names of such a version that an operator decided about, and how. */
  readonly decided: readonly string[] | null;
  readonly isApproved: boolean | null;
}

/** What one try found: nothing is known of names where it changed nothing. */
export interface Tried {
  readonly feed: string;
  readonly problem: string | null;
  readonly turnover: { readonly added: number; readonly removed: number } | null;
  readonly waiting: readonly string[] | null;
}

export function checkAfter(
  was: FeedCheck | undefined,
  { feed, problem, turnover, waiting }: Tried,
  now: number,
): FeedCheck {
  const { added, removed } = turnover ?? was ?? { added: 0, removed: 0 };
  const checkedAt = problem === null ? now : (was?.checkedAt ?? null);
  // What went well has settled what was decided before.
  const { decided = null, isApproved = null } = problem === null ? {} : (was ?? {});
  const held = problem === null ? null : (waiting ?? was?.waiting ?? null);
  return { feed, triedAt: now, checkedAt, added, removed, problem, waiting: held, decided, isApproved };
}

/** A week without updates costs 4 of 100 disposable names, a month 12 (November 2026): long before that somebody is told. */
export const STALE_MS = 3 * 86_400_000;

export interface Freshness {
  readonly status: 'fresh' | 'stale' | 'never';
  /** Of the feed that was checked last. */
  readonly checkedAt: number | null;
  /** Feeds whose last try did not go well. */
  readonly failing: readonly string[];
}

export function freshnessOf(checks: readonly FeedCheck[], now: number): Freshness {
  const checkedAt = checks.reduce<number | null>(
    (latest, check) =>
      check.checkedAt !== null && check.checkedAt > (latest ?? 0) ? check.checkedAt : latest,
    null,
  );
  const failing = checks.filter(({ problem }) => problem !== null).map(({ feed }) => feed);
  if (checkedAt === null) return { status: 'never', checkedAt, failing };
  return { status: now - checkedAt > STALE_MS ? 'stale' : 'fresh', checkedAt, failing };
}
