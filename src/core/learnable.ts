/** Which mail hosts can be learned: under which names, whose not, and how much it takes. */

import type { Catalog } from './catalog.ts';
import { isHostName, ownDomain, registrableDomain, shortLineage } from './domain.ts';
import { isOwnHosts, type JudgedHost, LEARNING } from './guest.ts';
import { isRented } from './provider.ts';
import { sumOf } from './weights.ts';

/** How a domain of hosts is called among hosts and addresses: numbered hosts of one domain are one. */
export function groupOf(host: string): string | undefined {
  const domain = registrableDomain(host);
  return domain && `*.${domain}`;
}

/** Whether a host is one of the domain's own. */
export function isBelow(host: string, registrable: string | undefined): boolean {
  return registrable !== undefined && (host === registrable || host.endsWith(`.${registrable}`));
}

/**
 * Whether a host may be learned at all: nobody who is known for something else, and nothing of protected domains or of
 * the panel. A rented machine is its tenant's; its landlord's other machines say nothing of it.
 */
export function isLearnable(host: string, catalog: Catalog): boolean {
  const row = catalog.providers.match(host);
  if (row) return row.class === 'disposable' || isRented(host, row);
  const registrable = ownDomain(host);
  return (
    !shortLineage(host).some(
      name => catalog.isProtected(name) && (name === host || !catalog.isSuffix(name)),
    ) &&
    !catalog.isSurelyFree(registrable) &&
    !catalog.isPanel(registrable)
  );
}

/** What the guests of a host weigh. Null where it cannot be learned by today's lists and tables. */
export function learnableSum(record: JudgedHost, catalog: Catalog, today: string): number | null {
  if (record.shared || record.forgotten) return null;
  const host = record.name.replace(/^\*\./, '');
  return isHostName(host) && !isLearnable(host, catalog) ? null : sumOf(record, today);
}

/** What the guests of a host, a domain of hosts or an address must weigh for it to be a disposable one. */
export const enoughFor = (name: string) => (isOwnHosts(name) ? LEARNING.ownLearnedAt : LEARNING.learnedAt);

export const isEnough = (sum: number | null, name: string) => sum !== null && sum >= enoughFor(name);

/** Under which a host is learned. Own hosts tell nothing by their names, but domains of one operator share an address. */
export function namesOf(host: string, domain: string): readonly string[] {
  return isBelow(host, ownDomain(domain)) ? [] : [host, groupOf(host) ?? host];
}
