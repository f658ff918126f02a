/** What an operator may do to mail hosts that were learned. */

import { type Actor, actOf } from '../core/audit.ts';
import { isHostName } from '../core/domain.ts';
import type { Clock, Store } from '../core/ports.ts';
import type { Problem } from '../core/problem.ts';

export interface ActsOnHosts {
  /** Takes a mail host out for good. */
  forgetHost(host: string, actor: Actor): Promise<Problem | undefined>;
  /** Lets it be learned again: from nothing where it was forgotten, from its guests where it was shared. */
  relearnHost(host: string, actor: Actor): Promise<Problem | undefined>;
}

export function actsOnHosts({ store, clock }: { store: Store; clock: Clock }): ActsOnHosts {
  return {
    async forgetHost(host, actor) {
      const now = clock();
      const known = await store.forgetHost(host, now, actOf(now, 'host.forget', host, actor));
      return known ? undefined : unknownHost(host);
    },

    async relearnHost(host, actor) {
      const known = await store.forgetHost(host, null, actOf(clock(), 'host.relearn', host, actor));
      return known ? undefined : unknownHost(host);
    },
  };
}

/** Evidence names the host of a domain that was judged by that host's address. */
function unknownHost(host: string): Problem {
  const hint = isHostName(host) ? '; a host that only its own domain has is known by its address' : '';
  return { problem: 'not_found', detail: `nothing is known of ${host}${hint}` };
}
