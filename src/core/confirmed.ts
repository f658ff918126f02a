/** Which names can be told from a filter: those at 100 whatever DNS says, together with everything below them. */

import type { Catalog } from './catalog.ts';
import { isVerified } from './corroboration.ts';
import { dayAt } from './days.ts';
import { lineage, ownDomain, registrableDomain } from './domain.ts';
import { listedOf, type Sources } from './facts.ts';
import type { Spared } from './fuse.ts';
import { type NameList, Packer } from './names.ts';
import { findOverride, type Override } from './override.ts';
import { isSpecialUse } from './special-use.ts';
import { DEEP_STEP, STEP, type Steps } from './steps.ts';

/** Of what lists and operators say alone. */
export type Confirming = Pick<Sources, 'catalog' | 'overrides'>;

/** What goes into a filter, and what it must not take for one of these. */
export interface Confirmed {
  /** Distinct, in the order of the catalog; those that only an override denies come last. */
  readonly names: NameList;
  /** Names of two labels or more above these: clients begin there, and look further only below one of them. */
  readonly above: ReadonlySet<string>;
  readonly spared: Spared;
}

/** Clients ask for a name and all above it, suffixes too, of which they know none: `allSuffixes` are those. */
export function* confirming(
  { catalog, overrides }: Confirming,
  now: number,
  allSuffixes: Iterable<string>,
): Steps<Confirmed> {
  const isConfirmed = confirmedBy({ catalog, overrides }, now);
  const innocents = yield* innocentsOf(catalog, overrides);
  const exceptions = yield* above(innocents);
  const suffixes = yield* collecting(allSuffixes);
  const names = new Packer();
  const higher = new Set<string>();
  let at = 0;
  for (const name of listedThenDenied(catalog, overrides)) {
    if (++at % DEEP_STEP === 0) yield;
    if (exceptions.has(name) || isSuffix(name) || !isConfirmed(name)) continue;
    names.push(name);
    for (const one of namesAbove(name)) if (one.includes('.')) higher.add(one);
    innocents.delete(name);
    suffixes.delete(name);
  }
  return {
    names: yield* names.packing(),
    above: higher,
    spared: { suffixes, names: yield* collecting(exceptions, innocents) },
  };
}

function* listedThenDenied(catalog: Catalog, overrides: ReadonlyMap<string, Override>): Generator<string> {
  yield* catalog.disposableNames();
  for (const { domain, action } of overrides.values())
    if (action === 'deny' && catalog.listed([domain]).hits.length === 0) yield domain;
}

/** As the verdict weighs it; what is below a name is on the same lists, and may be on more. */
function confirmedBy({ catalog, overrides }: Confirming, now: number): (name: string) => boolean {
  const today = dayAt(now);
  return name => {
    const names = lineage(name);
    const override = findOverride(overrides, names.length > 0 ? names : [name], now);
    if (override) return override.action === 'deny' && override.below;
    const { listing, listed } = listedOf(catalog, names, ownDomain(name), today);
    if (listing.hits.length === 0 || isSpecialUse(name)) return false;
    return isVerified(listed) || (!listed.popular && listed.families.size > 1);
  };
}

/** Strangers register below it, and what many of them use is innocent there. */
function isSuffix(name: string): boolean {
  return registrableDomain(`x.${name}`) === `x.${name}`;
}

/** By our tables, and whatever says something else of a name also below one that is denied. */
function* innocentsOf(catalog: Catalog, overrides: ReadonlyMap<string, Override>): Steps<Set<string>> {
  const found = catalog.innocentNames();
  let at = 0;
  for (const { domain, action, below } of overrides.values()) {
    if (action !== 'deny' || !below) found.add(domain);
    if (++at % STEP === 0) yield;
  }
  return found;
}

/** All names above these. */
function* above(names: ReadonlySet<string>): Steps<Set<string>> {
  const found = new Set<string>();
  let place = 0;
  for (const name of names) {
    for (const one of namesAbove(name)) found.add(one);
    if (++place % STEP === 0) yield;
  }
  return found;
}

function* namesAbove(name: string): Generator<string> {
  for (let at = name.indexOf('.') + 1; at > 0; at = name.indexOf('.', at) + 1) yield name.slice(at);
}

function* collecting(names: Iterable<string>, found = new Set<string>()): Steps<Set<string>> {
  let at = 0;
  for (const name of names) {
    found.add(name);
    if (++at % STEP === 0) yield;
  }
  return found;
}
