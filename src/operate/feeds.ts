/** What an operator may do to the versions of a feed. */

import { type Actor, actOf } from '../core/audit.ts';
import type { SnapshotHead } from '../core/feed.ts';
import { type History, historyOf, type InUse, isHeld, versionAfter, versionBefore } from '../core/history.ts';
import type { Clock, Store } from '../core/ports.ts';
import type { Problem } from '../core/problem.ts';

export interface ActsOnFeeds {
  /** To the version before the one in use, and at last to the installed one. Updates leave the feed alone then. */
  rollBackFeed(feed: string, actor: Actor): Promise<InUse | Problem>;
  /** The other way, one version at a time. */
  returnFeed(feed: string, actor: Actor): Promise<InUse | Problem>;
}

/** Of an act that an update gets in the way of. */
const MOST_TRIES = 3;

export function actsOnFeeds({ store, clock }: { store: Store; clock: Clock }): ActsOnFeeds {
  async function step(
    feed: string,
    action: 'feed.rollback' | 'feed.return',
    actor: Actor,
  ): Promise<InUse | Problem> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const history = historyOf(feed, await store.snapshots(), await store.pastSnapshots());
      const { inUse } = history;
      const to = action === 'feed.rollback' ? versionBefore(history) : versionAfter(history);
      if (to === undefined) return { problem: 'not_found', detail: NOTHING[action](feed) };
      const act = actOf(clock(), action, feed, actor, `${worded(inUse)} → ${worded(to)}`);
      if (await store.swapSnapshot(feed, to, inUse?.digest ?? null, act))
        return { feed, version: to, isHeld: isHeld(swapped(history, to)) };
    }
    return { problem: 'contended', detail: `${feed} is being updated: try again` };
  }
  return {
    rollBackFeed: (feed, actor) => step(feed, 'feed.rollback', actor),
    returnFeed: (feed, actor) => step(feed, 'feed.return', actor),
  };
}

const NOTHING = {
  'feed.rollback': (feed: string) => `no update of ${feed} is stored`,
  'feed.return': (feed: string) => `no newer version of ${feed} is kept`,
} as const;

const worded = (head: SnapshotHead | null | undefined) =>
  head ? `${head.version} with ${head.names} names` : 'as installed';

function swapped({ inUse, past }: History, to: SnapshotHead | null): History {
  const rest = past.filter(head => head !== to);
  return { inUse: to ?? undefined, past: inUse ? [...rest, inUse] : rest };
}
