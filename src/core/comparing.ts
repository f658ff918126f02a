/** Two catalogs → the names that the lists began or ceased to flag between them. */

import type { Catalog } from './catalog.ts';
import { type Weight, weigh } from './corroboration.ts';
import { type Day, dayAt } from './days.ts';
import { type Domain, lineage, registrableDomain } from './domain.ts';
import { listedOf } from './facts.ts';
import type { ListingChange } from './listing-change.ts';
import { MAIL_NOT_ASKED } from './mail.ts';
import { STEP, type Steps } from './steps.ts';

/** What makes 80 points and more. DNS is not asked for it: a new name on a business platform is 60 all the same. */
const FLAGGING: ReadonlySet<Weight> = new Set<Weight>(['verified', 'two_families', 'one_family']);

/** The feeds that flag a name; none where it scores less than 80 by the lists. */
export function flaggedBy(catalog: Catalog, name: string, today: Day): readonly string[] {
  const names = lineage(name as Domain);
  const { listing, listed } = listedOf(catalog, names, registrableDomain(name), today);
  if (listing.hits.length === 0) return [];
  const weight = weigh(listed, { mail: MAIL_NOT_ASKED, settled: undefined, silent: false });
  return FLAGGING.has(weight) ? [...new Set(listing.hits.map(({ feed }) => feed))] : [];
}

/** Whether anything is said of a name that may make a difference: most names of a list stay as they are. */
const saidOf = (catalog: Catalog, name: string) =>
  `${catalog.listed([name]).hits.map(({ feed }) => feed)} ${catalog.isPanel(name)} ${catalog.isFree(name)}`;

/** Only names that changed lists hold are looked at, in their order, so that every server finds the same. */
export function* comparing(before: Catalog, after: Catalog, at: number): Steps<ListingChange[]> {
  const digests = new Map(before.snapshots.map(({ feed, digest }) => [feed.id, digest]));
  const isOther = (one: Catalog['snapshots'][number], other: Catalog) =>
    other.snapshots.find(({ feed }) => feed.id === one.feed.id)?.digest !== one.digest;
  const changed = [
    ...before.snapshots.filter(one => isOther(one, after)),
    ...after.snapshots.filter(one => digests.get(one.feed.id) !== one.digest),
  ];
  const today = dayAt(at);
  const found = new Map<string, ListingChange>();
  let looked = 0;
  for (const { names } of changed)
    for (const domain of names) {
      if (++looked % STEP === 0) yield;
      if (found.has(domain) || saidOf(before, domain) === saidOf(after, domain)) continue;
      const [was, is] = [flaggedBy(before, domain, today), flaggedBy(after, domain, today)];
      if (was.length === 0 && is.length > 0) found.set(domain, { domain, change: 'flagged', at, feeds: is });
      if (was.length > 0 && is.length === 0) found.set(domain, { domain, change: 'cleared', at, feeds: was });
    }
  return [...found.values()];
}
