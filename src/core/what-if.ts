/** A catalog and the next one, tried on names that were asked for lately: whose verdict by lists flips, and which way. */

import type { Asked } from './asked.ts';
import type { Catalog } from './catalog.ts';
import { flaggedBy } from './comparing.ts';
import { NEW_DAYS } from './corroboration.ts';
import { type Day, dayAt } from './days.ts';
import { type Domain, lineage } from './domain.ts';
import type { Snapshot } from './feed.ts';
import { PANEL_SIZE } from './folding.ts';
import { findOverride, type Override } from './override.ts';

export interface Flip {
  readonly domain: string;
  readonly change: 'flagged' | 'cleared';
  /** It was asked for and safe on several days. */
  readonly isEstablished: boolean;
}

/**
 * Names of which two versions do not say the same. Whoever is pushed out of the panel may still stand in the list, and
 * what a rotating list shows again it may have kept since it left.
 */
export function changedIn(next: Snapshot, inUse: Snapshot | undefined): Set<string> {
  const namedIn = (one: Snapshot | undefined) =>
    new Set(one?.feed.kind === 'popular' ? one.names.slice(0, PANEL_SIZE) : one?.names);
  const named = namedIn(next).symmetricDifference(namedIn(inUse));
  return next.shown ? named.union(shownIn(next).symmetricDifference(shownIn(inUse))) : named;
}

function shownIn(snapshot: Snapshot | undefined): Set<string> {
  const { names = [], shown } = snapshot ?? {};
  const newest = shown?.last.reduce((most, day) => Math.max(most, day), 0);
  return new Set(names.filter((_, at) => shown?.last[at] === newest));
}

/** Names that `changed` holds, or has a parent of: the others cannot flip. */
export function touchedOf(
  asked: ReadonlyMap<string, Asked>,
  changed: ReadonlySet<string>,
): Map<string, Asked> {
  if (changed.size === 0) return new Map();
  return new Map([...asked].filter(([name]) => lineage(name as Domain).some(one => changed.has(one))));
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
