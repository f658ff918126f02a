/** Names that have an owner whom we know, or a registry that asks who it is: a broad feed is not believed about them. */

import type { Catalog } from './catalog.ts';
import { lineage, registrableDomain } from './domain.ts';

/**
 * The nearest of these names that a name is below. 480 of the form `student.…` and 1,152 of the form `mail.paypal.com`
 * passed the gate as a list's errors of a month (2026-11-17). Below a public suffix are strangers, whoever calls it a
 * university or a company. Most listed names have two labels, and nothing above them to look for.
 */
export function ownerOf(name: string, owners: ReadonlySet<string>): string | undefined {
  let from = name.indexOf('.') + 1;
  for (let next = name.indexOf('.', from) + 1; next > 0; next = name.indexOf('.', from) + 1) {
    const parent = name.slice(from);
    if (owners.has(parent) && registrableDomain(parent) !== undefined) return parent;
    from = next;
  }
  return undefined;
}

/** Top-level domains that only schools, authorities, forces and treaties of the United States and of all get. */
export const CLOSED_ENDINGS: readonly string[] = ['.edu', '.gov', '.int', '.mil'];

/**
 * Suffixes of which the registry asks for papers. The bundled broad lists name 72 below them, some real (tulsa.gov,
 * berkshirehealthcare.nhs.uk), some that nobody ever had (seobacklinks.edu), and no verified list names one. Not
 * edu.pl, edu.vn, edu.rs, edu.kg, edu.gr, mil.pl and their like, of whom disposable services buy names: verified lists
 * have 92 of 251 there (2026-11-17).
 */
const CLOSED =
  /(?:^|\.)(?:edu|gov|int|mil|(?:gob|gouv|gov|govt)\.[a-z]{2}|mil\.(?!pl$)[a-z]{2}|(?:ac|nhs|police)\.uk|ac\.jp|edu\.au)$/;

/** Whether a name is an authority's or a school's, by its suffix. `gob.re` is no such suffix, but somebody's name. */
export function isPublicBody(name: string): boolean {
  if (!CLOSED.test(name)) return false;
  const registrable = registrableDomain(name);
  return registrable !== undefined && CLOSED.test(registrable.slice(registrable.indexOf('.') + 1));
}

/** Suffixes of schools and authorities, closed or not: nobody sells mailboxes there. */
export const PUBLIC_SUFFIX = /\.(?:edu|gov|mil)$|\.(?:ac|edu|gob|gouv|gov|govt|mil|sch)\.[a-z]{2}$/;

/**
 * Of these anybody gets a name, it seems: verified lists have 78 of edu.pl, 10 of edu.rs, 6 of edu.kg, 5 of edu.vn, one
 * of ac.id and of edu.ge, broad ones 54 of mil.pl and 22 of edu.gr, and of no other such suffix more than 6 (2026-11-17).
 */
const SOLD = /\.(?:edu\.(?:ge|gr|kg|pl|rs|vn)|(?:ac|sch)\.id|mil\.pl)$/;

/**
 * Whether neither mail hosts nor names beside it speak against a name: what protects it from every feed does so here too,
 * with all that its owner has below it. That one list calls it a university or a relay does not by itself, since anybody
 * can write one line: it takes such a suffix besides, as 5,050 of 8,213 universities have (2026-11-17). Below a registry
 * (eu.org) are strangers: that it is protected says nothing of them.
 */
export function isSpared(domain: string, catalog: Pick<Catalog, 'isProtected' | 'isGuarded'>): boolean {
  if (isPublicBody(domain)) return true;
  const registrable = registrableDomain(domain) ?? domain;
  const isBoth = PUBLIC_SUFFIX.test(registrable) && !SOLD.test(registrable);
  return lineage(domain).some(
    name =>
      name.length >= registrable.length && (catalog.isProtected(name) || (isBoth && catalog.isGuarded(name))),
  );
}
