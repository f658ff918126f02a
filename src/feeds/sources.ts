/** What a catalog is made of: the packages and tables that are installed, and the feeds that updates bring. */

import type { Feed, Sources } from '../core/feed.ts';
import { packageFeeds } from './packages.ts';
import { readTables } from './tables.ts';
import { WEB_FEEDS } from './web.ts';

export const SOURCES = {
  feeds: packageFeeds(),
  tables: () => readTables(),
  updated: updatedFeeds(),
} satisfies Sources;

export const FEED_IDS: readonly string[] = SOURCES.updated.map(({ id }) => id);

export const feedsWithout = (off: readonly string[]): string[] => FEED_IDS.filter(id => !off.includes(id));

/** `off`: feeds that an operator does not want, neither as installed nor updated. */
export function sourcesWithout(off: readonly string[]): Sources {
  return {
    ...SOURCES,
    feeds: SOURCES.feeds.filter(({ feed }) => !off.includes(feed.id)),
    updated: SOURCES.updated.filter(({ id }) => !off.includes(id)),
  };
}

/** What is fresher by https than in the registry comes from there. */
function updatedFeeds(): Feed[] {
  const byId = new Map([...packageFeeds(), ...WEB_FEEDS].map(({ feed }) => [feed.id, feed]));
  return [...byId.values()];
}
