/** What universities have below their names: theirs, and as little a broad feed's to flag as they are. */

import { registrableDomain } from './domain.ts';

/**
 * 480 names of the form `student.…` passed the gate as a list's errors of a month (2026-11-16). Below a public suffix are
 * strangers, whoever calls it a university. Most listed names have two labels, and nothing above them to look for.
 */
export function isOnCampus(name: string, universities: ReadonlySet<string>): boolean {
  let from = name.indexOf('.') + 1;
  for (let next = name.indexOf('.', from) + 1; next > 0; next = name.indexOf('.', from) + 1) {
    const parent = name.slice(from);
    if (universities.has(parent) && registrableDomain(parent) !== undefined) return true;
    from = next;
  }
  return false;
}
