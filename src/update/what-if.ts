/** A new version before it counts: what it would change for names that this service was really asked lately. */

import { randomBytes } from 'node:crypto';
import type { Catalog } from '../core/catalog.ts';
import type { Day } from '../core/days.ts';
import { registrableDomain } from '../core/domain.ts';
import type { Content, Feed, Snapshot } from '../core/feed.ts';
import { makingCatalog } from '../core/folding.ts';
import { type FeedCheck, rejectedProblem } from '../core/freshness.ts';
import type { Kept } from '../core/kept.ts';
import { SEED_BYTES } from '../core/names.ts';
import type { Store } from '../core/ports.ts';
import { sealing } from '../core/snapshot.ts';
import { allAtOnce } from '../core/steps.ts';
import { parseTables, type TableTexts } from '../core/tables.ts';
import { STEP_DAYS } from '../core/turnover.ts';
import {
  approvedIn,
  changedIn,
  type Flip,
  flipsOf,
  isFlaggedIn,
  rejectedIn,
  touchedOf,
} from '../core/what-if.ts';

interface Parts {
  readonly store: Pick<Store, 'askedNames' | 'listOverrides'>;
  readonly tables: () => Promise<TableTexts>;
  readonly catalog: () => Promise<Catalog>;
}

export interface TriedOut {
  readonly flips: readonly Flip[];
  /** What an operator rejected once and it would flag, whether or not that is still asked for. */
  readonly again: readonly string[];
  /** What an operator approved or rejected and it has. */
  readonly decided: readonly string[];
}

/** Only where a name that was asked for is touched, or is cleared no longer: folding a catalog takes half a second. */
export async function tryOut(
  next: Snapshot,
  inUse: Snapshot | undefined,
  check: FeedCheck | undefined,
  parts: Parts,
  now: number,
): Promise<TriedOut> {
  const asked = touchedOf(await parts.store.askedNames(), changedIn(next, inUse));
  const rejected = new Set(check?.rejected);
  const used = approvedIn(next, inUse, check?.approved ?? []);
  const changed = [...rejectedIn(next, inUse, [...rejected]), ...used];
  const triedOut = (flips: readonly Flip[], decided: readonly string[]): TriedOut => ({
    ...{ flips, decided, again: decided.filter(name => rejected.has(name)) },
  });
  const isNaming = next.feed.kind === 'disposable';
  if (asked.size === 0 && (isNaming || changed.length === 0)) return triedOut([], changed);
  const before = await parts.catalog();
  const isOther = ({ feed }: Pick<Snapshot, 'feed'>) => feed.id !== next.feed.id;
  const snapshots = [...before.snapshots.filter(isOther), next];
  const tables = parseTables(await parts.tables());
  const after = allAtOnce(makingCatalog(snapshots, tables, 'what-if', randomBytes(SEED_BYTES)));
  const { overrides } = await parts.store.listOverrides();
  const flips = flipsOf(before, after, asked, new Map(Array.from(overrides, one => [one.domain, one])), now);
  // What left the panel and nobody lists is not flagged by that: nothing of what was decided about it is used up.
  return triedOut(
    flips,
    changed.filter(name => isNaming || isFlaggedIn(after, name, now)),
  );
}

/**
 * So many established names may become disposable at once: services do turn, but hardly several a day that callers
 * asked for and found safe on seven days.
 */
const MOST_FLAGGED = 5;

export const flaggedIn = (flips: readonly Flip[]) =>
  flips.filter(({ change }) => change === 'flagged').map(({ domain }) => domain);

const establishedIn = (flips: readonly Flip[]) =>
  flaggedIn(flips.filter(({ isEstablished }) => isEstablished));

/**
 * What versions of the last month flagged: four updates with five names each are twenty, and so are four of a popularity
 * list that leave five out each (2026-11-17). Kept with the version in use, so that whoever goes back from it takes it
 * back.
 */
export function flaggedLately(
  inUse: Pick<Snapshot, 'flagged'> | undefined,
  today: Day,
  agedBy: Day = today,
): Content['flagged'] {
  return new Map(
    [...(inUse?.flagged ?? [])]
      .filter(([, day]) => agedBy - day < STEP_DAYS)
      .map(([name, day]) => [name, Math.min(day, today)]),
  );
}

/** What versions of the other lists flagged within the month: four lists with five names each are twenty, too. */
export function flaggedElsewhere({ id }: Feed, snapshots: readonly Kept[], today: Day): readonly string[] {
  const others = snapshots.filter(({ feed }) => feed.id !== id);
  return [...new Set(others.flatMap(one => [...flaggedLately(one, today).keys()]))];
}

/** With what it flags now. What an operator approved or forced in is not counted. */
export function keepingFlags(
  next: Snapshot,
  flips: readonly Flip[],
  check: FeedCheck | undefined,
  isForced: boolean,
  today: Day,
): Snapshot {
  const names = establishedIn(flips);
  if (names.length === 0) return next;
  const approved = new Set(check?.approved);
  const all = isForced ? [] : [...next.flagged, ...names.map(name => [name, today] as const)];
  const flagged = new Map(all.filter(([name]) => !approved.has(name)));
  return allAtOnce(sealing(next.feed, { ...next, flagged }));
}

/**
 * The names that an operator has to look at; none where they are few, with those of the last month, or were approved.
 * `others` count too: those of other lists, and what it has withdrawn.
 */
export function waitingIn(
  flips: readonly Flip[],
  check: FeedCheck | undefined,
  lately: Iterable<string> = [],
  others: readonly string[] = [],
): readonly string[] {
  const approved = new Set(check?.approved);
  const isOpen = (name: string) => !approved.has(name);
  const flagged = establishedIn(flips).filter(isOpen);
  if (flagged.length === 0) return [];
  const names = [...new Set([...flagged, ...[...lately].filter(isOpen)])].sort();
  // Names below one domain are one party's: they cost nothing.
  const parties = new Set([...names, ...others].map(name => registrableDomain(name) ?? name));
  return parties.size > MOST_FLAGGED ? names : [];
}

/** What is kept of them: an operator looks at a few. */
const MOST_KEPT = 1_000;

/**
 * What becomes of a version: it waits, or is refused where it has what an operator rejected before, which is never few:
 * whoever brings five at a time has them all. Undefined where nothing speaks against it.
 */
export function problemOf(
  { flips, again }: TriedOut,
  {
    next,
    inUse,
    check,
    others,
  }: {
    readonly next: Snapshot;
    readonly inUse: Snapshot | undefined;
    readonly check: FeedCheck | undefined;
    readonly others: readonly string[];
  },
) {
  const { id } = next.feed;
  if (again.length > 0)
    return {
      outcome: 'refused',
      problem: rejectedProblem(id, again.length),
      // Nobody is asked about it, nor any more about one that waited before it.
      waiting: [],
      again,
    } as const;
  // What was withdrawn since counts, but is nothing that this version does: it was rejected with it (2026-11-18).
  const lately = new Set(next.flagged.keys());
  const still = rejectedIn(next, inUse, [...lately]);
  const gone = lately.difference(new Set(still));
  const waiting = waitingIn(flips, check, still, [...others, ...gone]);
  if (waiting.length === 0) return undefined;
  const fix = `"feeds approve ${id}" takes it, "feeds reject ${id}" does not`;
  const beside = [
    others.length > 0 ? `, beside ${others.length} that other lists flagged within a month` : '',
    gone.size > 0 ? `, beside ${gone.size} that it flagged within a month and no longer has` : '',
  ];
  return {
    outcome: 'waiting',
    problem: `it would flag ${waiting.length} established names that were asked here lately${beside.join('')}: ${fix}`,
    waiting: waiting.slice(0, MOST_KEPT),
  } as const;
}
