/** The gate: whether a new version of a feed is plausible enough to take the place of the one in use. */

import type { Day } from './days.ts';
import type { Content, Family, FeedKind, Snapshot } from './feed.ts';
import { PANEL_SIZE } from './folding.ts';
import type { Held } from './known.ts';
import { SHOWN_TO_STAY, sealing } from './snapshot.ts';
import { allAtOnce } from './steps.ts';

/**
 * A rotating list of 1,000 named 7,800 domains in 107 days (measured November 2026): these are about a year's, and
 * hardly any disposable domain is in use for longer.
 */
const MOST_KEPT = 30_000;

/** For so long a name that left a rotating list stays; most disposable domains are in use for a shorter time. */
const STAYS_DAYS = 90;

/** Six times the longest list of November 2026; the first version of a feed has nothing else to be held against. */
const MOST_NAMES = 1_000_000;

/**
 * Why a version as it was read is refused; nothing where it is plausible. A public list once lost 96,017 of its
 * 133,602 names in one update, and others have named google.com and gmx.com.
 */
export function problemsOf(fresh: Snapshot, inUse: Snapshot | undefined, held: Held): string[] {
  const { canaries, installed } = held;
  const { feed, names, dropped } = fresh;
  if (names.length === 0) return ['it holds no usable name'];
  const problems: string[] = [];
  if (names.length < feed.atLeast)
    problems.push(`${names.length} names, at least ${feed.atLeast} are expected`);
  if (names.length > MOST_NAMES) problems.push(`${names.length} names, more than any list has`);
  problems.push(...outOfBand(fresh, inUse, installed));
  const unusable = dropped.malformed + dropped.suffix + dropped.specialUse;
  const lines = names.length + unusable + dropped.duplicate;
  if (100 * unusable > lines)
    problems.push(`${unusable} of ${lines} lines are no usable names, more than 1 %`);
  const canary = feed.kind === 'disposable' ? names.find(name => canaries.has(name)) : undefined;
  if (canary !== undefined) problems.push(`it names ${canary}, one of the largest mailbox providers`);
  if (feed.kind === 'popular') problems.push(...unpopular(names, canaries));
  return [...problems, ...clearing(fresh, inUse, held), ...blaming(fresh, inUse, held)];
}

/**
 * Not far from the version in use, nor in small steps from what is installed: a list lost half of its names in three days
 * with nobody told, and 18 relays became 58,839 in twenty. A list of disposable names may grow as there are more of
 * them. A rotating list always has the same length, and what is in use holds the names of a year. What was forced in
 * against the rules is no measure, and what is installed is none after it.
 */
function outOfBand(
  { feed, names }: Snapshot,
  inUse: Snapshot | undefined,
  installed: Snapshot | undefined,
): string[] {
  const isMeasure = inUse && inUse.names.length >= feed.atLeast;
  const last = feed.rotates ?? (isMeasure ? inUse.names.length : undefined);
  if (last === undefined) return [];
  const first = installed?.names.length ?? last;
  const most = feed.kind !== 'disposable' && !isAbove(last, first) ? Math.min(last, first) : last;
  const least = isBelow(last, first) ? last : Math.max(last, first);
  if (isBelow(names.length, least)) return [`${names.length} names, more than 20 % fewer than ${least}`];
  if (isAbove(names.length, most)) return [`${names.length} names, more than 50 % more than ${most}`];
  return [];
}

const isBelow = (count: number, expected: number) => 5 * count < 4 * expected;
const isAbove = (count: number, expected: number) => 2 * count > 3 * expected;

/** What counts as one step: many small ones must not do what one large one may not. */
const STEP_DAYS = 30;

/**
 * The names of which something is true and that are new, with those that came within a month, where they are more than
 * `most`. What is installed was looked at, and so was what came within a month and is more already: it was forced in.
 */
function tooMany(
  names: readonly string[],
  most: number,
  inUse: Snapshot | undefined,
  { installed, today }: Held,
  isSuch: (name: string) => boolean,
): string[] {
  const before = placesOf(inUse);
  const lookedAt = new Set(installed?.names);
  const such = names.filter(name => isSuch(name) && !lookedAt.has(name));
  const fresh = such.filter(name => !before.has(name));
  // Where nobody knows since when, that is day 0, long ago.
  const lately = such.filter(name => today - (inUse?.since[before.get(name) ?? -1] ?? 0) < STEP_DAYS);
  const found = lately.length > most ? fresh : fresh.concat(lately);
  return found.length > most ? found : [];
}

/**
 * How many names of disposable feeds a list of innocent ones may clear within a month: a share of its names, and so many
 * at most. Of 24,987 popular names 22 are such, of 8,213 universities one, of 18 relays three: broad feeds like to
 * name relays. Lists of free providers are full of them (122 of 4,768 and 6,821 of 16,334), and clear none; what they
 * add tells of a list that went bad (2026-11-16).
 */
const MOST_CLEARED: Readonly<Record<Exclude<FeedKind, 'disposable'>, { share: number; most: number }>> = {
  popular: { share: 0.003, most: 300 },
  relay: { share: 0.3, most: 5 },
  academic: { share: 0.01, most: 10 },
  free: { share: 0.05, most: 1_000 },
};

/** What stands in such a list is spared, and so are the hosts that receive for it: whoever writes one writes himself in. */
function clearing({ feed, names }: Snapshot, inUse: Snapshot | undefined, held: Held): string[] {
  if (feed.kind === 'disposable') return [];
  const { share, most } = MOST_CLEARED[feed.kind];
  const counted = feed.kind === 'popular' ? names.slice(0, PANEL_SIZE) : names;
  const found = tooMany(counted, Math.min(most, share * counted.length), inUse, held, held.isClearable);
  if (found.length === 0) return [];
  return [`${found.length} of its ${counted.length} names ${AT_ONCE} disposable (${some(found)}): ${LOOK}`];
}

/** In the shortest lists a share would be less than one honest mistake. */
const FEW_BLAMED = 10;

/**
 * How many innocent names a disposable feed may bring within a month, as a share of its names, where that is not few.
 * A verified feed's word is enough by itself, so nothing else stands between its errors and a caller. With a panel of
 * 24,987 names, every second of the first 50,000, the bundled ones hold 12 of 8,883, 3 of 4,552, 50 of 74,116 and 57 of
 * 162,867, which came over years (2026-11-16).
 */
const MOST_BLAMED: Readonly<Record<Family, number>> = { verified: 0.002, telemetry: 0.002, broad: 0.003 };

function blaming({ feed, names }: Snapshot, inUse: Snapshot | undefined, held: Held): string[] {
  if (feed.kind !== 'disposable') return [];
  const most = Math.max(FEW_BLAMED, MOST_BLAMED[feed.family] * names.length);
  const found = tooMany(names, most, inUse, held, held.isInnocent);
  if (found.length === 0) return [];
  return [`${found.length} of its ${names.length} names ${AT_ONCE} innocent (${some(found)}): ${LOOK}`];
}

const AT_ONCE = `came within ${STEP_DAYS} days and are known as`;
const LOOK = 'look at them before you force it';
const some = (names: readonly string[]) => names.slice(0, 3).join(', ');

/**
 * Names of people's mailboxes are among the most used: 22 of the 50 largest providers were in a list of 25,000 (November
 * 2026). Another column, or a list of something else, would clear what the disposable feeds name.
 */
function unpopular(names: readonly string[], canaries: ReadonlySet<string>): string[] {
  const found = names.reduce((count, name) => (canaries.has(name) ? count + 1 : count), 0);
  if (5 * found >= canaries.size) return [];
  return [`it names ${found} of the ${canaries.size} largest mailbox providers: not what most people use`];
}

/** Since when each name is known, and for a rotating list also what it showed before: `today` is the day of the update. */
export function keepingNames(fresh: Snapshot, inUse: Snapshot | undefined, today: Day): Snapshot {
  const before = placesOf(inUse);
  const sinceOf = (name: string, at: number) => {
    if (fresh.since[at] !== 0) return fresh.since[at]!;
    const place = before.get(name);
    return place === undefined ? today : inUse!.since[place]!;
  };
  if (fresh.feed.rotates === undefined) {
    const since = Uint16Array.from(fresh.names, sinceOf);
    return allAtOnce(sealing(fresh.feed, { ...fresh, since }));
  }
  const newest = inUse?.shown?.last.reduce((most, day) => Math.max(most, day), 0) ?? 0;
  const rows: Row[] = fresh.names.map((name, at) => {
    const place = before.get(name);
    before.delete(name);
    const was = place === undefined ? undefined : rowAt(inUse!, place);
    const days = (was?.days ?? 0) + (was?.last === today ? 0 : 1);
    const since = fresh.since[at] || shownSince(was, newest, today);
    return { name, since, last: today, days: Math.min(255, days) };
  });
  const stay = [...before.values()].map(place => rowAt(inUse!, place)).filter(row => isToStay(row, today));
  stay.sort((a, b) => b.last - a.last || (a.name < b.name ? -1 : 1));
  return rotated(fresh, rows.concat(stay.slice(0, Math.max(0, MOST_KEPT - rows.length))));
}

/**
 * A name that comes back is as old as it was when it left: the days on which it was merely kept do not count, or one bad
 * day a month after three others would block for ninety.
 */
function shownSince(was: Row | undefined, newest: Day, today: Day): Day {
  if (!was?.since) return today;
  return was.last === newest ? was.since : was.since + (today - was.last);
}

/** One name of a rotating list. */
interface Row {
  readonly name: string;
  readonly since: Day;
  readonly last: Day;
  readonly days: number;
}

function placesOf(snapshot: Snapshot | undefined): Map<string, number> {
  return new Map(snapshot?.names.map((name, at) => [name, at]));
}

function rowAt({ names, since, shown }: Snapshot, at: number): Row {
  return { name: names[at]!, since: since[at]!, last: shown?.last[at] ?? 0, days: shown?.days[at] ?? 0 };
}

function isToStay({ last, days }: Row, today: Day): boolean {
  return days >= SHOWN_TO_STAY && today - last <= STAYS_DAYS;
}

function rotated(fresh: Snapshot, rows: readonly Row[]): Snapshot {
  const shown = {
    last: Uint16Array.from(rows, ({ last }) => last),
    days: Uint8Array.from(rows, ({ days }) => days),
  };
  const since = Uint16Array.from(rows, row => row.since);
  return allAtOnce(sealing(fresh.feed, { ...fresh, names: rows.map(({ name }) => name), since, shown }));
}

/** Whether two versions say the same, in whatever order and under whatever version. */
export function isSame(a: Content, b: Content): boolean {
  const places = new Map(a.names.map((name, at) => [name, at]));
  return (
    a.names.length === b.names.length &&
    b.names.every((name, at) => {
      const place = places.get(name);
      return place !== undefined && isSameAt(a, place, b, at);
    }) &&
    isSameMap(a.labels, b.labels)
  );
}

function isSameAt(a: Content, at: number, b: Content, place: number): boolean {
  return (
    a.since[at] === b.since[place] &&
    a.shown?.last[at] === b.shown?.last[place] &&
    a.shown?.days[at] === b.shown?.days[place]
  );
}

function isSameMap(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([name, value]) => b.get(name) === value);
}
