/** What universities have below their names: theirs, and as little a broad feed's to flag as they are. */

import { lineage, registrableDomain } from './domain.ts';

/**
 * 480 names of the form `student.…` passed the gate as a list's errors of a month (2026-11-16). Below a public suffix are
 * strangers, whoever calls it a university. Most listed names have two labels, and nothing above them to look for.
 */
export function isOnCampus(name: string, universities: ReadonlySet<string>): boolean {
  if (name.indexOf('.') === name.lastIndexOf('.')) return false;
  const [, ...parents] = lineage(name);
  return parents.some(parent => universities.has(parent) && registrableDomain(parent) !== undefined);
}
