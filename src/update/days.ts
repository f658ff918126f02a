/** The days that an update goes by, and what keeps one look at a clock that is wrong from doing harm. */

import { type Day, dayAt } from '../core/days.ts';
import { type Looks, lookedAt, SECOND_DAY_MS } from '../core/forgetting.ts';
import type { Store } from '../core/ports.ts';
import { toSecond } from '../core/quota.ts';

/** Kept as a lease that nobody holds: `until` is the look that is believed, `dueAt` one that is not yet. */
const NAME = 'feeds.clock';

export interface Days {
  /** What comes now is of this day. Never before what was stored, or names would look older than they are. */
  readonly today: Day;
  /** What goes by age goes by this one: after a jump of the clock the one before it. */
  readonly agedBy: Day;
  /** Why nothing should be updated now; null where nothing speaks against it. */
  readonly problem: string | null;
}

type Looked = Pick<Store, 'lease' | 'swapLease' | 'feedChecks' | 'audit'>;

/**
 * One update by a clock 400 days behind made every name of a list that much older, for good (60 became 95), and one
 * that was 100 days ahead took 1,000 names of castle away; so did two that were wrong by different amounts, minutes
 * apart (2026-11-18).
 */
export async function daysAt(now: number, store: Looked, dryRun: boolean, notBefore = 0): Promise<Days> {
  const was = await store.lease(NAME);
  const before = was ? { previous: was.until, last: was.dueAt } : await lookFrom(store, now, notBefore);
  const { looks, sureAt } = lookedAt(now, before);
  const { previous, last } = looks;
  const isOther = !was || was.until !== previous || was.dueAt !== last;
  // Where another came between, that one has looked.
  if (isOther && !dryRun)
    await store.swapLease({ name: NAME, holder: null, until: previous, dueAt: last }, was);
  const today = dayAt(Math.max(now, previous, last));
  return {
    today,
    agedBy: dayAt(sureAt),
    problem: now <= previous - SECOND_DAY_MS ? behind(now, looks) : null,
  };
}

const MOST_ACTS = 100;

/**
 * Of a version before this one. The first update of all is held against what the store and the program are from: by a
 * clock 400 days behind every name of it was that old for good (2026-11-18).
 */
async function lookFrom(store: Looked, now: number, notBefore: number): Promise<Looks | undefined> {
  const checks = await store.feedChecks();
  const last = Math.max(0, ...checks.map(({ checkedAt }) => checkedAt ?? 0));
  if (last > 0) return { previous: last, last };
  // All of some: one may be of another machine, whose clock is ahead.
  const acts = (await store.audit(MOST_ACTS)).map(({ at }) => at);
  const known = Math.max(notBefore, acts.length === 0 ? 0 : Math.min(...acts));
  return now <= known - SECOND_DAY_MS ? { previous: known, last: known } : undefined;
}

/** The file's machine is this one. */
const behind = (now: number, { previous, last }: Looks): string =>
  `the clock of the store's machine says ${toSecond(now)}, but it was ${toSecond(previous)} before: set that clock (NTP); if it is right, updates continue at ${toSecond(last + SECOND_DAY_MS)}`;
