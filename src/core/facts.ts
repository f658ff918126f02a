/** The facts about a domain that are known before DNS: what the operator, lists and tables say, and whether DNS matters. */

import { type Catalog, daysNamed, firstNamed, hasLeft, type Listing, type Relay } from './catalog.ts';
import { isVerified, type Listed, waitsForDns } from './corroboration.ts';
import type { Day } from './days.ts';
import { type Domain, isGivenAway, lineage, ownDomain } from './domain.ts';
import { isByTwoFamilies } from './guest.ts';
import type { Infra } from './infra.ts';
import { findOverride, type Override } from './override.ts';
import type { Receiver } from './provider.ts';
import type { ListedAs } from './sighting.ts';
import { isSpecialUse } from './special-use.ts';
import { zoneOf } from './zone.ts';

/** Where everything but DNS comes from: replaced as wholes, so that identity tells whether they changed. */
export interface Sources {
  readonly catalog: Catalog;
  readonly overrides: ReadonlyMap<string, Override>;
  readonly infra: Infra;
  /** A listing grows older. */
  readonly today: Day;
}

export function isCurrent(facts: Sources, { catalog, overrides, infra, today }: Sources): boolean {
  return (
    facts.catalog === catalog &&
    facts.overrides === overrides &&
    facts.infra === infra &&
    facts.today === today
  );
}

/** What is known before DNS, all of it from one catalog, so that no answer mixes two generations. */
export interface Facts extends Sources, Listed {
  readonly domain: Domain;
  readonly override: Override | undefined;
  readonly registrable: string | undefined;
  /** The nearest name to the root that somebody registered. */
  readonly zone: string;
  readonly listing: Listing;
  readonly typoOf: string | undefined;
  /** What learning wants to know of the listing; null when there is none. */
  readonly listed: ListedAs | null;
  readonly specialUse: boolean;
  readonly relay: Relay | undefined;
  /** Who receives the mail of a domain that everybody knows. */
  readonly row: Receiver | undefined;
  /** `later`: DNS cannot change the verdict, only the label, so the question is sent in the background. */
  readonly asks: 'never' | 'later' | 'wait';
}

export function factsOf(domain: Domain, sources: Sources, now: number): Facts {
  const { catalog, overrides } = sources;
  const names = lineage(domain);
  const override = findOverride(overrides, names.length > 0 ? names : [domain], now);
  const specialUse = isSpecialUse(domain);
  const registrable = ownDomain(domain);
  const { listing, listed } = listedOf(catalog, names, registrable, sources.today);
  const relay = catalog.relay(names);
  const row = tableRow(catalog, domain, relay);
  const decided = override !== undefined || (listing.hits.length > 0 && !waitsForDns(listed));
  return {
    ...sources,
    ...listed,
    typoOf: listing.hits.length > 0 ? catalog.typoOf(registrable) : undefined,
    domain,
    override,
    registrable,
    zone: zoneOf(domain, catalog),
    listing,
    listed: listedAs(listing, listed),
    specialUse,
    relay,
    row,
    asks: specialUse || row ? 'never' : decided ? 'later' : 'wait',
  };
}

/** What the lists alone say of a name, by its lineage. */
export function listedOf(
  catalog: Catalog,
  names: readonly string[],
  registrable: string | undefined,
  today: Day,
): { readonly listing: Listing; readonly listed: Listed } {
  const listing = catalog.listed(names);
  const listed = {
    families: listing.families,
    namedDays: daysNamed(listing, today),
    left: hasLeft(listing),
    popular: isUsed(listing, registrable, catalog),
    byItsSuffix: suffixNamed(listing, registrable),
  };
  return { listing, listed };
}

/** The exact name only: `x.gmail.com` is asked in DNS. */
function tableRow(catalog: Catalog, domain: Domain, relay: Relay | undefined): Receiver | undefined {
  if (relay?.exact) return { kind: 'forwarding', label: relay.label, hosts: [] };
  const mailbox = catalog.mailbox(domain);
  return mailbox && { kind: mailbox.class, label: mailbox.label, hosts: [] };
}

/**
 * The panel is empty before the first update, but our own tables are not: a listed name can be free by them only, since
 * no list of free providers is believed about it. What is named below a provider is its own (vip.tom.com).
 */
function isUsed(listing: Listing, registrable: string | undefined, catalog: Catalog): boolean {
  if (listing.hits.length === 0) return false;
  if (catalog.isPanel(registrable)) return true;
  return catalog.isSurelyFree(registrable) && !suffixNamed(listing, registrable);
}

function suffixNamed({ hits }: Listing, registrable: string | undefined): Listed['byItsSuffix'] {
  const entry = hits[0]?.entry;
  if (entry === undefined || !registrable?.endsWith(`.${entry}`)) return undefined;
  return isGivenAway(entry) ? 'free' : 'registry';
}

/** One that many people use is an innocent guest, whatever broad lists say. */
function listedAs(listing: Listing, listed: Listed): ListedAs | null {
  const { hits, families } = listing;
  if (hits.length === 0 || (listed.popular && !isVerified(listed))) return null;
  return { entry: hits[0]!.entry, corroborated: isByTwoFamilies(families), since: firstNamed(listing) };
}
