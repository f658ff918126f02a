/** What an operator may do to the versions of a feed. */

import { type AddedFeed, addedInWords, MOST_ADDED } from '../core/added-feed.ts';
import { type Actor, actOf } from '../core/audit.ts';
import type { SnapshotHead } from '../core/feed.ts';
import { decidedWith, type FeedCheck, refusedFor } from '../core/freshness.ts';
import { type History, historyOf, type InUse, isHeld, versionAfter, versionBefore } from '../core/history.ts';
import type { Clock, Store } from '../core/ports.ts';
import type { Problem } from '../core/problem.ts';

export interface ActsOnFeeds {
  /** To the version before the one in use, and at last to the installed one. Updates leave the feed alone then. */
  rollBackFeed(feed: string, actor: Actor, from?: From): Promise<InUse | Problem>;
  /** At once to the installed one, of a list of ours. */
  clearFeed(feed: string, actor: Actor): Promise<InUse | Problem>;
  /** The other way, one version at a time. */
  returnFeed(feed: string, actor: Actor, from?: From): Promise<InUse | Problem>;
  /** A version that was held back: its names may be flagged, and the next update takes it. What was decided is told. */
  approveFeed(
    feed: string,
    actor: Actor,
    seen: Seen,
    takesBack?: boolean,
  ): Promise<readonly string[] | Problem>;
  /** They may not: what flags them is refused, with nobody asked again. */
  rejectFeed(
    feed: string,
    actor: Actor,
    seen: Seen,
    takesBack?: boolean,
  ): Promise<readonly string[] | Problem>;
  /** A list of the operator's own. The first version of it comes with the next update. */
  addFeed(feed: Omit<AddedFeed, 'addedAt'>, actor: Actor): Promise<AddedFeed | Problem>;
  /** One of these, with every version; nothing is left of it. */
  removeFeed(name: string, actor: Actor): Promise<Problem | undefined>;
}

/**
 * The names that were looked at as they waited: an update may have put others in their place since, and another operator
 * may have decided. With `takesBack` they were looked at as decided. None where an earlier decision is taken back that
 * the last version was refused for, about which nobody waits; `'any'` for whoever is told of them as it is decided.
 */
export type Seen = readonly string[] | 'any';

/** The digest of the version that was looked at, null where none is stored; undefined for whatever is in use. */
export type From = string | null | undefined;

/** Of an act that an update gets in the way of. */
const MOST_TRIES = 3;

export function actsOnFeeds({ store, clock }: { store: Store; clock: Clock }): ActsOnFeeds {
  async function step(
    feed: string,
    action: keyof typeof STEPS,
    actor: Actor,
    from: From,
  ): Promise<InUse | Problem> {
    const history = await historyIn(store, feed);
    const { inUse } = history;
    const digest = inUse?.digest ?? null;
    if (from !== undefined && from !== digest) return overtaken(feed);
    const [toOf, nothing] = STEPS[action];
    const to = toOf(history);
    if (to === undefined) return { problem: 'not_found', detail: nothing(feed) };
    const act = actOf(clock(), action, feed, actor, `${worded(inUse)} → ${worded(to)}`);
    if (!(await store.swapSnapshot(feed, to, digest, act))) return overtaken(feed);
    return { feed, version: to, isHeld: isHeld(swapped(history, to)) };
  }
  async function decide(
    feed: string,
    isApproved: boolean,
    actor: Actor,
    wanted: Seen,
    takesBack = false,
  ): Promise<readonly string[] | Problem> {
    let seen = wanted;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      if (isApproved && isHeld(await historyIn(store, feed))) return leftAlone(feed);
      const check = (await store.feedChecks()).find(one => one.feed === feed);
      // Who comes between has decided about these: that is not undone by the next try.
      if (seen === 'any' && check?.waiting) seen = check.waiting;
      const names = meantBy(seen, takesBack, feed, check, isApproved);
      if (!check || 'problem' in names) return names;
      const some = names.slice(0, 20).join(', ');
      const act = actOf(clock(), isApproved ? 'feed.approve' : 'feed.reject', feed, actor, some);
      if (await store.noteCheck(decidedWith(check, names, isApproved), check, act)) return names;
    }
    return contended(feed);
  }

  return {
    approveFeed: (feed, actor, ...looked) => decide(feed, true, actor, ...looked),
    rejectFeed: (feed, actor, ...looked) => decide(feed, false, actor, ...looked),
    rollBackFeed: (feed, actor, from) => step(feed, 'feed.rollback', actor, from),
    clearFeed: (feed, actor) => step(feed, 'feed.remove', actor, undefined),
    returnFeed: (feed, actor, from) => step(feed, 'feed.return', actor, from),
    async addFeed(wanted, actor) {
      const feed = { ...wanted, addedAt: clock() };
      const act = actOf(clock(), 'feed.add', feed.name, actor, addedInWords(feed));
      if (await store.addFeed(feed, MOST_ADDED, act)) return feed;
      const isThere = (await store.addedFeeds()).some(({ name }) => name === feed.name);
      return addedInVain(feed.name, isThere);
    },
    async removeFeed(name, actor) {
      const removed = await store.removeFeed(name, actOf(clock(), 'feed.remove', name, actor));
      return removed ? undefined : { problem: 'not_found', detail: `nobody added a feed ${name}` };
    },
  };
}

const historyIn = async (store: Store, feed: string): Promise<History> =>
  historyOf(feed, await store.snapshots(), await store.pastSnapshots());

const addedInVain = (name: string, isThere: boolean): Problem => ({
  problem: 'taken',
  detail: isThere
    ? `there is a feed ${name} already: remove it first, or choose another name`
    : `there are ${MOST_ADDED} added feeds already: remove one first`,
});

const contended = (feed: string): Problem => ({
  problem: 'contended',
  detail: `${feed} is being updated: try again`,
});

/** The next update would not take it, whatever was approved, or would undo what another operator went back for. */
const leftAlone = (feed: string): Problem => ({
  problem: 'taken',
  detail: `${feed} was rolled back, and updates leave it alone: undo that first`,
});

/** Nothing is done: five who went back at once emptied a list of three versions (2026-11-17). */
const overtaken = (feed: string): Problem => ({
  problem: 'unseen',
  detail: `another version of ${feed} is in use by now: look at it first`,
});

/** The names that are decided about. */
function meantBy(
  seen: Seen,
  takesBack: boolean,
  feed: string,
  check: FeedCheck | undefined,
  isApproved: boolean,
): readonly string[] | Problem {
  const sets = check ? openTo(check, isApproved) : [];
  const older = (isApproved && check?.waiting === null && check.rejected) || [];
  if (!check || (sets.length === 0 && older.length === 0))
    return { problem: 'not_found', detail: `no version of ${feed} waits` };
  const isWaiting = check.waiting !== null;
  const isNamed = seen !== 'any' && (isWaiting || seen.length > 0);
  const names = isNamed ? namedIn(seen, sets, older) : sets[0];
  if (!names) return unseen(feed, isWaiting, seen, older);
  const isOverturned = isNamed && !isWaiting && isDecided(check, names, !isApproved);
  return isOverturned && !takesBack ? decided(feed, !isApproved) : names;
}

const isDecided = ({ approved, rejected }: FeedCheck, names: readonly string[], isApproved: boolean) =>
  !new Set(names).isDisjointFrom(new Set(isApproved ? approved : rejected));

/**
 * Nothing is done: whoever had a page open on which they waited undid what another operator had decided since, and
 * neither was told; eight rejected domains were at 100 (2026-11-18).
 */
const decided = (feed: string, isApproved: boolean): Problem => ({
  problem: 'unseen',
  detail: `an operator has ${isApproved ? 'approved' : 'rejected'} these domains of ${feed} by now: look first; ${TAKE_BACK} takes that back`,
});
const TAKE_BACK = '--take-back (over HTTP "take_back": true)';

const isSame = (some: readonly string[], others: readonly string[]) =>
  new Set(some).symmetricDifference(new Set(others)).size === 0;

/**
 * What can be decided about, the likeliest first: what waits, and nothing else then. What was approved and not fetched
 * since is fetched before what was decided the other way is taken back, since the same command again must not undo an
 * older rejection; but where that is what the last version was refused for, it led in a circle (2026-11-18).
 */
function openTo(check: FeedCheck, isApproved: boolean): (readonly string[])[] {
  const { waiting, approved } = check;
  if (waiting) return [waiting];
  return [isApproved ? refusedFor(check) : null, approved].filter(names => names !== null);
}

/** One of the sets, or a part of what was rejected at any time. */
function namedIn(
  seen: readonly string[],
  sets: readonly (readonly string[])[],
  older: readonly string[],
): readonly string[] | undefined {
  const named = new Set(seen);
  const isPart = named.size > 0 && named.isSubsetOf(new Set(older));
  return sets.find(some => isSame(seen, some)) ?? (isPart ? [...named] : undefined);
}

/** Of names that are told in one sentence. */
const MOST_TOLD = 20;

/**
 * Nothing is decided: eight were shown, and forty others approved (2026-11-17). Nor is all taken back that was ever
 * rejected where the last try does not say which: a fetch that failed after a refusal made 8 names 16 (2026-11-18).
 */
function unseen(feed: string, isWaiting: boolean, seen: Seen, older: readonly string[]): Problem {
  const isOther = seen !== 'any' && seen.length > 0;
  const told = isOther
    ? `other domains of ${feed} wait by now: look at them first`
    : `name the domains of ${feed} that you looked at, all that wait`;
  const some = older.slice(0, MOST_TOLD).join(', ') + (older.length > MOST_TOLD ? ' …' : '');
  const rejected = `name those of the ${older.length} rejected domains that it may flag (${some}), with ${TAKE_BACK}, or update it and go by what it is refused for`;
  const way = older.length > 0 ? rejected : 'name none to go by that';
  const none = `no version of ${feed} waits${isOther ? ', and what was decided is about other domains' : ''}: ${way}`;
  return { problem: 'unseen', detail: isWaiting ? told : none };
}

const noUpdate = (feed: string) => `no update of ${feed} is in use`;

/** Where each leads, and what is told where it leads nowhere. All of them keep what was in use. */
const STEPS = {
  'feed.rollback': [versionBefore, noUpdate],
  // It deleted every version, and with them the days of names: 95 was 60 for a month (2026-11-18).
  'feed.remove': [({ inUse }: History) => (inUse ? null : undefined), noUpdate],
  'feed.return': [versionAfter, (feed: string) => `no newer version of ${feed} is kept`],
} as const;

const worded = (head: SnapshotHead | null | undefined) =>
  head ? `${head.version} with ${head.names} names` : 'no update';

function swapped({ inUse, past }: History, to: SnapshotHead | null): History {
  const rest = past.filter(head => head !== to);
  return { inUse: to ?? undefined, past: inUse ? [...rest, inUse] : rest };
}
