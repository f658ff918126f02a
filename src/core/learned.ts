/** Why a domain was found by its mail hosts: what each of them tells, put together. */

import type { Catalog } from './catalog.ts';
import { lineage, registrableDomain, shortLineage } from './domain.ts';
import { type HostRecord, LEARNING } from './guest.ts';
import type { Exchange } from './mail.ts';

/** What is known of a host, an address or a domain of hosts. */
export interface Known {
  /** As today's lists know its guests, without these: what stays in memory is what each reading has to move there. */
  readonly record: Omit<HostRecord, 'groups'>;
  /** Null where it cannot be learned, whatever its guests weigh. */
  readonly sum: number | null;
  /** Who is not flagged by it though it was learned, each between spaces; empty where it was not. */
  readonly residents: string;
}

/**
 * Why an unlisted domain looks disposable. `name`: by its hosts, or the domain they are below. `listed`: the domain of
 * a host is listed itself. `address`: as soon as one host was recognised by its address only. `siblings`: other names
 * below its registrable domain are listed.
 */
export type LearnedBy = 'name' | 'listed' | 'address' | 'siblings';

export interface Learned {
  readonly by: LearnedBy;
  /** What speaks against it: its hosts, or the domain that it is below. */
  readonly hosts: readonly string[];
  readonly neighbours: readonly string[];
  /** How many listed domains share the host that has most of them. */
  readonly listedGuests: number;
  /** What the guests weigh together where they do least; null where no guest was weighed. */
  readonly sum: number | null;
  /** What they must weigh at least. */
  readonly enough: number;
  /** The domain of hosts whose guests were weighed, where it was not a host by itself. */
  readonly below?: string | undefined;
  /** Of those that were seen there few are listed: a warning. */
  readonly isFew?: true;
  /** It is established there, and the surest of the listed ones are not enough against it: a warning. */
  readonly isResident?: true;
  /** Hosts that senders try first, and of which nobody knows yet whether they exist, stand before these. */
  readonly isBehind?: true;
}

/** The same of one host or address, before all that decide are put together. */
export type Found = Omit<Learned, 'hosts'>;

/** Listed names speak for themselves. */
export const UNWEIGHED = { sum: null, enough: 0 } as const;

/** By what is known of it, where that is enough. */
export function foundBy(by: LearnedBy, { record, sum }: Known, enough: number): Found {
  const { neighbours, flagged: listedGuests, innocent } = record;
  const found = { by, neighbours, listedGuests, sum, enough };
  const isFew = listedGuests * LEARNING.listedToOne < listedGuests + innocent;
  return isFew ? { ...found, isFew } : found;
}

export const asResident = (found: Found): Found => ({ ...found, isResident: true });

const RANK: readonly LearnedBy[] = ['siblings', 'address', 'listed', 'name'];

/** The weakest speaks for all, with the neighbours of each. */
export function together(found: readonly Found[], deciding: readonly Exchange[], catalog: Catalog): Learned {
  const by = RANK.find(one => found.some(each => each.by === one))!;
  const least = leastOf(found);
  return {
    ...least,
    by,
    below: found.every(({ below }) => below === least.below) ? least.below : undefined,
    ...(found.some(({ isFew }) => isFew) && { isFew: true }),
    ...(found.some(({ isResident }) => isResident) && { isResident: true }),
    hosts: deciding.map(({ host }) => host),
    neighbours: someListed(new Set(found.flatMap(({ neighbours }) => neighbours)), catalog),
    listedGuests: Math.max(...found.map(({ listedGuests }) => listedGuests)),
  };
}

export function leastOf(found: readonly Found[]): Found {
  return found.reduce((least, next) =>
    (next.sum ?? Number.POSITIVE_INFINITY) < (least.sum ?? Number.POSITIVE_INFINITY) ? next : least,
  );
}

const MOST_NAMED = 3;

/** The first few that are listed today: enough to look up by hand. */
export function someListed(entries: Iterable<string>, catalog: Catalog): string[] {
  const listed: string[] = [];
  for (const entry of entries) {
    if (listed.length === MOST_NAMED) break;
    if (isListed(entry, catalog)) listed.push(entry);
  }
  return listed;
}

export function isListed(name: string, catalog: Catalog): boolean {
  return catalog.listed(lineage(name)).hits.length > 0;
}

/** Up to the domain that somebody registered: a suffix that others are customers of (`duckdns.org`) says nothing of them. */
export function ownLineage(host: string): string[] {
  const registrable = registrableDomain(host);
  return registrable === undefined
    ? []
    : shortLineage(host).filter(name => name.length >= registrable.length);
}
