/** Listed names below one registrable domain that is not listed itself: they speak against the whole of it. */

import type { Catalog } from './catalog.ts';
import { lineage, registrableDomain } from './domain.ts';
import type { Established } from './established.ts';
import { isByTwoFamilies, LEARNING } from './guest.ts';
import { isBelow } from './learnable.ts';
import { type Learned, someListed, UNWEIGHED } from './learned.ts';
import type { Exchange } from './mail.ts';
import { isSpared } from './owned.ts';
import type { Steps } from './steps.ts';

/** By registrable domain, the names below it. */
export type Siblings = ReadonlyMap<string, readonly string[]>;

/** The lists change once a day, what was learned once a minute. */
const kept = new WeakMap<Catalog, Siblings>();

/**
 * A registrable domain by the whole public suffix list, so that customers of a shared suffix are no siblings. Names of
 * one family do not count: it takes one stranger to write two of them.
 */
export function* siblingsIn(catalog: Catalog): Steps<Siblings> {
  const before = kept.get(catalog);
  if (before) return before;
  const siblings = new Map<string, string[]>();
  yield* catalog.walkingDeep(name => {
    const registrable = registrableDomain(name);
    if (registrable === undefined || registrable === name || !isBlamable(registrable, catalog)) return;
    // Not of the suffix above it.
    const own = lineage(name).filter(one => one.length >= registrable.length);
    if (!isByTwoFamilies(catalog.listed(own).families)) return;
    const others = siblings.get(registrable) ?? [];
    if (others.length < LEARNING.neighbours) siblings.set(registrable, [...others, name]);
  });
  kept.set(catalog, siblings);
  return siblings;
}

/** Of a catalog that was restored: they were kept with it, since finding them takes 5 s of ten million names (2026-11-17). */
export function putSiblings(catalog: Catalog, siblings: Siblings): void {
  kept.set(catalog, siblings);
}

/** Nobody who is known for something else: many people have names below such a domain. */
function isBlamable(registrable: string, catalog: Catalog): boolean {
  return (
    !catalog.isFree(registrable) &&
    !catalog.isPanel(registrable) &&
    !isSpared(registrable, catalog) &&
    catalog.providers.match(registrable) === undefined
  );
}

/**
 * Only where hosts of the registrable domain itself receive the mail, and none of the name's own: of 74 domains with
 * two such names (November 2026) most give subdomains away (mooo.com, us.to), and people there run their own hosts.
 */
export function bySiblings(
  siblings: Siblings,
  name: string,
  registrable: string | undefined,
  exchanges: readonly Exchange[],
  catalog: Catalog,
  /** Whether the domain is established, and the names below it are not what several parties ask for. */
  isQuiet: () => boolean,
): Learned | undefined {
  if (registrable === undefined) return undefined;
  const listed = siblings.get(registrable);
  if (!listed || listed.length < LEARNING.fewestSiblings) return undefined;
  if (!exchanges.every(({ host }) => isBelow(host, registrable) && !isBelow(host, name))) return undefined;
  const neighbours = someListed(listed, catalog);
  const found = { by: 'siblings', hosts: [registrable], neighbours, listedGuests: listed.length } as const;
  return { ...found, ...UNWEIGHED, ...(isQuiet() && { isResident: true }) };
}

/**
 * Below a domain names cost nothing: where lists name some of them, and more than one party asks for these at the same
 * hosts, it is no quiet one. By the lists alone, whoever had a name or two there had all others flagged; by one name at any
 * host, a forgotten one that somebody took over had the company flagged by what one key has shown (2026-11-18).
 */
export function isFarm(
  siblings: Siblings,
  asked: string,
  zone: string,
  at: string,
  established: Established,
): boolean {
  const listed = siblings.get(asked)?.length ?? 0;
  return listed >= LEARNING.fewestSiblings && established.isAskedBelow(zone, at);
}
