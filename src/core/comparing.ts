/** Two catalogs → the names that the lists began or ceased to flag between them. */

import type { Catalog } from './catalog.ts';
import { type Weight, weigh } from './corroboration.ts';
import { type Day, dayAt } from './days.ts';
import { type Domain, lineage, ownDomain } from './domain.ts';
import { listedOf } from './facts.ts';
import type { ListingChange, NumberedChange } from './listing-change.ts';
import { MAIL_NOT_ASKED } from './mail.ts';
import { STEP, type Steps } from './steps.ts';

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

/** All that may make a difference to its verdict, or to that of names below it: most names of a list stay as they are. */
function saidOf(catalog: Catalog, name: string): string {
  const { namings } = catalog.listed([name]);
  const words = namings.map(({ feed, since, until }) => `${feed.id} ${feed.family} ${since} ${until}`);
  const innocent = [catalog.isPanel(name), catalog.isSurelyFree(name)];
  return `${words} ${innocent} ${catalog.isGuarded(name)} ${catalog.isProtected(name)}`;
}

/** What another list is: one of the same names that was added anew may be of another kind. */
const versionOf = ({ digest, feed: { kind, family } }: Catalog['snapshots'][number]) =>
  `${digest} ${kind} ${family}`;

export const isNamed = (catalog: Catalog, name: string) => catalog.listed([name]).namings.length > 0;

/** A name above it is flagged: whoever follows has that. */
const isCovered = (catalog: Catalog, name: string, today: Day) =>
  lineage(name as Domain).some(one => one !== name && flaggedBy(catalog, one, today).length > 0);

/** Changes are kept for 30 days: what is to be known for longer is told again before. */
const REMEMBERED_MS = 15 * 86_400_000;

/** What was told as flagged last and no list names: a listed name above it flags it, or did. */
export type Remembered = ReadonlyMap<string, NumberedChange>;

/** Only names that changed lists hold, and listed ones below them, are looked at, in their order, and what is remembered. */
export function* comparing(
  before: Catalog,
  after: Catalog,
  at: number,
  remembered: Remembered = new Map(),
): Steps<ListingChange[]> {
  const without = ({ snapshots }: Catalog, other: Catalog) => {
    const versions = new Map(other.snapshots.map(one => [one.feed.id, versionOf(one)]));
    return snapshots.filter(one => versions.get(one.feed.id) !== versionOf(one));
  };
  const today = dayAt(at);
  const found = new Map<string, ListingChange>();
  const compare = (domain: string) => {
    if (found.has(domain)) return;
    const [was, is] = [flaggedBy(before, domain, today), flaggedBy(after, domain, today)];
    if (was.length === 0 && is.length > 0) found.set(domain, { domain, change: 'flagged', at, feeds: is });
    if (was.length > 0 && is.length === 0) found.set(domain, { domain, change: 'cleared', at, feeds: was });
    if (was.length > 0 && is.length > 0 && isToldAgain(before, after, domain, today))
      found.set(domain, { domain, change: 'flagged', at, feeds: is });
  };
  const isSame = (name: string) => saidOf(before, name) === saidOf(after, name);
  const changed = new Set<string>();
  let looked = 0;
  for (const { names } of [...without(before, after), ...without(after, before)])
    for (const domain of names) {
      if (++looked % STEP === 0) yield;
      if (changed.has(domain) || isSame(domain)) continue;
      changed.add(domain);
      compare(domain);
    }
  if (changed.size === 0 && remembered.size === 0) return [];
  for (const { feed, names } of [...before.snapshots, ...after.snapshots]) {
    if (feed.kind !== 'disposable') continue;
    for (const domain of names) {
      if (++looked % STEP === 0) yield;
      if (isBelow(domain, changed)) compare(domain);
    }
  }
  for (const [domain, last] of remembered) {
    if (++looked % STEP === 0) yield;
    const feeds = flaggedBy(after, domain, today);
    if (feeds.length === 0) found.set(domain, { domain, change: 'cleared', at, feeds: last.feeds });
    else if (at - last.at > REMEMBERED_MS) found.set(domain, { domain, change: 'flagged', at, feeds });
  }
  return [...found.values()];
}

/**
 * Flagged before and after, and told once more. What a list withdraws while a name above it is flagged is told as long as
 * that is, so that it is known when that ends; and what came while one above it was flagged is told when that one goes.
 * Else a copy that is kept by changes had the one for good, and never the other (2026-11-18).
 */
function isToldAgain(before: Catalog, after: Catalog, domain: string, today: Day): boolean {
  const isWithdrawn = isNamed(before, domain) && !isNamed(after, domain);
  return isWithdrawn || (isCovered(before, domain, today) && !isCovered(after, domain, today));
}

/** Not a name itself: those were looked at. */
function isBelow(domain: string, names: ReadonlySet<string>): boolean {
  for (let dot = domain.indexOf('.'); dot !== -1; dot = domain.indexOf('.', dot + 1))
    if (names.has(domain.slice(dot + 1))) return true;
  return false;
}
