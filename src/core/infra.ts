/** Mail infrastructure: hosts and addresses by their guests, and when the guests tell that a host is a disposable one. */

import type { Catalog } from './catalog.ts';
import { isHostName, lineage, registrableDomain } from './domain.ts';
import type { Exchange } from './mail.ts';
import type { Steps } from './steps.ts';

/**
 * When a host counts as one that serves disposable domains almost exclusively. A guest is a registrable domain, once
 * per host: neither many lookups of one name nor many names below one domain move anything.
 *
 * The share. Lists know 56 % of the names that are abused, 68 % of the newest (measured November 2026), so on a host
 * whose guests are all disposable about every third is not listed yet and looks innocent. On an ordinary host about
 * one in a thousand is listed (40 of the 42,044 most popular domains). A host with more listed guests than others
 * therefore has hardly any that is not disposable. Asking for nine in ten would only find hosts whose every name
 * stands on a list already, where there is nothing left to find. Unlisted guests always count as innocent, those that
 * were flagged because of this very host included: a host that was learned by mistake unlearns itself.
 *
 * The number. Whoever owns listed domains can point them at a victim's host, and listed names are all resolved by a
 * sweep while innocent ones are only seen when somebody asks. Ten distinct registrable domains have a price, and ten
 * at one small host are no accident. Where the host's own domain is listed too, no stranger is the victim: five do.
 *
 * Whom this cannot hit, whatever points at it: hosts that the provider table knows, hosts of protected, relay or
 * consumer mail domains, hosts that receive for a protected domain, addresses that any of these answer at, and a
 * domain's own hosts (see `isLearnable` and `Infra.find`). What is left is a small unknown host with fewer innocent
 * guests seen than listed ones: an attack there costs ten listed domains or more, scores below 85, stands with its
 * neighbours in the evidence and in `infra list`, and ends for good with `infra forget`.
 */
export const LEARNING = Object.freeze({
  fewestFlagged: 10,
  fewestFlaggedUnderListed: 5,
  /** A guest that was not seen for so long is forgotten, and with it what was learned from it. */
  keptDays: 90,
  /** Of each kind and host: more tell nothing new. */
  mostGuests: 1_000,
  /** Exchanges of one domain and addresses of one host that are looked at: nobody may fill the store with one name. */
  mostExchanges: 4,
  mostAddresses: 4,
});

/** A domain whose mail a host receives. */
export interface Guest {
  /** A host name or an address. */
  readonly host: string;
  /** The ICANN-registrable domain: names below it cost nothing, so they count once together. */
  readonly domain: string;
  /** The name that stands in a disposable feed; null for an innocent guest. */
  readonly entry: string | null;
  /** Last seen (UTC, `YYYY-MM-DD`). */
  readonly day: string;
}

/** What is remembered of a host name or an address. */
export interface HostRecord {
  readonly name: string;
  readonly flagged: number;
  readonly innocent: number;
  /** It belongs to, or also answers for, somebody who is known not to be disposable. */
  readonly shared: boolean;
  /** An operator took it out: it is not learned again. */
  readonly forgotten: boolean;
  /** A few guests that are listed. Never unlisted ones: nobody's lookups may show to others. */
  readonly neighbours: readonly string[];
  readonly lastDay: string | null;
}

/** Why the mail of an unlisted domain looks disposable. */
export interface LearnedHosts {
  /** `address` as soon as one host was recognised by its address only. */
  readonly by: 'name' | 'address';
  readonly hosts: readonly string[];
  readonly neighbours: readonly string[];
}

const MOST_NEIGHBOURS = 3;

/** Whether a host may be learned at all: nobody who is known for something else, and nothing of protected domains. */
export function isLearnable(host: string, catalog: Catalog): boolean {
  const row = catalog.providers.match(host);
  if (row) return row.class === 'disposable';
  const names = lineage(host);
  return !names.some(name => catalog.isProtected(name)) && !catalog.isFree(registrableDomain(host));
}

export function servesDisposable({ flagged, innocent }: HostRecord, underListed: boolean): boolean {
  const fewest = underListed ? LEARNING.fewestFlaggedUnderListed : LEARNING.fewestFlagged;
  return flagged >= fewest && flagged > innocent;
}

/** All that was learned, folded for lookup. Built whole, swapped whole; the catalog has the last word. */
export class Infra {
  /** Host name or address to its neighbours. */
  readonly #learned: ReadonlyMap<string, readonly string[]>;
  readonly #forgotten: ReadonlySet<string>;
  readonly #addressesOf: (host: string) => readonly string[] | undefined;

  constructor(
    learned: ReadonlyMap<string, readonly string[]>,
    forgotten: ReadonlySet<string>,
    /** What is known already, without asking. */
    addressesOf: (host: string) => readonly string[] | undefined,
  ) {
    this.#learned = learned;
    this.#forgotten = forgotten;
    this.#addressesOf = addressesOf;
  }

  /** Learned hosts and addresses. */
  get size(): number {
    return this.#learned.size;
  }

  /**
   * Only where every exchange is learned: one other may be the one that matters. Hosts of the domain itself never
   * are, since anybody can point a learned name at their address.
   */
  find(
    registrable: string | undefined,
    exchanges: readonly Exchange[],
    catalog: Catalog,
  ): LearnedHosts | undefined {
    if (this.#learned.size === 0) return undefined;
    let by: LearnedHosts['by'] = 'name';
    const neighbours: string[] = [];
    for (const { host } of exchanges) {
      let near = this.#learned.get(host);
      if (!near) {
        if (catalog.providers.match(host)?.class === 'disposable') continue;
        near = this.#byAddress(host);
        by = 'address';
      }
      if (!near || isBelow(host, registrable) || !isLearnable(host, catalog)) return undefined;
      neighbours.push(...near);
    }
    const named = [...new Set(neighbours)].slice(0, MOST_NEIGHBOURS);
    return named.length === 0
      ? undefined
      : { by, hosts: exchanges.map(({ host }) => host), neighbours: named };
  }

  #byAddress(host: string): readonly string[] | undefined {
    const addresses = this.#addressesOf(host);
    if (!addresses || addresses.length === 0 || this.#forgotten.has(host)) return undefined;
    const near = addresses.map(address => this.#learned.get(address));
    return near.every(one => one !== undefined) ? near.flat() : undefined;
  }
}

/** Judging a host reads the lineages of its neighbours, so fewer hosts are a step than names. */
const HOSTS_A_STEP = 50;

export function* foldingInfra(
  records: readonly HostRecord[],
  catalog: Catalog,
  addressesOf: (host: string) => readonly string[] | undefined,
): Steps<Infra> {
  const learned = new Map<string, readonly string[]>();
  const forgotten = new Set<string>();
  let at = 0;
  for (const record of records) {
    if (++at % HOSTS_A_STEP === 0) yield;
    const { name, neighbours } = record;
    if (record.forgotten) forgotten.add(name);
    if (isLearned(record, catalog))
      learned.set(
        name,
        neighbours.filter(entry => isListed(entry, catalog)),
      );
  }
  return new Infra(learned, forgotten, addressesOf);
}

/** By today's lists and tables: they may have changed since the guests were seen. */
export function isLearned(record: HostRecord, catalog: Catalog): boolean {
  if (record.shared || record.forgotten) return false;
  if (!record.neighbours.some(entry => isListed(entry, catalog))) return false;
  const byName = isHostName(record.name);
  if (byName && !isLearnable(record.name, catalog)) return false;
  return servesDisposable(record, byName && isListed(record.name, catalog));
}

function isListed(name: string, catalog: Catalog): boolean {
  return catalog.listed(lineage(name)).hits.length > 0;
}

function isBelow(host: string, registrable: string | undefined): boolean {
  return registrable !== undefined && (host === registrable || host.endsWith(`.${registrable}`));
}
