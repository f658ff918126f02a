/** Catalog → next catalog → what changed for callers, kept for 30 days. Tried until it is done, by one server of all. */

import { randomUUID } from 'node:crypto';
import type { Catalog } from './core/catalog.ts';
import { comparing } from './core/comparing.ts';
import { dayBefore, forgottenBefore } from './core/forgetting.ts';
import { isHeld, LEASE_MS, type Lease } from './core/lease.ts';
import { CHANGES_LEASE, type ChangesMark, firstNumber, type ListingChange } from './core/listing-change.ts';
import type { Clock, Store } from './core/ports.ts';
import type { Steps } from './core/steps.ts';
import { allowsIn, standingIn } from './record/standing.ts';
import type { Held } from './schedule.ts';

/** One message to the store, and one transaction. */
const CHUNK = 250;
const KEPT_MS = 30 * 86_400_000;
/** The first update of a new installation brings about 30,000 (November 2026). */
const MOST_KEPT = 200_000;
/** Another server may be about to tell what led to the catalog that this one has: it follows within a minute. */
const PATIENCE_MS = 180_000;
/** What could not be written, or another was about to write, is looked at again. */
const LOOK_MS = 20_000;

/** So often what operators allow is told again where what was told of it is forgotten. */
const SETTLED_MS = 86_400_000;

interface Looked {
  readonly mark: string;
  readonly text: string;
  readonly at: number;
  /** An override ends, or a day has passed. */
  readonly until: number;
}

export interface Recorder {
  /** There is another catalog. Nobody has to wait for what it brings to be written. */
  look(): Promise<void>;
  close(): void;
}

/** What is to be told. */
export interface Told {
  readonly before: Catalog;
  readonly after: Catalog;
  /** Up to `before`. */
  readonly was: ChangesMark;
  readonly now: number;
  /** Of the lease: whoever has lost it to another writes nothing any more. */
  readonly holder: string;
}

/** What writing takes of a store. */
export type WrittenTo = Pick<
  Store,
  'writeChanges' | 'swapChangesMark' | 'changesBefore' | 'changesAfter' | 'readOverrides'
>;

export interface RecorderParts {
  readonly store: WrittenTo & Pick<Store, 'changesMark' | 'lease' | 'swapLease' | 'moment'>;
  /** That is served. */
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  /** Renews a lease until that is ended. */
  readonly hold: (lease: Lease) => Pick<Held, 'end'>;
  /** `writeChanges`, here or in a thread of its own. */
  readonly write: (told: Told) => Promise<boolean>;
  readonly inTurns: <T>(steps: Steps<T>) => Promise<T>;
  readonly onError: (error: unknown) => void;
  readonly patienceMs?: number;
  readonly lookMs?: number | undefined;
}

export function recordChanges(parts: RecorderParts): Recorder {
  const { store, catalog, clock, patienceMs = PATIENCE_MS, lookMs = LOOK_MS } = parts;
  /** The one that the mark in the store is of, as far as this server has had it. */
  let recorded: Catalog | undefined;
  /** Since when the mark is of one that it never had. */
  let strangeSince: number | undefined;
  /** The last one of its own that it began anew with: servers that differ for good do so once each. */
  let begunWith: string | undefined;

  const settle = settling(parts);

  /** What led to this catalog nobody can tell: whoever follows must begin anew, by numbers that nobody has seen. */
  async function beginAnew({ generation }: Catalog, was: ChangesMark | undefined): Promise<void> {
    const last = firstNumber(clock(), was);
    await store.swapChangesMark({ generation, floor: last, last }, was);
  }

  /** Whether there is nothing left to do now. */
  async function step(): Promise<boolean> {
    const was = await store.changesMark();
    const current = catalog();
    if (was?.generation === current.generation) {
      recorded = current;
      strangeSince = undefined;
      return settle(current, was);
    }
    // A new store has nobody who follows: what its first update brings is told.
    if (!was) await beginAnew(current, was);
    else if (recorded?.generation === was.generation) {
      const done = await record(recorded, current, was, parts);
      if (done) recorded = current;
      return done === undefined;
    } else {
      strangeSince ??= performance.now();
      if (performance.now() - strangeSince < patienceMs || begunWith === current.generation) return true;
      begunWith = current.generation;
      await beginAnew(current, was);
    }
    return false;
  }

  return lookingOn(step, Math.min(lookMs, patienceMs), parts.onError);
}

/** Tells what operators began or ceased to allow since it was looked at last; whether there is nothing left to do now. */
function settling(parts: RecorderParts): (current: Catalog, was: ChangesMark) => Promise<boolean> {
  const { store, clock, inTurns } = parts;
  let looked: Looked | undefined;
  return async (current, was) => {
    // By the clock that it is told by: an end that had come by this one's alone was told a day later (2026-11-18).
    const now = clock() + (await momentOf(store)).ahead;
    const isDue = !looked || now >= looked.until || now < looked.at;
    const { mark, overrides } = await store.readOverrides(isDue ? undefined : looked?.mark);
    if (!overrides) return true;
    const { ends, text } = await inTurns(allowsIn(overrides, now));
    const next = { mark, text, at: now, until: Math.min(ends, now + SETTLED_MS) };
    // A day later what was told of them may be forgotten.
    const isSame = looked?.text === text && now < looked.at + SETTLED_MS && now >= looked.at;
    const isNothing = text === '' && was.floor === was.last;
    const done = isSame || isNothing || (await record(current, current, was, parts));
    if (done) looked = isSame ? { ...next, at: looked!.at } : next;
    return done !== false;
  };
}

/** Steps until there is nothing left to do: now, every so often, and when asked; one look at a time. */
function lookingOn(
  step: () => Promise<boolean>,
  everyMs: number,
  onError: RecorderParts['onError'],
): Recorder {
  let isClosed = false;
  let looking: Promise<void> | undefined;
  let isWanted = false;
  async function lookOn(): Promise<void> {
    try {
      while (isWanted && !isClosed) {
        isWanted = false;
        while (!isClosed && !(await step()));
      }
    } catch (error) {
      if (!isClosed) onError(error);
    } finally {
      looking = undefined;
    }
  }
  function look(): Promise<void> {
    isWanted = true;
    looking ??= lookOn();
    return looking;
  }
  void look();
  const timer = setInterval(() => void look(), everyMs).unref();
  return {
    look,
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}

/** False where another server came between, undefined where one is at it. */
async function record(
  before: Catalog,
  after: Catalog,
  was: ChangesMark,
  parts: RecorderParts,
): Promise<boolean | undefined> {
  const { store, hold } = parts;
  const lease = await store.lease(CHANGES_LEASE);
  const { now, ahead } = await momentOf(store);
  if (lease && isHeld(lease, now)) return undefined;
  const holder = randomUUID();
  const mine = { name: CHANGES_LEASE, holder, until: now + LEASE_MS, dueAt: 0 };
  if (!(await store.swapLease(mine, lease))) return undefined;
  // On a slow store 200,000 take longer than it lasts: another would begin with them again and again.
  const held = hold(mine);
  try {
    return await parts.write({ before, after, was, now: parts.clock() + ahead, holder });
  } finally {
    await held.end(0).catch(() => {});
  }
}

/** By a clock that is one for all servers, and by how much that is ahead of this one's, behind it where it is negative. */
async function momentOf(store: RecorderParts['store']): Promise<{ now: number; ahead: number }> {
  const before = Date.now();
  const now = await store.moment();
  return { now, ahead: now < before ? now - before : Math.max(0, now - Date.now()) };
}

/** False where another server came between. */
export async function writeChanges(
  { before, after, was, now, holder }: Told,
  store: WrittenTo,
  inTurns: <T>(steps: Steps<T>) => Promise<T>,
  mostKept = MOST_KEPT,
): Promise<boolean> {
  const standing = await standingIn(was, store, inTurns);
  const compare = (fading: number) => inTurns(comparing(before, after, now, { ...standing, fading }));
  // What is allowed is told again before that is forgotten, which 220,000 changes within a day took away (2026-11-18).
  const half = mostKept / 2;
  const some = await compare(was.last - half);
  const changes = some.length > half ? await compare(was.last) : some;
  if (changes.length === 0 && after.generation === was.generation) return true;
  const last = was.last + changes.length;
  const lowest = Math.max(was.floor, last - mostKept);
  // Of more than are kept at all the first are not even written: whoever follows begins anew. That of the floor is.
  for (let at = Math.max(0, lowest - was.last - 1); at < changes.length; at += CHUNK) {
    const some = numbered(changes.slice(at, at + CHUNK), was.last + at);
    if (!(await store.writeChanges(some, was.generation, holder))) return false;
  }
  const old = await store.changesBefore(await forgottenAt(now, store));
  const floor = Math.max(lowest, Math.min(old, was.last));
  return store.swapChangesMark({ generation: after.generation, floor, last }, was, holder);
}

/** A clock that jumped takes nothing away before a second day says the same. */
async function forgottenAt(now: number, store: WrittenTo): Promise<number> {
  const previous = await store.changesBefore(dayBefore(now));
  const [row] = await store.changesAfter(previous - 1, 1);
  return forgottenBefore(now, KEPT_MS, row?.id === previous ? row.at : null);
}

const numbered = (changes: readonly ListingChange[], after: number) =>
  changes.map((change, at) => ({ id: after + at + 1, ...change }));
