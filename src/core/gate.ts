/** The gate: whether a new version of a feed is plausible enough to take the place of the one in use. */

import type { Content, Snapshot } from './feed.ts';
import { sealing } from './snapshot.ts';
import { allAtOnce } from './steps.ts';

/**
 * A rotating list of 1,000 named 7,800 domains in 107 days (measured November 2026): these are about a year's, and
 * hardly any disposable domain is in use for longer.
 */
const MOST_KEPT = 30_000;

/** Six times the longest list of November 2026; the first version of a feed has nothing else to be held against. */
const MOST_NAMES = 1_000_000;

/**
 * Why a version as it was read is refused; nothing where it is plausible. A public list once lost 96,017 of its
 * 133,602 names in one update, and others have named google.com and gmx.com.
 */
export function problemsOf(
  fresh: Snapshot,
  inUse: Snapshot | undefined,
  canaries: ReadonlySet<string>,
): string[] {
  const { feed, names, dropped } = fresh;
  if (names.length === 0) return ['it holds no usable name'];
  const problems: string[] = [];
  if (names.length < feed.atLeast)
    problems.push(`${names.length} names, at least ${feed.atLeast} are expected`);
  if (names.length > MOST_NAMES) problems.push(`${names.length} names, more than any list has`);
  // A rotating list always has the same length, and what is in use holds the names of a year. What was forced in
  // against the rules is no measure either.
  const isMeasure = inUse && inUse.names.length >= feed.atLeast;
  const expected = feed.rotates ?? (isMeasure ? inUse.names.length : undefined);
  if (expected !== undefined && 5 * names.length < 4 * expected)
    problems.push(`${names.length} names, more than 20 % fewer than ${expected}`);
  if (expected !== undefined && 2 * names.length > 3 * expected)
    problems.push(`${names.length} names, more than 50 % more than ${expected}`);
  const unusable = dropped.malformed + dropped.suffix + dropped.specialUse;
  const lines = names.length + unusable + dropped.duplicate;
  if (100 * unusable > lines)
    problems.push(`${unusable} of ${lines} lines are no usable names, more than 1 %`);
  const canary = feed.kind === 'disposable' ? names.find(name => canaries.has(name)) : undefined;
  if (canary !== undefined) problems.push(`it names ${canary}, one of the largest mailbox providers`);
  return problems;
}

/** A rotating list with what it named before: since the day on which it was first seen there, the oldest forgotten. */
export function keepingNames(fresh: Snapshot, inUse: Snapshot | undefined, day: string): Snapshot {
  if (fresh.feed.rotates === undefined) return fresh;
  const since = new Map<string, string>();
  for (const name of fresh.names) since.set(name, inUse?.since.get(name) ?? fresh.since.get(name) ?? day);
  const before = [...(inUse?.since ?? [])].filter(([name]) => !since.has(name));
  before.sort(([a, first], [b, second]) => (first === second ? order(a, b) : order(second, first)));
  for (const [name, first] of before.slice(0, Math.max(0, MOST_KEPT - since.size))) since.set(name, first);
  return allAtOnce(sealing(fresh.feed, { ...fresh, names: [...since.keys()], since }));
}

function order(a: string, b: string): number {
  return a < b ? -1 : 1;
}

/** Whether two versions say the same, in whatever order and under whatever version. */
export function isSame(a: Content, b: Content): boolean {
  const names = new Set(a.names);
  return (
    a.names.length === b.names.length &&
    b.names.every(name => names.has(name)) &&
    isSameMap(a.since, b.since) &&
    isSameMap(a.labels, b.labels)
  );
}

function isSameMap(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([name, value]) => b.get(name) === value);
}
