/** What operators are told of names that they rejected and the version in use of a list has all the same. */

import { type FeedsConfig, loadCatalog } from '../compose.ts';
import type { AddedFeed } from '../core/added-feed.ts';
import type { Catalog } from '../core/catalog.ts';
import { type FeedCheck, inUseProblem } from '../core/freshness.ts';
import type { Store } from '../core/ports.ts';
import { rejectedInUse } from '../core/what-if.ts';

const MOST_SHOWN = 20;

/** As a line; undefined where it has none. `added`: of an own list that has no version in use it tells the kind. */
export function inUseOf(check: FeedCheck, catalog: Catalog, added: readonly AddedFeed[]): string | undefined {
  const own = added.find(({ name }) => name === check.feed)?.kind;
  const kind = own ?? catalog.snapshots.find(({ feed }) => feed.id === check.feed)?.feed.kind;
  const names = rejectedInUse(catalog, check, kind, Date.now());
  if (names.length === 0) return undefined;
  const more = names.length > MOST_SHOWN ? ' …' : '';
  const some = names.slice(0, MOST_SHOWN).join(', ');
  return `${check.feed}: ${inUseProblem(check.feed, names.length, kind !== 'disposable')} (${some}${more})`;
}

/** After an act: names that are in use stay so, and going back may bring some again, which nobody was told (2026-11-18). */
export async function rejectedStill(feed: string, store: Store, config: FeedsConfig): Promise<string> {
  const check = (await store.feedChecks()).find(one => one.feed === feed);
  if (!check?.rejected) return '';
  const catalog = await loadCatalog(config, () => {}, store);
  const told = inUseOf(check, catalog, await store.addedFeeds());
  return told === undefined ? '' : `${told}\n`;
}
