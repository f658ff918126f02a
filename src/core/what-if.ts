/** A catalog and the next one, tried on names that were asked for lately: whose verdict by lists flips, and which way. */

import { type Asked, type AskedNames, askedIn } from './asked.ts';
import type { Catalog } from './catalog.ts';
import { NEW_DAYS } from './corroboration.ts';
import { type Day, dayAt } from './days.ts';
import { type Domain, lineage } from './domain.ts';
import type { FeedKind, Snapshot } from './feed.ts';
import { flaggedBy } from './flagged.ts';
import { PANEL_SIZE } from './folding.ts';
import type { FeedCheck } from './freshness.ts';
import { findOverride, type Override } from './override.ts';

export interface Flip {
  readonly domain: string;
  readonly change: 'flagged' | 'cleared';
  /** It was asked for and safe on several days. */
  readonly isEstablished: boolean;
}

/** Names of which two versions do not say the same. */
export const changedIn = (next: Snapshot, inUse: Snapshot | undefined): Set<string> =>
  moreIn(next, inUse).union(moreIn(inUse, next));

/**
 * Names that one version has and another has not. Whoever is pushed out of the panel may still stand in the list, and
 * what a rotating list shows again it may have kept since it left.
 */
function moreIn(one: Snapshot | undefined, other: Snapshot | undefined): Set<string> {
  const named = namedIn(one).difference(namedIn(other));
  return one?.shown ? named.union(shownIn(one).difference(shownIn(other))) : named;
}

const namedIn = (version: Pick<Snapshot, 'feed' | 'names'> | undefined) =>
  new Set(version?.feed.kind === 'popular' ? version.names.slice(0, PANEL_SIZE) : version?.names);

function shownIn(snapshot: Snapshot | undefined): Set<string> {
  const { names = [], shown } = snapshot ?? {};
  const newest = shown?.last.reduce((most, day) => Math.max(most, day), 0);
  return new Set(names.filter((_, at) => shown?.last[at] === newest));
}

/** Names that `changed` holds, or has a parent of: the others cannot flip. */
export const touchedOf = (asked: readonly AskedNames[], changed: ReadonlySet<string>): Map<string, Asked> =>
  changed.size === 0 ? new Map() : askedIn(asked, name => isTouched(name, changed));

function isTouched(name: string, changed: ReadonlySet<string>): boolean {
  // Hardly one of a million is, and finding the suffix of each takes ten times as long.
  for (let at = 0; !changed.has(name.slice(at)); ) {
    at = name.indexOf('.', at) + 1;
    if (at === 0) return false;
  }
  return lineage(name as Domain).some(one => changed.has(one));
}

/**
 * Of what an operator decided, what a version has (of a list that clears names: has no longer) and the one in use has
 * not. It is looked for in the list and not in what flips: an override, or another list that names it too,
 * ends with no update of this one, and all that was rejected counted then (2026-11-18).
 */
export function decidedIn(
  next: Snapshot,
  inUse: Snapshot | undefined,
  decided: readonly string[],
): readonly string[] {
  if (decided.length === 0) return [];
  const changed = next.feed.kind === 'disposable' ? moreIn(next, inUse) : moreIn(inUse, next);
  return decided.filter(name => isTouched(name, changed));
}

/**
 * Of what an operator rejected, what a version names, be the one in use as it is: whoever went back to a version with
 * rejected names had them accepted with every later one (2026-11-18). One that rotates names what it shows. Of a list
 * that clears names it is what the version leaves out: the same way led back to one without them.
 */
export function rejectedIn(
  next: Snapshot,
  inUse: Snapshot | undefined,
  rejected: readonly string[],
): readonly string[] {
  if (rejected.length === 0) return [];
  if (next.feed.kind === 'disposable') {
    const named = next.shown ? shownIn(next) : new Set(next.names);
    return rejected.filter(name => isTouched(name, named));
  }
  const [cleared, gone] = [namedIn(next), new Set(decidedIn(next, inUse, rejected))];
  return rejected.filter(name => gone.has(name) || !isTouched(name, cleared));
}

/** Of what an operator approved, what a version uses: what it brings, or all where it has that. */
export function approvedIn(
  next: Snapshot,
  inUse: Snapshot | undefined,
  approved: readonly string[],
): readonly string[] {
  const isWhole = rejectedIn(next, inUse, approved).length === approved.length;
  return isWhole ? approved : decidedIn(next, inUse, approved);
}

/**
 * Of what an operator rejected, what the version in use of that list has, so that it is flagged until it goes; of one
 * that clears names, what it leaves out and others flag.
 */
export function rejectedInUse(
  catalog: Catalog,
  { feed, rejected }: FeedCheck,
  kind: FeedKind | undefined,
  now: number,
): readonly string[] {
  if (!rejected) return [];
  if (kind === undefined || kind === 'disposable') {
    const isNamed = (name: string) =>
      catalog.listed(lineage(name as Domain)).hits.some(hit => hit.feed === feed);
    return rejected.filter(isNamed);
  }
  const inUse = catalog.snapshots.find(one => one.feed.id === feed);
  const cleared = namedIn(inUse && { feed: inUse.feed, names: [...inUse.names] });
  return rejected.filter(name => !isTouched(name, cleared) && isFlaggedIn(catalog, name, now));
}

/** Whatever an operator decided about a name, today or when all that is new has come of age. */
export function isFlaggedIn(catalog: Catalog, name: string, now: number): boolean {
  return [dayAt(now), dayAt(now) + NEW_DAYS].some(day => flaggedBy(catalog, name, day).length > 0);
}

/**
 * What an operator decided stays as it is. What a learned mail host flags is flagged already, unless it was safe on so
 * many days that only lists may have flagged it since. A suffix that one family names warns today and blocks when that
 * is old, with no update in between: so it is judged by what it says when all that is new has come of age, too.
 */
export function flipsOf(
  before: Catalog,
  after: Catalog,
  asked: ReadonlyMap<string, Asked>,
  overrides: ReadonlyMap<string, Override>,
  now: number,
): Flip[] {
  const [today, aged] = [dayAt(now), dayAt(now) + NEW_DAYS];
  const isBy = (catalog: Catalog, domain: string, day: Day) => flaggedBy(catalog, domain, day).length > 0;
  const flips: Flip[] = [];
  for (const [domain, { isFlagged, isEstablished }] of asked) {
    if (findOverride(overrides, lineage(domain as Domain), now)) continue;
    const [was, is] = [isBy(before, domain, today), isBy(after, domain, today)];
    const isNew = (!was && is) || (!isBy(before, domain, aged) && isBy(after, domain, aged));
    if (isNew && (isEstablished || !isFlagged)) flips.push({ domain, change: 'flagged', isEstablished });
    if (was && !is) flips.push({ domain, change: 'cleared', isEstablished: false });
  }
  return flips;
}
