/** Catalog → next catalog → what changed for callers, kept for 30 days and told to those who follow. */

import type { Catalog } from './core/catalog.ts';
import { comparing } from './core/comparing.ts';
import { lineage } from './core/domain.ts';
import { dayBefore, forgottenBefore } from './core/forgetting.ts';
import {
  type ChangesMark,
  type ListingChange,
  NO_CHANGES,
  type NumberedChange,
} from './core/listing-change.ts';
import { findOverride, type Override } from './core/override.ts';
import type { Clock, Store } from './core/ports.ts';
import type { Steps } from './core/steps.ts';

/** One message to the store, and one transaction. */
const CHUNK = 200;
const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
/** The first update of a new installation brings about 30,000 (November 2026). */
const MOST_KEPT = 200_000;
/** Another server may be about to tell what led to the catalog that this one starts with: it follows within a minute. */
const PATIENCE_MS = 180_000;

export interface Recorder {
  /** Told once by one server of all, whichever is first. */
  record(before: Catalog, after: Catalog): Promise<void>;
  close(): void;
}

export interface RecorderParts {
  readonly store: Pick<
    Store,
    'changesMark' | 'writeChanges' | 'swapChangesMark' | 'changesBefore' | 'changesAfter'
  >;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  readonly inTurns: <T>(steps: Steps<T>) => Promise<T>;
  readonly onError: (error: unknown) => void;
  readonly patienceMs?: number;
}

export function recordChanges(parts: RecorderParts): Recorder {
  const { store, catalog, clock, inTurns, onError, patienceMs = PATIENCE_MS } = parts;

  /**
   * What led to this catalog nobody has seen: an upgrade, or an update while no server ran. Whoever follows must begin
   * anew, since no number after this is one that they can have.
   */
  async function beginAnew(): Promise<void> {
    const was = await store.changesMark();
    const { generation } = catalog();
    if (was?.generation === generation) return;
    const last = was ? was.last + 1 : 0;
    await store.swapChangesMark({ generation, floor: last, last }, was);
  }

  /** After a jump of the clock those who follow still find what they have not read. */
  async function forgottenAt(now: number): Promise<number> {
    const last = await store.changesBefore(dayBefore(now));
    const [previous] = last === 0 ? [] : await store.changesAfter(last - 1, 1);
    return forgottenBefore(now, KEPT_MS, previous?.at ?? null);
  }

  async function record(before: Catalog, after: Catalog): Promise<void> {
    const was = (await store.changesMark()) ?? NO_CHANGES;
    if (was.generation !== before.generation) return;
    const now = clock();
    const changes = (await inTurns(comparing(before, after, now))).slice(-MOST_KEPT);
    for (let at = 0; at < changes.length; at += CHUNK)
      await store.writeChanges(numbered(changes.slice(at, at + CHUNK), was.last + at), was.generation);
    const last = was.last + changes.length;
    const old = await store.changesBefore(await forgottenAt(now));
    const floor = Math.max(was.floor, last - MOST_KEPT, Math.min(old, was.last));
    await store.swapChangesMark({ generation: after.generation, floor, last }, was);
  }

  const first = async () => {
    // A new store has nobody who follows: what its first update brings is told.
    if (!(await store.changesMark())) await beginAnew();
  };
  first().catch(onError);
  const timer = setTimeout(() => void beginAnew().catch(onError), patienceMs).unref();
  return {
    record: (before, after) => record(before, after).catch(onError),
    close: () => clearTimeout(timer),
  };
}

const numbered = (changes: readonly ListingChange[], after: number): NumberedChange[] =>
  changes.map((change, at) => ({ id: after + at + 1, ...change }));

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
  readonly inTurns: RecorderParts['inTurns'];
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
