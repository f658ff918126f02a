/** `/admin/feeds`: the lists that verdicts are made of. */

import type { Catalog } from '../../core/catalog.ts';
import type { NoBody } from '../bodies.ts';
import { ok, type Work } from '../operators.ts';
import { shownFeeds } from '../shown.ts';

export function feedEndpoints({ catalog }: { catalog: () => Catalog }) {
  const list: Work<typeof NoBody> = async () => ok(shownFeeds(catalog()));
  return { list };
}
