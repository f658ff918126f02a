/** The guests of a host as today's lists know them: what a store remembers is what the lists said when each was seen. */

import type { Catalog } from './catalog.ts';
import { lineage, ownDomain } from './domain.ts';
import { type GuestGroup, type HostRecord, isByTwoFamilies, LEARNING } from './guest.ts';
import { DEEP_STEP, type Steps } from './steps.ts';

type Standing = 'corroborated' | 'one_family' | 'unlisted';
const STANDINGS: readonly Standing[] = ['corroborated', 'one_family', 'unlisted'];

/** Some of the names each: a map of 131,072 holds its thread for 9 ms when it grows (2026-11-17). */
type Standings = readonly Map<string, Standing>[];
const PARTS = 64;
const PRIME = 65_521;

/** Hosts are judged once a minute, the lists change once a day: a name is looked up once for each catalog. */
const kept = new WeakMap<Catalog, Standings>();

function standingIn(catalog: Catalog): (entry: string) => Standing {
  const all = kept.get(catalog) ?? Array.from({ length: PARTS }, () => new Map<string, Standing>());
  kept.set(catalog, all);
  return entry => {
    const part = all[partOf(entry)]!;
    const before = part.get(entry);
    if (before) return before;
    const standing = lookedUp(entry, catalog);
    part.set(entry, standing);
    return standing;
  };
}

function partOf(entry: string): number {
  let sum = 0;
  for (let at = 0; at < entry.length; at++) sum = (31 * sum + entry.charCodeAt(at)) % PRIME;
  return sum % PARTS;
}

/**
 * As a lookup would have it (core/facts.ts): one that many people use, or that is surely free or below one, is an
 * innocent guest, whatever broad lists say.
 */
function lookedUp(entry: string, catalog: Catalog): Standing {
  const { hits, families } = catalog.listed(lineage(entry));
  const registrable = ownDomain(entry);
  if (hits.length === 0) return 'unlisted';
  const isFree = catalog.isSurelyFree(registrable) && hits[0]!.entry.length >= registrable!.length;
  if ((isFree || catalog.isPanel(registrable)) && !families.has('verified')) return 'unlisted';
  return isByTwoFamilies(families) ? 'corroborated' : 'one_family';
}

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
      if (++at % DEEP_STEP === 0) yield;
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
  const some = { count: entries.length, entries: entries.join(' ') };
  if (standing === 'unlisted')
    return { ...group, listed: false, corroborated: false, earned: false, keys: 0, ...some };
  return { ...group, corroborated: standing === 'corroborated', ...some };
}
