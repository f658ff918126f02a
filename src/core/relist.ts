/** The guests of a host as today's lists know them: what a store remembers is what the lists said when each was seen. */

import type { Catalog } from './catalog.ts';
import { lineage, registrableDomain } from './domain.ts';
import { type GuestGroup, type HostRecord, isByTwoFamilies, LEARNING } from './guest.ts';
import type { Steps } from './steps.ts';

type Standing = 'corroborated' | 'one_family' | 'unlisted';
const STANDINGS: readonly Standing[] = ['corroborated', 'one_family', 'unlisted'];

/** Hosts are judged once a minute, the lists change once a day: a name is looked up once for each catalog. */
const kept = new WeakMap<Catalog, Map<string, Standing>>();

function standingIn(catalog: Catalog): (entry: string) => Standing {
  const known = kept.get(catalog) ?? new Map<string, Standing>();
  kept.set(catalog, known);
  return entry => {
    const before = known.get(entry);
    if (before) return before;
    const standing = lookedUp(entry, catalog);
    known.set(entry, standing);
    return standing;
  };
}

/**
 * As a lookup would have it: one that many people use is an innocent guest, whatever broad lists say. That somebody calls
 * its parent a free provider says nothing about it.
 */
function lookedUp(entry: string, catalog: Catalog): Standing {
  const { hits, families } = catalog.listed(lineage(entry));
  const registrable = registrableDomain(entry);
  const isUsed = catalog.isPanel(registrable) || (entry === registrable && catalog.isFree(registrable));
  if (hits.length === 0 || (isUsed && !families.has('verified'))) return 'unlisted';
  return isByTwoFamilies(families) ? 'corroborated' : 'one_family';
}

/** Looking a name up takes 3 µs (2026-11-16). */
const NAMES_A_STEP = 100;

/**
 * A guest that no list names any more is one like all that never were listed; one that a second family withdrew is not
 * corroborated. Every guest is looked at: of a few, whoever chooses the names would choose which.
 */
export function* relisting(record: HostRecord, catalog: Catalog): Steps<HostRecord> {
  const standingOf = standingIn(catalog);
  const groups: GuestGroup[] = [];
  const neighbours = new Set<string>();
  let flagged = 0;
  let at = 0;
  for (const group of record.groups) {
    if (!group.listed) {
      groups.push(group);
      continue;
    }
    const entries: Record<Standing, string[]> = { corroborated: [], one_family: [], unlisted: [] };
    for (const entry of group.entries.split(' ')) {
      if (++at % NAMES_A_STEP === 0) yield;
      const standing = standingOf(entry);
      entries[standing].push(entry);
      if (standing === 'unlisted') continue;
      flagged++;
      if (neighbours.size < LEARNING.neighbours) neighbours.add(entry);
    }
    if (entries[group.corroborated ? 'corroborated' : 'one_family'].length === group.count)
      groups.push(group);
    else
      for (const standing of STANDINGS)
        if (entries[standing].length > 0) groups.push(as(standing, group, entries[standing]));
  }
  const innocent = record.innocent + at - flagged;
  return { ...record, flagged, innocent, neighbours: [...neighbours], groups };
}

function as(standing: Standing, group: GuestGroup, entries: readonly string[]): GuestGroup {
  const count = entries.length;
  if (standing === 'unlisted')
    return { ...group, listed: false, corroborated: false, earned: false, keys: 0, count, entries: '' };
  return { ...group, corroborated: standing === 'corroborated', count, entries: entries.join(' ') };
}
