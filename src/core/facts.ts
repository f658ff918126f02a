/** The facts about a domain that are known before DNS: what the operator, lists and tables say, and whether DNS matters. */

import { type Catalog, daysNamed, firstNamed, hasLeft, type Listing, type Relay } from './catalog.ts';
import { isVerified, type Listed, type Weight, waitsForDns, weigh } from './corroboration.ts';
import type { Day } from './days.ts';
import { type Domain, isGivenAway, lineage, ownDomain } from './domain.ts';
import { isByTwoFamilies } from './guest.ts';
import type { Infra } from './infra.ts';
import { MAIL_NOT_ASKED } from './mail.ts';
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

interface Part {
  readonly listing: Listing;
  readonly listed: Listed;
}

/**
 * What the lists alone say of a name, by its lineage. What they say of it and what they say of the suffix above it are
 * judged apart, and the heavier counts: whoever looked at mooo.com did not look at the name, and with one broad line
 * about a widely used one both together made it 100 (2026-11-18).
 */
export function listedOf(
  catalog: Catalog,
  names: readonly string[],
  registrable: string | undefined,
  today: Day,
): Part {
  const all = catalog.listed(names);
  const own = all.hits.findIndex(({ entry }) => isAbove(entry, registrable));
  if (own <= 0) return partOf(all, catalog, registrable, today);
  const [near, far] = [slice(all, 0, own), slice(all, own)].map(one =>
    partOf(one, catalog, registrable, today),
  ) as [Part, Part];
  const [heavier, other] = worthOf(far) > worthOf(near) ? [far, near] : [near, far];
  return { ...heavier, listing: { ...heavier.listing, others: other.listing.hits } };
}

function slice({ hits, namings }: Listing, from: number, to?: number): Listing {
  const some = namings.slice(from, to);
  return {
    hits: hits.slice(from, to),
    families: new Set(some.map(({ feed }) => feed.family)),
    namings: some,
  };
}

/** By what it makes of a name of which DNS says the best. */
function worthOf({ listed }: Part): number {
  return WORTH[weigh(listed, { mail: MAIL_NOT_ASKED, settled: 'platform', silent: false })];
}

const WORTH: Readonly<Record<Weight, number>> = {
  ...{ verified: 3, two_families: 3, one_family: 2, unanswered: 2 },
  ...{ registry: 1, left: 1, new: 1, popular: 0 },
};

function partOf(listing: Listing, catalog: Catalog, registrable: string | undefined, today: Day): Part {
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
  if (entry === undefined || !isAbove(entry, registrable)) return undefined;
  return isGivenAway(entry) ? 'free' : 'registry';
}

function isAbove(entry: string, registrable: string | undefined): boolean {
  return registrable?.endsWith(`.${entry}`) === true;
}

/** One that many people use is an innocent guest, whatever broad lists say. */
function listedAs(listing: Listing, listed: Listed): ListedAs | null {
  const { hits, families } = listing;
  if (hits.length === 0 || (listed.popular && !isVerified(listed))) return null;
  return { entry: hits[0]!.entry, corroborated: isByTwoFamilies(families), since: firstNamed(listing) };
}
