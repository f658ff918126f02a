/** From a domain to its verdict. Facts are gathered here; the judging is core/verdict.ts. */

import { LRUCache } from 'lru-cache';
import { type Catalog, daysNamed, firstNamed, hasLeft, type Listing, type Relay } from './core/catalog.ts';
import { isVerified, type Listed, waitsForDns } from './core/corroboration.ts';
import { type Day, dayAt } from './core/days.ts';
import { type Domain, lineage, registrableDomain } from './core/domain.ts';
import { isByTwoFamilies } from './core/guest.ts';
import type { GraphHost, Infra } from './core/infra.ts';
import { isBelow } from './core/learnable.ts';
import type { Learned } from './core/learned.ts';
import { MAIL_NOT_ASKED, MAIL_UNKNOWN, type Mail, triedOf } from './core/mail.ts';
import { findOverride, type Override } from './core/override.ts';
import type { Clock, Resolver } from './core/ports.ts';
import { isRented, LANDLORDS, type Receiver, type ReceiverKind } from './core/provider.ts';
import { roleWord } from './core/role.ts';
import type { ListedAs } from './core/sighting.ts';
import { isSpecialUse } from './core/special-use.ts';
import { type Evidence, judge, type Verdict } from './core/verdict.ts';
import { zoneOf } from './core/zone.ts';
import type { Learn } from './learn.ts';

export interface Answer {
  readonly verdict: Verdict;
  readonly evidence: Evidence;
  /** The catalog's generation that every fact of this answer comes from. */
  readonly snapshot: string;
  /** Its hosts that listed domains share; made when somebody wants to see it. */
  readonly graph: () => readonly GraphHost[];
  /** DNS did not answer, nothing older is kept and no list or override decides. */
  readonly degraded: boolean;
  /** What the ranking counts; undefined when the verdict is safe. */
  readonly flag: { readonly domain: string; readonly listed: boolean } | undefined;
}

export interface Lookup {
  /** At once whenever no DNS wait is needed: most lookups never leave this turn of the event loop. */
  lookup(domain: Domain, keyId: string): Answer | Promise<Answer>;
  /** Today's verdict from what is kept, with no question sent. */
  last(domain: Domain): Answer;
}

export interface LookupParts {
  readonly catalog: () => Catalog;
  readonly overrides: () => ReadonlyMap<string, Override>;
  readonly resolver: Resolver;
  readonly clock: Clock;
  /** What was learned about mail hosts. */
  readonly infra: () => Infra;
  /** Told whose mail is received where, for learning. */
  readonly note: Learn['note'];
  /** Told which hosts were met that no table knows. */
  readonly meet: Learn['meet'];
}

/**
 * Gathering and judging take 3 µs, remembering 0.3 (2026-11-15). Only names that were answered without waiting for DNS
 * are remembered: a name asked for once is not worth its room, and a flood of them would take the room of all others.
 */
const MOST_REMEMBERED = 20_000;

/**
 * An answer keeps its mail from being freed when the cache of DNS has let it go, so only short ones are remembered: 20
 * long hosts each of 22,000 names took 144 MiB (2026-11-16). Of the hosts' names together; five of Google's have 110.
 */
const MOST_HOST_CHARACTERS = 400;

/** What was found for a name, and what was answered last. */
interface Remembered {
  readonly facts: Facts;
  answer: Answer | undefined;
  /** Whose hosts' addresses are all known. */
  met: Mail | undefined;
}

export function createLookup(parts: LookupParts): Lookup {
  const { catalog, overrides, resolver, clock, infra, note, meet } = parts;
  const remembered = new LRUCache<string, Remembered>({ max: MOST_REMEMBERED });
  const sources = (): Sources => ({
    catalog: catalog(),
    overrides: overrides(),
    infra: infra(),
    today: dayAt(clock()),
  });
  const isSilent = (domain: Domain) => resolver.isSilent(domain);
  let rememberedFrom: Catalog | undefined;

  /** What was found stands while its sources do. */
  function recall(domain: Domain, from: Sources): Remembered | undefined {
    // Names that nobody asks for again would keep a catalog of 40 MB that was replaced long ago.
    if (from.catalog !== rememberedFrom) remembered.clear();
    rememberedFrom = from.catalog;
    const before = remembered.get(domain);
    return before && isCurrent(before.facts, from) ? before : undefined;
  }

  /** Only an override that ends makes it a matter of time. */
  function remember(found: Remembered): void {
    const { domain, override } = found.facts;
    if ((override?.expiresAt ?? null) === null) remembered.set(domain, found);
  }

  function answered(found: Remembered, mail: Mail): Answer {
    if (found.answer?.evidence.mail === mail) return found.answer;
    const fresh = answer(found.facts, mail, isSilent);
    // Addresses of unrecognised hosts become known behind an answer, and the next one must use them. Whether silence
    // tells anything is known later.
    const isAddressed = fresh.evidence.receiver?.kind === 'third_party' || mail.state === 'implicit_mx';
    found.answer = isAddressed || mail.state === 'unknown' || isLong(mail) ? undefined : fresh;
    return fresh;
  }

  function lookup(domain: Domain, keyId: string): Answer | Promise<Answer> {
    const from = sources();
    const before = recall(domain, from);
    const found: Remembered = before ?? {
      facts: known(domain, from, clock()),
      answer: undefined,
      met: undefined,
    };
    const { asks } = found.facts;
    const fresh = asks === 'never' ? undefined : resolver.peek(domain);
    if (asks === 'wait' && !fresh) {
      return resolver.resolve(domain, keyId).then(mail => noted(found, mail, keyId));
    }
    if (!before) remember(found);
    if (asks === 'never') return answered(found, MAIL_NOT_ASKED);
    if (fresh) return noted(found, fresh, keyId);
    resolver.prefetch(domain);
    return noted(found, resolver.last(domain) ?? MAIL_NOT_ASKED, keyId);
  }

  /** An operator's word says nothing about a host's other guests, so such a name is no guest. */
  function noted(found: Remembered, mail: Mail, keyId: string): Answer {
    const { facts } = found;
    if (facts.override === undefined) note(facts.domain, facts.zone, facts.listed, mail, keyId);
    const given = answered(found, mail);
    if (found.met !== mail) {
      const isKnown =
        !canBeLearned(facts, mail, given.evidence.receiver) || meet(triedOf(facts.domain, mail), keyId);
      // Addresses stay known for longer than an answer about mail is kept.
      if (isKnown && !isLong(mail)) found.met = mail;
    }
    return given;
  }

  /** Remembers nothing: a ranking of thousands of names would push out the hot ones. */
  function last(domain: Domain): Answer {
    const facts = known(domain, sources(), clock());
    if (facts.asks === 'never') return answer(facts, MAIL_NOT_ASKED, isSilent);
    const nothing = facts.asks === 'wait' ? MAIL_UNKNOWN : MAIL_NOT_ASKED;
    return answer(facts, resolver.last(domain) ?? nothing, isSilent);
  }

  return { lookup, last };
}

function isLong({ exchanges }: Mail): boolean {
  return exchanges.reduce((sum, { host }) => sum + host.length, 0) > MOST_HOST_CHARACTERS;
}

/** Where everything but DNS comes from: replaced as wholes, so that identity tells whether they changed. */
interface Sources {
  readonly catalog: Catalog;
  readonly overrides: ReadonlyMap<string, Override>;
  readonly infra: Infra;
  /** A listing grows older. */
  readonly today: Day;
}

function isCurrent(facts: Sources, { catalog, overrides, infra, today }: Sources): boolean {
  return (
    facts.catalog === catalog &&
    facts.overrides === overrides &&
    facts.infra === infra &&
    facts.today === today
  );
}

/** What is known before DNS, all of it from one catalog, so that no answer mixes two generations. */
interface Facts extends Sources, Listed {
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

function known(domain: Domain, sources: Sources, now: number): Facts {
  const { catalog, overrides } = sources;
  const names = lineage(domain);
  const override = findOverride(overrides, names.length > 0 ? names : [domain], now);
  const specialUse = isSpecialUse(domain);
  const listing = catalog.listed(names);
  const relay = catalog.relay(names);
  const row = tableRow(catalog, domain, relay);
  const registrable = registrableDomain(domain);
  const { families } = listing;
  const listed: Listed = {
    families,
    namedDays: daysNamed(listing, sources.today),
    left: hasLeft(listing),
    popular: isUsed(listing, registrable, catalog),
    byItsSuffix: isByItsSuffix(listing, registrable),
  };
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

/** The exact name only: `x.gmail.com` is asked in DNS. */
function tableRow(catalog: Catalog, domain: Domain, relay: Relay | undefined): Receiver | undefined {
  if (relay?.exact) return { kind: 'forwarding', label: relay.label, hosts: [] };
  const mailbox = catalog.mailbox(domain);
  return mailbox && { kind: mailbox.class, label: mailbox.label, hosts: [] };
}

function answer(facts: Facts, mail: Mail, isSilent: Resolver['isSilent']): Answer {
  const { domain, catalog, override, registrable, listing, row } = facts;
  const isWaiting = waitsForDns(facts);
  const receiver = row ?? catalog.providers.receiver(registrable, mail);
  const evidence: Evidence = {
    domain,
    override,
    lists: listing.hits,
    families: facts.families,
    namedDays: facts.namedDays,
    left: facts.left,
    popular: facts.popular,
    byItsSuffix: facts.byItsSuffix,
    typoOf: facts.typoOf,
    settled: isWaiting ? catalog.providers.settled(registrable, mail) : undefined,
    silent: isWaiting && mail.state === 'unknown' && isSilent(domain),
    specialUse: facts.specialUse,
    roleWord: roleWord(domain, registrable, catalog.roles),
    mail,
    receiver,
    wellKnown: row !== undefined,
    free: catalog.isFree(registrable),
    relay: facts.relay?.label,
    learned: canBeLearned(facts, mail, receiver) ? byInfra(facts, mail) : undefined,
  };
  const verdict = judge(evidence);
  return {
    verdict,
    evidence,
    snapshot: catalog.generation,
    graph: () => facts.infra.graph(triedOf(domain, mail), catalog),
    degraded: mail.state === 'unknown' && listing.hits.length === 0 && override === undefined,
    flag: flagOf(facts, verdict),
  };
}

/** Only hosts that no table knows can be learned. */
const UNRECOGNISED: ReadonlySet<ReceiverKind> = new Set<ReceiverKind>(['third_party', 'self_hosted']);

/** A known host before or beside others need not exist, as long as nobody has its address. */
function canBeLearned({ catalog, registrable }: Facts, mail: Mail, receiver: Receiver | undefined): boolean {
  if (!receiver) return mail.cut === true || mail.state === 'implicit_mx';
  if (UNRECOGNISED.has(receiver.kind)) return true;
  if (receiver.hosts.length >= mail.exchanges.length && !LANDLORDS.has(receiver.kind)) return false;
  return mail.exchanges.some(({ host }) => {
    const row = catalog.providers.match(host);
    return row ? isRented(host, row) : !isBelow(host, registrable);
  });
}

/**
 * What protects a name from every feed protects it here too, with all that its owner has below it. Below a registry
 * (eu.org) are strangers: that it is protected says nothing of them.
 */
function byInfra(facts: Facts, mail: Mail): Learned | undefined {
  const { domain, catalog, infra, registrable } = facts;
  const learned =
    mail.state === 'implicit_mx'
      ? infra.findAt(domain, catalog)
      : infra.find(domain, registrable, mail.exchanges, catalog);
  if (!learned || catalog.isSurelyFree(registrable) || catalog.isPanel(registrable)) return undefined;
  const { length } = registrable ?? domain;
  const isGuarded = lineage(domain).some(name => name.length >= length && catalog.isGuarded(name));
  return isGuarded ? undefined : learned;
}

/**
 * The panel is empty before the first update, but our own tables are not: a listed name can be free by them only, since
 * no list of free providers is believed about it.
 */
function isUsed({ hits }: Listing, registrable: string | undefined, catalog: Catalog): boolean {
  if (hits.length === 0) return false;
  return catalog.isPanel(registrable) || (hits[0]!.entry === registrable && catalog.isFree(registrable));
}

function isByItsSuffix({ hits }: Listing, registrable: string | undefined): boolean {
  return hits.length > 0 && registrable?.endsWith(`.${hits[0]!.entry}`) === true;
}

/** One that many people use is an innocent guest, whatever broad lists say. */
function listedAs(listing: Listing, listed: Listed): ListedAs | null {
  const { hits, families } = listing;
  if (hits.length === 0 || (listed.popular && !isVerified(listed))) return null;
  return { entry: hits[0]!.entry, corroborated: isByTwoFamilies(families), since: firstNamed(listing) };
}

/**
 * `inbox.mailinator.com` counts for `mailinator.com`: the name that the list decided on. A protected name is never
 * ranked, whatever DNS says of it today; only an operator can want that.
 */
function flagOf({ domain, catalog, override, listing }: Facts, { reason }: Verdict): Answer['flag'] {
  if (reason === 'safe' || (override === undefined && catalog.isProtected(domain))) return undefined;
  const entry = reason === 'disposable' ? listing.hits[0]?.entry : undefined;
  return { domain: entry ?? domain, listed: entry !== undefined };
}
