/** Whose a name is when domains are counted: the part of it that costs something to have. */

import type { Catalog } from './catalog.ts';
import { isGivenAway, lineage, registrableDomain } from './domain.ts';

/**
 * What the private part of the public suffix list has of registries: they sell names below one label as a country's own
 * registry does (co.ua, com.de). Most others in it give names away (eu.cc, duckdns.org), which may all be one party's.
 */
export const A_REGISTRY = /^(?:co|com|net|org|biz)\.[a-z]{2}$/;

/**
 * As it was registered: by the ICANN part of the list, or below a registry of the private part, one of ours among the
 * protected names included, that does not give names away (eu.org): a hundred of these would speak for any host.
 */
export function zoneOf(name: string, catalog: Pick<Catalog, 'isSuffix'>): string {
  const registrable = registrableDomain(name);
  const suffix = registrable?.slice(registrable.indexOf('.') + 1);
  if (registrable === undefined) return lineage(name).at(-1) ?? name;
  const isSold = (A_REGISTRY.test(suffix!) || catalog.isSuffix(suffix!)) && !isGivenAway(suffix!);
  if (isSold) return registrable;
  return lineage(name).at(-1) ?? name;
}
