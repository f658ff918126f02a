/** The guests of a host as today's lists know them: what a store remembers is what the lists said when each was seen. */

import type { Catalog, Naming } from './catalog.ts';
import { type Day, dayFrom } from './days.ts';
import { lineage, ownDomain } from './domain.ts';
import type { Family } from './feed.ts';
import {
  type GuestGroup,
  type HostRecord,
  isByTwoFamilies,
  type JudgedHost,
  LEARNING,
  MONTH_DAYS,
} from './guest.ts';
import { isRented } from './provider.ts';
import { DEEP_STEP, type Steps } from './steps.ts';

/** `lately`: two families name it, and did not yet a month before it was last seen. */
const STANDINGS = ['corroborated', 'lately', 'one_family', 'unlisted'] as const;
type Standing = (typeof STANDINGS)[number];
/** Since when two families name it. */
type Named = Day | 'one_family' | 'unlisted';

/** Some of the names each: a map of 131,072 holds its thread for 9 ms when it grows (2026-11-17). */
type AllNamed = readonly Map<string, Named>[];
const PARTS = 64;
const PRIME = 65_521;

/** Hosts are judged once a minute, the lists change once a day: a name is looked up once for each catalog. */
const kept = new WeakMap<Catalog, AllNamed>();

function namedIn(catalog: Catalog): (entry: string) => Named {
  const all = kept.get(catalog) ?? Array.from({ length: PARTS }, () => new Map<string, Named>());
  kept.set(catalog, all);
  return entry => {
    const part = all[partOf(entry)]!;
    const before = part.get(entry);
    if (before !== undefined) return before;
    const named = lookedUp(entry, catalog);
    part.set(entry, named);
    return named;
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
function lookedUp(entry: string, catalog: Catalog): Named {
  const { hits, families, namings } = catalog.listed(lineage(entry));
  const registrable = ownDomain(entry);
  if (hits.length === 0) return 'unlisted';
  const isFree = catalog.isSurelyFree(registrable) && hits[0]!.entry.length >= registrable!.length;
  if ((isFree || catalog.isPanel(registrable)) && !families.has('verified')) return 'unlisted';
  return isByTwoFamilies(families) ? secondFamily(namings) : 'one_family';
}

/** The day on which the second family came to name it; 0, as long ago, where nobody knows. */
export function secondFamily(namings: readonly Naming[]): Day {
  const first = new Map<Family, Day>();
  for (const { feed, since } of namings)
    first.set(feed.family, Math.min(since, first.get(feed.family) ?? since));
  return [...first.values()].sort((one, other) => one - other)[1] ?? 0;
}

/** Days before it was listed are an innocent's: a customer of months whom two lists name today is no listed one of months. */
function standingOf(named: Named, lastDay: Day): Standing {
  if (typeof named === 'string') return named;
  return named + MONTH_DAYS <= lastDay ? 'corroborated' : 'lately';
}

/**
 * A guest that no list names any more is one like all that never were listed; one that a second family withdrew is not
 * corroborated. Every guest is looked at: of a few, whoever chooses the names would choose which.
 */
export function* relisting(record: HostRecord, catalog: Catalog): Steps<JudgedHost> {
  const namedOf = namedIn(catalog);
  const groups: GuestGroup[] = [];
  const neighbours = new Set<string>();
  let flagged = 0;
  let at = 0;
  for (const group of record.groups) {
    if (!group.listed) {
      groups.push(group);
      continue;
    }
    const entries: Record<Standing, string[]> = {
      corroborated: [],
      lately: [],
      one_family: [],
      unlisted: [],
    };
    const lastDay = dayFrom(group.lastDay);
    for (const entry of group.entries.split(' ')) {
      if (++at % DEEP_STEP === 0) yield;
      const standing = standingOf(namedOf(entry), lastDay);
      entries[standing].push(entry);
      if (standing === 'unlisted') continue;
      flagged++;
      if (neighbours.size < LEARNING.neighbours) neighbours.add(entry);
    }
    const before = group.lately ? 'lately' : group.corroborated ? 'corroborated' : 'one_family';
    if (entries[before].length === group.count) groups.push(group);
    else
      for (const standing of STANDINGS)
        if (entries[standing].length > 0) groups.push(as(standing, group, entries[standing]));
  }
  const innocent = record.innocent + at - flagged;
  const row = catalog.providers.match(record.name);
  const rented = row && { isRented: isRented(record.name, row) };
  return { ...record, flagged, innocent, neighbours: [...neighbours], groups, ...rented };
}

function as(standing: Standing, { lately: _, ...group }: GuestGroup, entries: readonly string[]): GuestGroup {
  const some = { count: entries.length, entries: entries.join(' ') };
  if (standing === 'unlisted')
    return { ...group, listed: false, corroborated: false, earned: false, keys: 0, ...some };
  const corroborated = standing !== 'one_family';
  return { ...group, corroborated, ...(standing === 'lately' && { lately: true }), ...some };
}
