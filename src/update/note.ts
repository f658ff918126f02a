/** What one try of a feed found, written down beside what operators decided meanwhile. */

import type { FreshSource } from '../core/feed.ts';
import { checkAfter, type FeedCheck, type Tried } from '../core/freshness.ts';
import type { Store } from '../core/ports.ts';
import { isGone } from './in-use.ts';

interface Parts {
  readonly store: Pick<Store, 'feedChecks' | 'noteCheck'>;
  readonly clock: () => number | Promise<number>;
}

/** As it is now: an operator may decide while an update runs. */
export async function checkOf(
  feed: string,
  store: Pick<Store, 'feedChecks'>,
): Promise<FeedCheck | undefined> {
  return (await store.feedChecks()).find(one => one.feed === feed);
}

/** Operators decide by hand: one of these finds nobody between. */
const MOST_TRIES = 5;

export async function note(tried: Tried, { store, clock }: Parts): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const was = await checkOf(tried.feed, store);
    if (await store.noteCheck(checkAfter(was, tried, await clock()), was ?? null)) return;
  }
}

/** False where the store did not take it: the others are tried first. */
export async function isNoted(
  source: FreshSource,
  tried: Tried,
  parts: Parts & { readonly store: Pick<Store, 'addedFeeds'> },
): Promise<boolean> {
  try {
    if (!(await isGone(source, parts.store))) await note(tried, parts);
    return true;
  } catch {
    return false;
  }
}
