/** What is installed with the service: the feed packages and the data folder. */

import type { Sources } from '../core/feed.ts';
import { packageFeeds } from './packages.ts';
import { readTables } from './tables.ts';

export const SOURCES: Sources = { feeds: packageFeeds(), tables: () => readTables() };
