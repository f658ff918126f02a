/** Who flags a name by the lists alone, whatever DNS and operators say. */

import type { Catalog } from './catalog.ts';
import { NEW_DAYS, type Weight, weigh } from './corroboration.ts';
import type { Day } from './days.ts';
import { type Domain, lineage, ownDomain } from './domain.ts';
import { listedOf } from './facts.ts';
import { MAIL_NOT_ASKED } from './mail.ts';

/** What makes 80 points and more. DNS is not asked for it: a new name on a business platform is 60 all the same. */
const FLAGGING: ReadonlySet<Weight> = new Set<Weight>(['verified', 'two_families', 'one_family']);

/** The feeds that flag a name; none where it scores less than 80 by the lists. */
export function flaggedBy(catalog: Catalog, name: string, today: Day): readonly string[] {
  const names = lineage(name as Domain);
  const { listing, listed } = listedOf(catalog, names, ownDomain(name), today);
  if (listing.hits.length === 0) return [];
  const weight = weigh(listed, { mail: MAIL_NOT_ASKED, settled: undefined, silent: false });
  return FLAGGING.has(weight) ? [...new Set(listing.hits.map(({ feed }) => feed))] : [];
}

/** No list has such a name, and one below any suffix, one by a rule for any label (`*.ck`) too, is registered so. */
export const ANY_BELOW = '_._.';

/**
 * The feeds that flag it and all that is below it. Of a suffix of a registry one line flags itself and only warns about
 * those below (2026-11-18); of one that gives names away also these, when it is a month old: as of any new name that is
 * told at once.
 */
export function flaggedWhole(catalog: Catalog, name: string, today: Day): readonly string[] {
  const feeds = flaggedBy(catalog, name, today);
  const isWhole = feeds.length > 0 && flaggedBy(catalog, ANY_BELOW + name, today + NEW_DAYS).length > 0;
  return isWhole ? feeds : [];
}
