/** `/admin/feeds`: the lists that verdicts are made of. */

import type { Catalog } from '../../core/catalog.ts';
import type { Clock } from '../../core/ports.ts';
import type { Freshening } from '../../freshness.ts';
import type { NoBody } from '../bodies.ts';
import { ok, type Work } from '../operators.ts';
import { shownFeeds } from '../shown.ts';

export interface FeedParts {
  readonly catalog: () => Catalog;
  readonly freshness: Pick<Freshening, 'read'>;
  readonly clock: Clock;
}

export function feedEndpoints({ catalog, freshness, clock }: FeedParts) {
  const list: Work<typeof NoBody> = async () => ok(shownFeeds(catalog(), await freshness.read(), clock()));
  return { list };
}
