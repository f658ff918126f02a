/** `/admin/feeds`: the lists that verdicts are made of. */

import type { Catalog } from '../../core/catalog.ts';
import { ofFollowed } from '../../core/freshness.ts';
import type { Clock, Store } from '../../core/ports.ts';
import type { Freshening } from '../../freshness.ts';
import type { Operate } from '../../operate.ts';
import { hasten } from '../../schedule.ts';
import type { NoBody, SeenBody, SeenVersionBody } from '../bodies.ts';
import { ok, refusalOf, type Work } from '../operators.ts';
import { shownFeeds, shownInUse } from '../shown.ts';

export interface FeedParts {
  readonly catalog: () => Catalog;
  readonly operate: Operate;
  readonly store: Store;
  readonly freshness: Pick<Freshening, 'read' | 'ids'>;
  readonly clock: Clock;
}

export function feedEndpoints({ operate, store, catalog, freshness, clock }: FeedParts) {
  const list: Work<typeof NoBody> = async () => {
    const [checks, inUse, past, added] = await Promise.all([
      freshness.read(),
      store.snapshots(),
      store.pastSnapshots(),
      store.addedFeeds(),
    ]);
    return ok(
      shownFeeds(catalog(), { checks, inUse, past: ofFollowed(past, freshness.ids, added), added }, clock()),
    );
  };

  const step =
    (act: 'rollBackFeed' | 'returnFeed'): Work<typeof SeenVersionBody> =>
    async ({ target }, actor, { digest }) => {
      const done = await operate[act](target.segment, actor, digest);
      return 'problem' in done ? refusalOf(done) : ok(shownInUse(done));
    };

  const decide =
    (act: 'approveFeed' | 'rejectFeed'): Work<typeof SeenBody> =>
    async ({ target }, actor, { domains: seen = [], take_back: takesBack }) => {
      const feed = target.segment;
      const approved = act === 'approveFeed';
      const domains = await operate[act](feed, actor, seen, takesBack);
      if ('problem' in domains) return refusalOf(domains);
      if (approved) await hasten(store);
      return ok({ feed, approved, domains });
    };

  const steps = { rollBack: step('rollBackFeed'), goForth: step('returnFeed') };
  return { list, ...steps, approve: decide('approveFeed'), reject: decide('rejectFeed') };
}
