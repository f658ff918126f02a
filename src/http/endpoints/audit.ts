/** `/admin/audit`: what operators did. */

import type { Store } from '../../core/ports.ts';
import type { NoBody } from '../bodies.ts';
import { ok, type Work } from '../operators.ts';
import { readCount } from '../query.ts';
import { shownAct } from '../shown.ts';

const DEFAULT_ACTS = 100;
export const MOST_ACTS_SHOWN = 1_000;

export function auditEndpoints({ store }: { store: Store }) {
  const list: Work<typeof NoBody> = async ({ target }) => {
    const limit = readCount(target.query, 'limit', MOST_ACTS_SHOWN) ?? DEFAULT_ACTS;
    if (typeof limit === 'object') return limit;
    return ok({ acts: (await store.audit(limit)).map(shownAct) });
  };
  return { list };
}
