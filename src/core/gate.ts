/** The gate: whether a new version of a feed is plausible enough to take the place of the one in use. */

import type { Day } from './days.ts';
import { doubtOf } from './doubt.ts';
import type { Content, Feed, Snapshot } from './feed.ts';
import type { Held } from './known.ts';
import { SHOWN_TO_STAY } from './line.ts';
import { sealing } from './snapshot.ts';
import { allAtOnce } from './steps.ts';
import { FEW_OF_OWN, turnoverOf } from './turnover.ts';

/**
 * A rotating list of 1,000 named 7,800 domains in 107 days (measured November 2026): these are about a year's, and
 * hardly any disposable domain is in use for longer.
 */
const MOST_KEPT = 30_000;

/** For so long a name that left a rotating list stays; most disposable domains are in use for a shorter time. */
const STAYS_DAYS = 90;

/** Six times the longest list of November 2026; the first version of a feed has nothing else to be held against. */
const MOST_NAMES = 1_000_000;
/** What an operator adds and is no list of disposable names is kept as a set, of which this many take 10 MB. */
const MOST_OWN = 100_000;

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
  if (names.length > mostIn(feed)) problems.push(`${names.length} names, more than ${mostIn(feed)}`);
  problems.push(...outOfBand(fresh, inUse, installed));
  const unusable = dropped.malformed + dropped.suffix + dropped.specialUse;
  const lines = names.length + unusable + dropped.duplicate;
  if (100 * unusable > lines)
    problems.push(
      `${unusable} of ${lines} lines are no usable names, more than 1 %: ${quoted(fresh.unusable)} for one`,
    );
  const canary = feed.kind === 'disposable' ? names.find(name => canaries.has(name)) : undefined;
  if (canary !== undefined) problems.push(`it names ${canary}, one of the largest mailbox providers`);
  if (feed.kind === 'disposable') problems.push(...coveringStrangers(names, held));
  if (feed.kind === 'popular') problems.push(...unpopular(names, inUse?.names, canaries));
  problems.push(...turnoverOf(fresh, inUse, held.today, held.agedBy).problems);
  return [...problems, ...doubtOf(fresh, inUse, held).problems];
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
  if (feed.isOwn && Math.abs(names.length - last) <= FEW_OF_OWN) return [];
  const first = installed?.names.length ?? last;
  const most = feed.kind !== 'disposable' && !isAbove(last, first) ? Math.min(last, first) : last;
  const least = isBelow(last, first) ? last : Math.max(last, first);
  if (isBelow(names.length, least)) return [`${names.length} names, more than 20 % fewer than ${least}`];
  if (isAbove(names.length, most)) return [`${names.length} names, more than 50 % more than ${most}`];
  return [];
}

/** A stranger wrote it: it must not drive a terminal. */
const quoted = (text = '') => JSON.stringify(text.replace(/[\p{Cc}\p{Cf}]/gu, ' '));

const mostIn = ({ isOwn, kind }: Feed) => (isOwn && kind !== 'disposable' ? MOST_OWN : MOST_NAMES);

const isBelow = (count: number, expected: number) => 5 * count < 4 * expected;
const isAbove = (count: number, expected: number) => 2 * count > 3 * expected;

/**
 * One line that names a suffix covers all who registered below it: 33 such lines passed as 33 names (2026-11-16). What
 * some list names already was looked at.
 */
function coveringStrangers(names: readonly string[], { innocentBelow }: Held): string[] {
  const covering = names.find(name => innocentBelow(name) !== undefined);
  if (covering === undefined) return [];
  return [`it names ${covering}, below which anybody registers, ${innocentBelow(covering)} for one`];
}

/**
 * Names of people's mailboxes are among the most used: 22 of the 50 largest providers were in a list of 25,000 (November
 * 2026). Another column, or a list of something else, would clear what the disposable feeds name. What was forced in
 * without them is the measure for the next: a list of customers could not be followed at all (2026-11-18).
 */
function unpopular(
  names: readonly string[],
  inUse: readonly string[] | undefined,
  canaries: ReadonlySet<string>,
): string[] {
  const foundIn = (some: readonly string[]) =>
    some.reduce((count, name) => (canaries.has(name) ? count + 1 : count), 0);
  const isFew = (count: number) => 5 * count < canaries.size;
  const found = foundIn(names);
  if (!isFew(found) || (inUse && isFew(foundIn(inUse)))) return [];
  return [`it names ${found} of the ${canaries.size} largest mailbox providers: not what most people use`];
}

/**
 * Since when each name is known, and for a rotating list also what it showed before: `today` is the day of the update,
 * `agedBy` that by which names are too old to stay. `doubtful`, `moved` and `flagged` are what the next version will be
 * held against. `aside` are versions that an operator went back from, the newest first, of which the days are known that
 * the one in use does not know: a name of months was new again after that (95 became 60, 2026-11-18).
 */
export function keepingNames(
  fresh: Snapshot,
  inUse: Snapshot | undefined,
  today: Day,
  doubtful: Content['doubtful'] = new Map(),
  moved: Content['moved'] = new Map(),
  flagged: Content['flagged'] = new Map(),
  agedBy: Day = today,
  aside: readonly Snapshot[] = [],
): Snapshot {
  const before = placesOf(inUse);
  const earlier = aside.map(version => ({ version, places: placesOf(version), newest: newestIn(version) }));
  /** The row of a name that the version in use has not, and the newest day of the version that has it. */
  const asideOf = (name: string) => {
    for (const { version, places, newest } of earlier) {
      const place = places.get(name);
      if (place !== undefined) return { was: rowAt(version, place, today), newest };
    }
    return undefined;
  };
  const toldAt = (at: number) => (fresh.since[at]! <= today ? fresh.since[at]! : 0);
  const sinceOf = (name: string, at: number) => {
    if (toldAt(at) !== 0) return toldAt(at);
    const place = before.get(name);
    return place === undefined ? (asideOf(name)?.was.since ?? today) : Math.min(today, inUse!.since[place]!);
  };
  if (fresh.feed.rotates === undefined) {
    const since = Uint16Array.from(fresh.names, sinceOf);
    return allAtOnce(sealing(fresh.feed, { ...fresh, since, doubtful, moved, flagged }));
  }
  const newestInUse = newestIn(inUse);
  const rows: Row[] = fresh.names.map((name, at) => {
    const place = before.get(name);
    before.delete(name);
    const { was, newest } =
      place === undefined
        ? (asideOf(name) ?? { was: undefined, newest: 0 })
        : { was: rowAt(inUse!, place, today), newest: newestInUse };
    const days = (was?.days ?? 0) + (was?.last === today ? 0 : 1);
    const since = toldAt(at) || shownSince(was, newest, today);
    return { name, since, last: today, days: Math.min(255, days) };
  });
  const stay = [...before.values()]
    .map(place => rowAt(inUse!, place, today))
    .filter(row => isToStay(row, agedBy));
  stay.sort((a, b) => b.last - a.last || (a.name < b.name ? -1 : 1));
  return rotated(
    { ...fresh, doubtful, moved, flagged },
    rows.concat(stay.slice(0, Math.max(0, MOST_KEPT - rows.length))),
  );
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

const newestIn = (snapshot: Snapshot | undefined): Day =>
  snapshot?.shown?.last.reduce((most, day) => Math.max(most, day), 0) ?? 0;

/** No day is after today: one update by a clock that was ahead would make all who are shown since look as if they had left. */
function rowAt({ names, since, shown }: Snapshot, at: number, today: Day): Row {
  const last = Math.min(today, shown?.last[at] ?? 0);
  return { name: names[at]!, since: Math.min(today, since[at]!), last, days: shown?.days[at] ?? 0 };
}

function isToStay({ last, days }: Row, agedBy: Day): boolean {
  return days >= SHOWN_TO_STAY && agedBy - last <= STAYS_DAYS;
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
