/** Names that a list brings though we know them as something else: how many of them may come within a month. */

import type { Day } from './days.ts';
import type { Content, Family, Feed, FeedKind, Snapshot } from './feed.ts';
import { PANEL_SIZE } from './folding.ts';
import type { Held } from './known.ts';
import { STEP_DAYS } from './turnover.ts';

/** A share of a list's names, and so many at most: whoever writes a list can make it longer. */
interface Bound {
  readonly share: number;
  readonly most: number;
}

/**
 * How many names of disposable feeds a list of innocent ones may clear: whoever writes one writes himself in, and the
 * hosts that receive for him. Of 24,954 popular names 42 are such (20 of them because of a name below), of 8,213
 * universities two, of 18 relays three: broad feeds like to name relays. Lists of free providers are full of them (126
 * of 4,767 and 6,836 of 16,333), and clear none; what they add tells of a list that went bad (2026-11-17).
 */
const MOST_CLEARED: Readonly<Record<Exclude<FeedKind, 'disposable'>, Bound>> = {
  popular: { share: 0.003, most: 300 },
  relay: { share: 0.3, most: 5 },
  // Nobody but operators brings such a list, and no other clears what verified feeds name: as careful as with relays.
  protected: { share: 0.3, most: 5 },
  academic: { share: 0.01, most: 10 },
  free: { share: 0.05, most: 1_000 },
};

/** In the shortest lists a share would be less than one honest mistake. */
const FEW_BLAMED = 10;

/**
 * How many innocent names a disposable feed may bring, where that is not few. A verified feed's word is enough by
 * itself, so nothing else stands between its errors and a caller. With a panel of 24,954 names, every second of the
 * first 50,000, the bundled ones hold 13 of 8,883, 3 of 4,552, 133 of 74,115 and 149 of 162,866, which came over years
 * (2026-11-17).
 */
const MOST_BLAMED: Readonly<Record<Family, Bound>> = {
  verified: { share: 0.002, most: 20 },
  telemetry: { share: 0.002, most: 20 },
  broad: { share: 0.003, most: 500 },
};

/**
 * How many names a list of free providers may bring that we know as something else: whoever writes one could else take
 * 1,900 companies for webmail in one update (2026-11-17).
 */
const MOST_TAKEN_FOR_WEBMAIL = 20;

function mostIn(feed: Feed, count: number): number {
  const { share, most } = feed.kind === 'disposable' ? MOST_BLAMED[feed.family] : MOST_CLEARED[feed.kind];
  return Math.max(feed.kind === 'disposable' ? FEW_BLAMED : 0, Math.min(most, share * count));
}

export interface Doubt {
  /** Why the version is refused; nothing where they are few. */
  readonly problems: readonly string[];
  /** What the version is kept with. */
  readonly doubtful: Content['doubtful'];
}

/**
 * By days of ours, whatever a list tells of itself, and by name, though the list may have withdrawn it since: others
 * every day are more and more. What is installed was looked at. A version with too many can only have been forced in: an
 * operator looked at them, and the count begins anew behind it.
 */
export function doubtOf(fresh: Snapshot, inUse: Snapshot | undefined, held: Held): Doubt {
  const { installed, today, agedBy = today, innocentOf, isClearable, isNoWebmail } = held;
  const { feed } = fresh;
  const isMistaken = (name: string) => feed.kind === 'free' && isNoWebmail(name);
  const clearedOf = (name: string) => (isClearable(name, feed.kind) || isMistaken(name) ? name : undefined);
  const doubtfulOf = feed.kind === 'disposable' ? innocentOf : clearedOf;
  const counted = countedOf(fresh);
  const before = new Set([...countedOf(inUse), ...countedOf(installed)]);
  const doubtful = new Map<string, Day>();
  for (const name of counted) {
    const counts = before.has(name) ? undefined : doubtfulOf(name);
    if (counts !== undefined) doubtful.set(counts, today);
  }
  const isStep = doubtful.size > 0;
  for (const [name, day] of inUse?.doubtful ?? []) {
    const counts = agedBy - day < STEP_DAYS ? doubtfulOf(name) : undefined;
    if (counts !== undefined && !doubtful.has(counts)) doubtful.set(counts, Math.min(day, today));
  }
  const mistaken = [...doubtful.keys()].filter(isMistaken);
  const others = [...doubtful.keys()].filter(name => !isMistaken(name));
  const problems = [
    { names: mistaken, most: MOST_TAKEN_FOR_WEBMAIL, known: 'something else than webmail' },
    {
      names: others,
      most: mostIn(feed, counted.length),
      known: feed.kind === 'disposable' ? 'innocent' : 'disposable',
    },
  ]
    .filter(({ names, most }) => isStep && names.length > most)
    .map(
      ({ names, known }) =>
        `${names.length} of its ${counted.length} names came within ${STEP_DAYS} days and are known as ${known} (${names.slice(0, 3).join(', ')}): look at them before you force it`,
    );
  return { problems, doubtful: problems.length > 0 ? new Map() : doubtful };
}

function countedOf(snapshot: Snapshot | undefined): readonly string[] {
  if (snapshot?.feed.kind !== 'popular') return snapshot?.names ?? [];
  return snapshot.names.slice(0, PANEL_SIZE);
}
