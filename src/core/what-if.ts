/** A catalog and the next one, tried on names that were asked for lately: whose verdict by lists flips, and which way. */

import type { Asked } from './asked.ts';
import type { Catalog } from './catalog.ts';
import { flaggedBy } from './comparing.ts';
import { dayAt } from './days.ts';
import { type Domain, lineage } from './domain.ts';
import { findOverride, type Override } from './override.ts';

export interface Flip {
  readonly domain: string;
  readonly change: 'flagged' | 'cleared';
  /** It was asked for and safe on several days. */
  readonly isEstablished: boolean;
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
 * many days that only lists may have flagged it since.
 */
export function flipsOf(
  before: Catalog,
  after: Catalog,
  asked: ReadonlyMap<string, Asked>,
  overrides: ReadonlyMap<string, Override>,
  now: number,
): Flip[] {
  const today = dayAt(now);
  const flips: Flip[] = [];
  for (const [domain, { isFlagged, isEstablished }] of asked) {
    if (findOverride(overrides, lineage(domain as Domain), now)) continue;
    const was = flaggedBy(before, domain, today).length > 0;
    const is = flaggedBy(after, domain, today).length > 0;
    if (!was && is && (isEstablished || !isFlagged)) flips.push({ domain, change: 'flagged', isEstablished });
    if (was && !is) flips.push({ domain, change: 'cleared', isEstablished: false });
  }
  return flips;
}
