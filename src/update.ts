/** A feed as it is today → snapshot → plausible? → store. One after the other; a refused one changes nothing. */

import { randomBytes } from 'node:crypto';
import { type Act, type Actor, shortDetail } from './core/audit.ts';
import type { Catalog } from './core/catalog.ts';
import { dayAt } from './core/days.ts';
import { doubtOf } from './core/doubt.ts';
import {
  type Dropped,
  FeedError,
  type FeedSource,
  type FreshSource,
  type Packing,
  type Snapshot,
} from './core/feed.ts';
import type { Tried } from './core/freshness.ts';
import { isSame, keepingNames, problemsOf } from './core/gate.ts';
import { type Known, knownFrom } from './core/known.ts';
import { SEED_BYTES } from './core/names.ts';
import type { Clock, Store } from './core/ports.ts';
import { textOf } from './core/snapshot.ts';
import { parseTables, type TableTexts } from './core/tables.ts';
import { turnoverOf } from './core/turnover.ts';
import type { Flip } from './core/what-if.ts';
import { actOf, type Version } from './update/act.ts';
import { keptTag, lastTag, oneLine, readFresh } from './update/fresh.ts';
import { heldFeeds, isGone, readInUse, turnoverIn } from './update/in-use.ts';
import { checkOf, note } from './update/note.ts';
import { flaggedLately, keepingFlags, problemOf, tryOut, waitingIn } from './update/what-if.ts';

/**
 * - `refused`: the gate found it implausible. `failed`: it could not be read at all.
 * - `overtaken`: somebody else updated the feed at the same moment, which is as good.
 * - `waiting`: it would flag established names that were asked here lately: an operator has to look at them.
 * - `held`: an operator went back to an earlier version of it, so that it is left alone.
 */
export type Outcome =
  | 'accepted'
  | 'forced'
  | 'unchanged'
  | 'refused'
  | 'waiting'
  | 'failed'
  | 'overtaken'
  | 'held';

export interface Updated {
  readonly feed: string;
  readonly outcome: Outcome;
  /** What was in use; null where there was none. */
  readonly before: Version | null;
  /** What was read; null where that failed. */
  readonly after: Version | null;
  readonly dropped: Readonly<Dropped> | null;
  /** Why it was refused, failed or had to be forced. */
  readonly problems: readonly string[];
  /** How many names it brought and took away; null where it changed nothing. */
  readonly turnover: Tried['turnover'];
  /** What it changes for names that were asked here lately; null where that was not tried. */
  readonly flips: readonly Flip[] | null;
  /** Those of them that an operator has to look at. */
  readonly waiting: readonly string[] | null;
  /** What the server said of the version in use after it; undefined where the one before stays. */
  readonly tag?: Tried['tag'];
  /** Where it was read in place of the feed's own address, and what was wrong with that. */
  readonly fallback: string | null;
}

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
    | 'noteCheck'
  >;
  /** Each feed as it is today. */
  readonly sources: readonly FreshSource[];
  /** What is installed, for feeds that were never updated. */
  readonly installed: readonly FeedSource[];
  readonly tables: () => Promise<TableTexts>;
  /** The lists in use, which each new one is held against. */
  readonly catalog: () => Promise<Catalog>;
  readonly packing: Packing;
  readonly clock: Clock;
  readonly actor: Actor;
}

export interface UpdateOptions {
  /** Takes what can be read in spite of the gate. */
  readonly force: boolean;
  /** Says what would happen and changes nothing. */
  readonly dryRun: boolean;
  /** Feeds that an operator went back with are updated too. */
  readonly evenHeld?: boolean;
  readonly progress: (feed: string, done: number, total: number) => void;
}

export async function updateFeeds(parts: UpdateParts, options: UpdateOptions): Promise<Updated[]> {
  const done = new Map<FreshSource, Updated>();
  const named = options.evenHeld ? await heldFeeds(parts.store) : [];
  let catalog: Promise<Catalog> | undefined;
  let known: Promise<Known> | undefined;
  const once: Once = {
    catalog() {
      catalog ??= parts.catalog();
      return catalog;
    },
    known() {
      known ??= knownNow(parts, once.catalog);
      return known;
    },
  };
  for (const source of parts.sources.toSorted(popularFirst)) {
    const { id, kind } = source.feed;
    options.progress(id, done.size, parts.sources.length);
    // Whoever goes back with a feed while others are fetched is heard.
    const unlessHeld = !named.includes(id);
    if (unlessHeld && (await heldFeeds(parts.store)).includes(id)) {
      done.set(source, leftAlone(id));
      continue;
    }
    const updated = await update(source, once, { ...parts, unlessHeld }, options);
    done.set(source, updated);
    if (!options.dryRun && !(await isGone(source.feed, parts.store))) await note(triedOf(updated), parts);
    if (kind === 'popular') catalog = known = undefined;
  }
  return parts.sources.map(source => done.get(source)!);
}

const UNTRIED = { turnover: null, flips: null, waiting: null, fallback: null };

function leftAlone(feed: string): Updated {
  const nothing = { before: null, after: null, dropped: null, ...UNTRIED };
  return { feed, outcome: 'held', ...nothing, problems: ['rolled back: name it to update it all the same'] };
}

/** What had to be forced was looked at by an operator. */
function triedOf({ feed, outcome, problems, turnover, waiting, tag, fallback }: Updated): Tried {
  const isBad = outcome === 'refused' || outcome === 'failed' || outcome === 'waiting';
  return { feed, problem: isBad ? shortDetail(problems.join('; ')) : null, turnover, waiting, tag, fallback };
}

/** Of one that could not even be tried to the end. */
export async function noteFailed(
  feed: string,
  problem: string,
  parts: Pick<UpdateParts, 'store' | 'clock'>,
): Promise<Updated> {
  const nothing = { before: null, after: null, dropped: null, ...UNTRIED };
  const failed: Updated = { feed, outcome: 'failed', ...nothing, problems: [problem] };
  await note(triedOf(failed), parts);
  return failed;
}

/** So that the disposable feeds of the same update are held against what it says. */
function popularFirst(one: FreshSource, other: FreshSource): number {
  return Number(other.feed.kind === 'popular') - Number(one.feed.kind === 'popular');
}

/** Only for what could be read: it takes all lists in use. */
interface Once {
  readonly catalog: () => Promise<Catalog>;
  readonly known: () => Promise<Known>;
}

async function knownNow({ tables }: UpdateParts, catalog: Once['catalog']): Promise<Known> {
  const { snapshots } = await catalog();
  return knownFrom(snapshots, parseTables(await tables()), randomBytes(SEED_BYTES));
}

async function update(
  source: FreshSource,
  { known, catalog }: Once,
  parts: UpdateParts & { readonly unlessHeld: boolean },
  { force, dryRun }: UpdateOptions,
): Promise<Updated> {
  const { feed } = source;
  const inUse = await readInUse(feed, parts);
  const before = inUse.snapshot ? versionOf(inUse.snapshot) : null;
  const now = parts.clock();
  const tried = await checkOf(feed.id, parts.store);
  const last = force ? undefined : lastTag(source, inUse, tried, now);
  const read = await readFresh(source, inUse.snapshot, last);
  const nothing = { feed: feed.id, before, dropped: null, ...UNTRIED };
  if (read instanceof FeedError)
    return { ...nothing, after: null, outcome: 'failed', problems: [oneLine(read.message)] };
  if (read === null) return { ...nothing, after: before, outcome: 'unchanged', problems: [] };
  const { snapshot: fresh, fallback } = read;
  const today = dayAt(now);
  const held = { ...(await known()), installed: inUse.installed, today };
  const problems = problemsOf(fresh, inUse.snapshot, held);
  const { doubtful } = doubtOf(fresh, inUse.snapshot, held);
  const lately = flaggedLately(inUse.snapshot, feed, today);
  const moved = new Map([...turnoverOf(fresh, inUse.snapshot, today).moved, ...lately]);
  const next = keepingNames(fresh, inUse.snapshot, today, doubtful, moved);
  const version = { before, after: versionOf(next), dropped: fresh.dropped };
  const told = { feed: feed.id, ...version, problems, ...UNTRIED, fallback };
  if (problems.length > 0 && !force) return { ...told, outcome: 'refused' };
  if (inUse.snapshot && inUse.isWhole && isSame(inUse.snapshot, next))
    return { ...told, outcome: 'unchanged', tag: keptTag(read.tag, inUse.snapshot, now) };
  const flips = await tryOut(next, inUse.snapshot, { ...parts, catalog }, now);
  const check = await checkOf(feed.id, parts.store);
  const names = waitingIn(flips, check, lately.keys());
  if (names.length > 0) {
    const { problem, outcome, waiting } = problemOf(names, feed, check);
    problems.push(problem);
    if (!force) return { ...told, outcome, flips, waiting };
  }
  const outcome = problems.length > 0 ? 'forced' : 'accepted';
  const changed = { ...told, outcome, turnover: turnoverIn(next, inUse.snapshot), flips } as const;
  if (dryRun) return changed;
  const act = actOf(changed, fallback ?? feed.origin, parts.clock(), parts.actor);
  const isLookedAt = outcome === 'forced' || check?.isApproved === true;
  const kept = keepingFlags(next, flips, isLookedAt, today);
  const taken = !(await isGone(feed, parts.store)) && (await accept(kept, inUse.digest, act, parts));
  if (taken) return { ...changed, tag: keptTag(read.tag, kept, now) };
  const isHeld = parts.unlessHeld && (await heldFeeds(parts.store)).includes(feed.id);
  return isHeld ? leftAlone(feed.id) : { ...told, outcome: 'overtaken' };
}

function versionOf({ version, names }: Snapshot): Version {
  return { version, names: names.length };
}

async function accept(
  snapshot: Snapshot,
  was: string | null,
  act: Act,
  { packing, store, unlessHeld }: UpdateParts & { readonly unlessHeld: boolean },
): Promise<boolean> {
  const { feed, version, digest, names } = snapshot;
  const body = await packing.pack(textOf(snapshot));
  const accepted = { feed: feed.id, version, digest, names: names.length, acceptedAt: act.at, body };
  return store.acceptSnapshot(accepted, was, act, unlessHeld);
}
