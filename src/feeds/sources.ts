/** What a catalog is made of: the packages and tables that are installed, and the feeds that updates bring. */

import type { Feed, Sources } from '../core/feed.ts';
import { packageFeeds } from './packages.ts';
import { readTables } from './tables.ts';
import { WEB_FEEDS } from './web.ts';

export const SOURCES: Sources = {
  feeds: packageFeeds(),
  tables: () => readTables(),
  updated: updatedFeeds(),
};

/** What is fresher by https than in the registry comes from there. */
function updatedFeeds(): Feed[] {
  const byId = new Map([...packageFeeds(), ...WEB_FEEDS].map(({ feed }) => [feed.id, feed]));
  return [...byId.values()];
}
