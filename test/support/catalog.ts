/** A catalog of a few listed names, with the real tables as far as they matter to mail hosts. */

import { buildCatalog } from '../../src/assemble.ts';
import type { Catalog } from '../../src/core/catalog.ts';
import type { Family, FeedKind, FeedSource } from '../../src/core/feed.ts';
import type { TableTexts } from '../../src/core/tables.ts';
import { readTables } from '../../src/feeds/tables.ts';

/** By one broad feed; `also` has what a second family names, and a popularity list. */
export function catalogOf(
  listed: readonly string[],
  also: { telemetry?: readonly string[]; popular?: readonly string[] } = {},
  tables = fewFreeNames,
): Promise<Catalog> {
  const source = (id: string, kind: FeedKind, family: Family, names: readonly string[]): FeedSource => ({
    feed: { id, kind, family, licence: 'none', origin: 'here', atLeast: 0 },
    read: async () => ({ version: '1', names }),
  });
  const feeds = [source('simulated', 'disposable', 'broad', listed)];
  if (also.telemetry) feeds.push(source('seen', 'disposable', 'telemetry', also.telemetry));
  if (also.popular) feeds.push(source('popular', 'popular', 'broad', also.popular));
  return buildCatalog({ feeds, tables }, () => {});
}

/** A sweep asks for every free provider first, which takes longer than all that is tested behind it. */
async function fewFreeNames(): Promise<TableTexts> {
  const texts = await readTables();
  return { ...texts, 'free.csv': texts['free.csv'].split('\n').slice(0, 40).join('\n') };
}
