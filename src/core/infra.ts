/** Mail infrastructure: what the guests of hosts and addresses tell about a domain that is received there. */

import type { Catalog } from './catalog.ts';
import { isHostName, lineage, registrableDomain } from './domain.ts';
import { type HostRecord, LEARNING } from './guest.ts';
import type { Exchange } from './mail.ts';
import type { Steps } from './steps.ts';

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
