/** The listed domains that share the mail hosts of one: to look up by hand. */

import type { Catalog } from './catalog.ts';
import { type HostRecord, LEARNING } from './guest.ts';
import { groupOf, isLearnable } from './learnable.ts';
import { isListed } from './learned.ts';
import type { Exchange } from './mail.ts';

/** One host of a domain and the listed domains that share it. */
export interface GraphHost {
  readonly host: string;
  readonly addresses: readonly string[];
  readonly listedGuests: number;
  readonly guests: readonly string[];
}

/** Hosts that listed guests share, learned or not, with at most so many names in all. */
export function graphOf(
  exchanges: readonly Exchange[],
  catalog: Catalog,
  addressesOf: (host: string) => readonly string[] | undefined,
  knownAs: (name: string) => Omit<HostRecord, 'groups'> | undefined,
): GraphHost[] {
  const graph: GraphHost[] = [];
  let left = LEARNING.neighbours;
  for (const { host } of exchanges) {
    if (graph.length === LEARNING.mostExchanges) break;
    const addresses = addressesOf(host)?.slice(0, LEARNING.mostAddresses) ?? [];
    const known = [host, groupOf(host) ?? host, ...addresses].map(knownAs);
    const most = known.reduce((best, next) => ((next?.flagged ?? 0) > (best?.flagged ?? 0) ? next : best));
    const listedGuests = most?.flagged ?? 0;
    if (!most || listedGuests === 0 || !isLearnable(host, catalog)) continue;
    const guests = most.neighbours.filter(entry => isListed(entry, catalog)).slice(0, left);
    left -= guests.length;
    graph.push({ host, addresses, listedGuests, guests });
  }
  return graph;
}
