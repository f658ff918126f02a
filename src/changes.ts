/** What updates changed for callers → a page of it, for those who follow. */

import { lineage } from './core/domain.ts';
import { type ChangesMark, type ListingChange, NO_CHANGES } from './core/listing-change.ts';
import { findOverride, type Override } from './core/override.ts';
import type { Clock, Store } from './core/ports.ts';
import type { Steps } from './core/steps.ts';

const DAY_MS = 86_400_000;

export interface ChangesPage {
  readonly changes: readonly ListingChange[];
  /** Of the last one that was looked at. */
  readonly cursor: number;
  readonly more: boolean;
}

export interface Changes {
  /** After this one; of the last day where none is named. `gone` where what came after it is not known any more. */
  list(since: number | undefined, limit: number): Promise<ChangesPage | 'gone'>;
}

export function createChanges(parts: {
  readonly store: Pick<Store, 'changesMark' | 'changesAfter' | 'changesBefore'>;
  readonly overrides: () => ReadonlyMap<string, Override>;
  readonly clock: Clock;
  readonly inTurns: <T>(steps: Steps<T>) => Promise<T>;
}): Changes {
  const { store, overrides, clock, inTurns } = parts;
  return {
    async list(since, limit) {
      const mark: ChangesMark = (await store.changesMark()) ?? NO_CHANGES;
      const { floor, last } = mark;
      if (since !== undefined && (since < floor || since > last)) return 'gone';
      const after = since ?? Math.max(floor, await store.changesBefore(clock() - DAY_MS));
      const rows = (await store.changesAfter(after, limit + 1)).filter(({ id }) => id <= last);
      const shown = rows.slice(0, limit);
      const changes = await inTurns(leavingOut(shown, overrides(), clock()));
      return { changes, cursor: shown.at(-1)?.id ?? Math.max(after, floor), more: rows.length > limit };
    },
  };
}

/** Finding the parents of a thousand names takes milliseconds. */
const STEP = 100;

function* leavingOut(
  changes: readonly ListingChange[],
  overrides: ReadonlyMap<string, Override>,
  now: number,
): Steps<readonly ListingChange[]> {
  if (overrides.size === 0) return changes;
  const left: ListingChange[] = [];
  for (const [at, change] of changes.entries()) {
    if (!isOverruled(change, overrides, now)) left.push(change);
    if (at % STEP === 0) yield;
  }
  return left;
}

/** The operator's word stands, whatever lists do. */
function isOverruled(
  { domain, change }: ListingChange,
  overrides: ReadonlyMap<string, Override>,
  now: number,
): boolean {
  const action = findOverride(overrides, lineage(domain), now)?.action;
  return change === 'flagged' ? action === 'allow' || action === 'role' : action === 'deny';
}
