/** A feed as it is today → snapshot → plausible? → store. One after the other; a refused one changes nothing. */

import type { Actor } from './core/audit.ts';
import type { Catalog } from './core/catalog.ts';
import { doubtOf } from './core/doubt.ts';
import { FeedError, type FeedSource, type FreshSource, type Packing, type Snapshot } from './core/feed.ts';
import { checkAfter } from './core/freshness.ts';
import { isSame, keepingNames, problemsOf } from './core/gate.ts';
import type { Held } from './core/known.ts';
import { type Store, StoreUnavailable } from './core/ports.ts';
import type { TableTexts } from './core/tables.ts';
import { turnoverOf } from './core/turnover.ts';
import { accept } from './update/accept.ts';
import { actOf, type Version } from './update/act.ts';
import { daysAt } from './update/days.ts';
import { keptTag, lastTag, oneLine, readFresh } from './update/fresh.ts';
import { heldFeeds, isGone, readAside, readInUse, turnoverIn } from './update/in-use.ts';
import { checkOf, isNoted, note } from './update/note.ts';
import { type Once, onceFrom } from './update/once.ts';
import {
  failed,
  leftAlone,
  type Outcome,
  overtaken,
  triedOf,
  UNTRIED,
  type Updated,
} from './update/outcome.ts';
import { flaggedElsewhere, flaggedLately, keepingFlags, problemOf, tryOut } from './update/what-if.ts';

export type { Outcome, Updated };

export interface UpdateParts {
  readonly store: Pick<
    Store,
    | 'askedNames'
    | 'listOverrides'
    | 'addedFeeds'
    | 'snapshots'
    | 'pastSnapshots'
    | 'snapshot'
    | 'acceptSnapshot'
    | 'feedChecks'
    | 'audit'
    | 'noteCheck'
    | 'lease'
    | 'swapLease'
  >;
  /** Each feed as it is today. */
  readonly sources: readonly FreshSource[];
  /** What is installed, for feeds that were never updated. */
  readonly installed: readonly FeedSource[];
  readonly tables: () => Promise<TableTexts>;
  /** The lists in use, which each new one is held against. */
  readonly catalog: () => Promise<Catalog>;
  readonly packing: Packing;
  /** One for all servers: each by its own would date names for all. */
  readonly clock: () => number | Promise<number>;
  /** The day of the newest list that is installed: no clock that is right says less. */
  readonly notBefore?: number;
  readonly actor: Actor;
  /** How long a list may take to come. */
  readonly comingMs?: number;
}

export interface UpdateOptions {
  /** Takes what can be read in spite of the gate. */
  readonly force: boolean;
  /** Says what would happen and changes nothing. */
  readonly dryRun: boolean;
  /** Feeds that an operator went back with are updated too. */
  readonly evenHeld?: boolean;
  /** Before each; it waits for it. */
  readonly progress: (feed: string, done: number, total: number) => void | Promise<void>;
  /** Each as soon as it has come to its end. */
  readonly ended?: (updated: Updated) => void;
}

export async function updateFeeds(parts: UpdateParts, options: UpdateOptions): Promise<Updated[]> {
  const done = new Map<FreshSource, Updated>();
  const named = options.evenHeld ? await heldFeeds(parts.store) : [];
  const once = onceFrom(parts);
  const unnoted: FreshSource[] = [];
  for (const source of parts.sources.toSorted(popularFirst)) {
    const { id } = source.feed;
    await options.progress(id, done.size, parts.sources.length);
    const updated = await tried(source, once, { ...parts, unlessHeld: !named.includes(id) }, options);
    done.set(source, updated);
    const isDone = options.dryRun || isSettled(updated) || (await isNoted(source, triedOf(updated), parts));
    if (!isDone) unnoted.push(source);
    options.ended?.(updated);
    if (updated.outcome === 'overtaken') once.forget();
  }
  for (const source of unnoted) await isNoted(source, triedOf(done.get(source)!), parts);
  return parts.sources.map(source => done.get(source)!);
}

/** Of what others come between: operators decide by hand, and other updates end. */
const MOST_TRIES = 20;

/** Nothing is left to note: that was done in one step with what was accepted. */
const isSettled = ({ outcome }: Updated) => ['accepted', 'forced', 'held'].includes(outcome);

/** What keeps one from being compared or stored stops no other: the next one may be smaller, or the disk be back. */
async function tried(
  source: FreshSource,
  once: Once,
  parts: UpdateParts & { readonly unlessHeld: boolean },
  options: UpdateOptions,
): Promise<Updated> {
  const { id } = source.feed;
  let reading: ReturnType<FreshSource['read']> | undefined;
  /** It stays in use, whatever fails: a list looked as if it were gone where the disk was full (2026-11-18). */
  let before: Version | null = null;
  const read: FreshSource['read'] = last => {
    reading ??= source.read(last);
    return reading;
  };
  try {
    // Whoever goes back with a feed while others are fetched is heard.
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const isHeld = parts.unlessHeld && (await heldFeeds(parts.store)).includes(id);
      if (isHeld) return leftAlone(id);
      if (await isGone(source, parts.store)) return overtaken(id);
      const updated = await update({ ...source, read }, once, parts, options, inUse => (before = inUse));
      if (updated) return updated;
      once.forget();
    }
    // Not as good as updated: of 40 lists at once 20 were told to be fresh, and had no version (2026-11-18).
    return failed(id, `other updates came between ${MOST_TRIES} times; the next one tries it again`, before);
  } catch (error) {
    once.forget();
    const isTheirs = error instanceof StoreUnavailable || error instanceof FeedError;
    const told = failed(id, `it could not be compared or stored: ${(error as Error).message}`, before);
    return isTheirs ? told : { ...told, fault: error };
  }
}

/** Of one that could not even be tried to the end. Where the store is away too, it is in the log alone. */
export async function noteFailed(
  feed: string,
  problem: string,
  parts: Pick<UpdateParts, 'store' | 'clock'>,
): Promise<Updated> {
  const updated = failed(feed, problem);
  await note(triedOf(updated), parts).catch(() => {});
  return updated;
}

/** So that what it clears is cleared before the disposable feeds of the same update are held against it. */
function popularFirst(one: FreshSource, other: FreshSource): number {
  return Number(other.feed.kind === 'popular') - Number(one.feed.kind === 'popular');
}

/** Undefined where it was tried with what holds no longer. */
async function update(
  source: FreshSource,
  once: Once,
  parts: UpdateParts & { readonly unlessHeld: boolean },
  { force, dryRun }: UpdateOptions,
  found: (before: Version | null) => void,
): Promise<Updated | undefined> {
  const { feed } = source;
  const inUse = await readInUse(feed, parts);
  const before = inUse.snapshot ? versionOf(inUse.snapshot) : null;
  found(before);
  const now = await parts.clock();
  const { problem, ...days } = await daysAt(now, parts.store, dryRun, parts.notBefore);
  const nothing = { feed: feed.id, before, dropped: null, ...UNTRIED };
  const isBehind = problem !== null && !force;
  if (isBehind) return { ...nothing, after: null, outcome: 'refused', problems: [problem] };
  const tried = await checkOf(feed.id, parts.store);
  // Whoever names a feed after going back with it goes on with what its server has, be it what is in use.
  const goesOn = !parts.unlessHeld;
  const last = force || goesOn ? undefined : lastTag(source, inUse, tried, now);
  const read = await readFresh(source, inUse.snapshot, last, parts.comingMs);
  if (read instanceof FeedError)
    return { ...nothing, after: null, outcome: 'failed', problems: [oneLine(read.message)], isUnread: true };
  if (read === null) return { ...nothing, after: before, outcome: 'unchanged', problems: [] };
  const { snapshot: fresh, fallback } = read;
  const held = { ...(await once.known()), installed: inUse.installed, ...days };
  const behind = problem === null ? [] : [problem];
  const problems = [...behind, ...read.problems, ...problemsOf(fresh, inUse.snapshot, held)];
  const next = nextOf(fresh, inUse.snapshot, held, goesOn ? await readAside(feed, parts) : []);
  const version = { before, after: versionOf(next), dropped: fresh.dropped };
  const told = { feed: feed.id, ...version, problems, ...UNTRIED, fallback };
  if (problems.length > 0 && !force) return { ...told, outcome: 'refused' };
  if (inUse.snapshot && inUse.isWhole && !goesOn && isSame(inUse.snapshot, next))
    return { ...told, outcome: 'unchanged', tag: keptTag(read.tag, inUse.snapshot, now) };
  const check = await checkOf(feed.id, parts.store);
  const triedOut = await tryOut(next, inUse.snapshot, check, { ...parts, catalog: once.catalog }, now);
  const { flips, decided } = triedOut;
  const others = flaggedElsewhere(feed, await once.snapshots(), days.agedBy);
  const doubt = problemOf(triedOut, { next, inUse: inUse.snapshot, check, others });
  if (doubt) {
    const { problem: why, ...rest } = doubt;
    problems.push(why);
    if (!force) return { ...told, ...rest, flips };
  }
  const outcome = problems.length > 0 ? 'forced' : 'accepted';
  const turnover = turnoverIn(next, inUse.snapshot);
  const kept = keepingFlags(next, flips, check, outcome === 'forced', days.today);
  const changed = { ...told, outcome, turnover, flips, decided, tag: keptTag(read.tag, kept, now) } as const;
  if (!dryRun) {
    const act = actOf(changed, fallback ?? feed.origin, await parts.clock(), parts.actor);
    const noted = { was: check ?? null, next: checkAfter(check, triedOf(changed), act.at) };
    const { store, packing, unlessHeld } = parts;
    const where = { unlessHeld, addedAt: source.addedAt, others: await once.others(feed.id), check: noted };
    const done = await accept(kept, inUse.digest, act, { store, packing, ...where });
    if (done === 'stale') return undefined;
    if (done !== 'taken') return done === 'held' ? leftAlone(feed.id) : { ...told, outcome: done };
  }
  once.took(kept);
  return changed;
}

/** With what is kept of the version in use, and the days of those that it leaves behind. */
function nextOf(
  fresh: Snapshot,
  inUse: Snapshot | undefined,
  held: Held & Required<Pick<Held, 'agedBy'>>,
  aside: readonly Snapshot[],
) {
  const { today, agedBy } = held;
  const { doubtful } = doubtOf(fresh, inUse, held);
  const { moved } = turnoverOf(fresh, inUse, today, agedBy);
  const flagged = flaggedLately(inUse, today, agedBy);
  return keepingNames(fresh, inUse, today, doubtful, moved, flagged, agedBy, aside);
}

function versionOf({ version, names }: Snapshot): Version {
  return { version, names: names.length };
}
