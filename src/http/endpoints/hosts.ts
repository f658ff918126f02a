/** `/admin/infra`: mail hosts that were learned, and those that may not be. */

import { inTurns } from '../../assemble.ts';
import type { Actor } from '../../core/audit.ts';
import type { Catalog } from '../../core/catalog.ts';
import { bad, type Checked } from '../../core/checked.ts';
import { LEARNING } from '../../core/guest.ts';
import type { Clock, Store } from '../../core/ports.ts';
import { dayOf } from '../../core/quota.ts';
import { parseHost } from '../../core/typed.ts';
import type { Operate } from '../../operate.ts';
import type { NoBody } from '../bodies.ts';
import type { Call } from '../call.ts';
import { invalid, ok, refusalOf, type Work } from '../operators.ts';
import { readText } from '../query.ts';
import { FEWEST_SHOWN, MOST_SHOWN, showingHosts } from '../shown.ts';

export interface HostParts {
  readonly operate: Operate;
  readonly store: Store;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  /** As far as they are known. */
  addressesOf(host: string): readonly string[];
}

export function hostEndpoints({ operate, store, catalog, clock, addressesOf }: HostParts) {
  /** One alone comes with all names that are kept of it, as its graph needs them. */
  const list: Work<typeof NoBody> = async ({ target: { query } }) => {
    const wanted = readText(query, 'host');
    const all = await store.listHosts(FEWEST_SHOWN, MOST_SHOWN);
    const hosts = wanted ? all.filter(({ name }) => name === wanted) : all;
    const names = wanted ? LEARNING.neighbours : undefined;
    const shown = await inTurns(showingHosts(hosts, catalog(), dayOf(clock()), names));
    return ok({ hosts: shown.map(row => ({ ...row, addresses: addressesOf(row.host) })) });
  };

  async function setForgotten({ target }: Call, actor: Actor, forgotten: boolean) {
    const host = hostFrom(target.segment);
    if (!host.ok) return invalid(`the host ${host.problem}`);
    const { forgetHost, relearnHost } = operate;
    const problem = await (forgotten ? forgetHost : relearnHost)(host.value, actor);
    return problem ? refusalOf(problem) : ok({ host: host.value, forgotten });
  }

  const forget: Work<typeof NoBody> = (call, actor) => setForgotten(call, actor, true);
  const relearn: Work<typeof NoBody> = (call, actor) => setForgotten(call, actor, false);

  return { list, forget, relearn };
}

function hostFrom(segment: string): Checked<string> {
  let host: string;
  try {
    host = decodeURIComponent(segment);
  } catch {
    return bad('is not valid percent-encoding');
  }
  return parseHost(host);
}
