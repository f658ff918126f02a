/** A catalog of a few listed names, with the real tables. */

import { buildCatalog } from '../../src/assemble.ts';
import type { Catalog } from '../../src/core/catalog.ts';
import type { FeedSource } from '../../src/core/feed.ts';
import { readTables } from '../../src/feeds/tables.ts';

export function catalogOf(listed: readonly string[]): Promise<Catalog> {
  const feed = {
    id: 'simulated',
    kind: 'disposable',
    family: 'broad',
    licence: 'none',
    origin: 'here',
    atLeast: 0,
  } as const;
  const source: FeedSource = { feed, read: async () => ({ version: '1', names: listed }) };
  return buildCatalog({ feeds: [source], tables: () => readTables() }, () => {});
}
