/**
 * Two catalogs → the names that the lists began or ceased to flag between them. What is told of a name is told of all
 * below it, and the last that was told of a name or of one above it counts: so a copy can be kept that is right.
 */

import { allSuffixes } from './all-suffixes.ts';
import type { Catalog } from './catalog.ts';
import { NEW_DAYS } from './corroboration.ts';
import { type Day, dayAt } from './days.ts';
import { type Domain, lineage } from './domain.ts';
import { ANY_BELOW, flaggedBy, flaggedWhole } from './flagged.ts';
import type { ListingChange, NumberedChange } from './listing-change.ts';
import { findOverride, type Override } from './override.ts';
import { DEEP_STEP, STEP, type Steps } from './steps.ts';

/** All that may make a difference to its verdict, or to that of names below it: most names of a list stay as they are. */
function saidOf(catalog: Catalog, name: string): string {
  const { namings } = catalog.listed([name]);
  const words = namings.map(({ feed, since, until }) => `${feed.id} ${feed.family} ${since} ${until}`);
  const innocent = [catalog.isPanel(name), catalog.isSurelyFree(name)];
  return `${words} ${innocent} ${catalog.isGuarded(name)} ${catalog.isProtected(name)}`;
}

/** What another list is: one of the same names that was added anew may be of another kind. */
const versionOf = ({ digest, feed: { kind, family } }: Catalog['snapshots'][number]) =>
  `${digest} ${kind} ${family}`;

/** Beside the catalogs. */
export interface Standing {
  /** Of each name that something was told of, the last. */
  readonly told: ReadonlyMap<string, Word>;
  /** What was told up to this number is soon forgotten. */
  readonly fading?: number;
  /** As they are now: what an operator allows is not flagged, whatever lists do. What is denied is not the lists' word. */
  readonly overrides: ReadonlyMap<string, Override>;
}

/** What is kept of a name and of those above it, the nearest first. */
function upwards<T>(of: ReadonlyMap<string, T>, name: string): T[] {
  const found: T[] = [];
  for (let at = 0; of.size > 0; ) {
    const one = of.get(at === 0 ? name : name.slice(at));
    if (one !== undefined) found.push(one);
    const dot = name.indexOf('.', at);
    if (dot === -1) break;
    at = dot + 1;
  }
  return found;
}

type Word = Pick<NumberedChange, 'id' | 'change' | 'at'>;

/** What whoever follows has of a name by what is kept; undefined where nothing is. */
function lastWord(told: Standing['told'], name: string): Word | undefined {
  let last: Word | undefined;
  for (const word of upwards(told, name)) if (!last || word.id > last.id) last = word;
  return last;
}

/** Changes are kept for 30 days: what is to be known for longer is told again before. */
const REMEMBERED_MS = 15 * 86_400_000;

class Comparison {
  readonly #before: Catalog;
  readonly #after: Catalog;
  readonly #at: number;
  readonly #standing: Standing;

  constructor(before: Catalog, after: Catalog, at: number, standing: Standing) {
    this.#before = before;
    this.#after = after;
    this.#at = at;
    this.#standing = standing;
  }

  get #today(): Day {
    return dayAt(this.#at);
  }

  /** It, or all below it: a name alone that is denied below an allowed one was told with all of these (2026-11-19). */
  isAllowed(name: string): boolean {
    const { overrides } = this.#standing;
    if (upwards(overrides, name).length === 0) return false;
    return [name, ANY_BELOW + name].some(one => {
      const action = findOverride(overrides, lineage(one as Domain), this.#at)?.action;
      return action === 'allow' || action === 'role';
    });
  }

  /** Who flags it now. */
  now(name: string): readonly string[] {
    return this.isAllowed(name) ? [] : flaggedWhole(this.#after, name, this.#today);
  }

  /**
   * As it was told. Where nothing is kept of what was: as the lists had it; and what the lists flag and an operator
   * allows is told as cleared for as long as that stands, so that it is known when that ends.
   */
  wasFlagged(name: string): boolean {
    const isFlagged = (catalog: Catalog) => flaggedWhole(catalog, name, this.#today).length > 0;
    const word = lastWord(this.#standing.told, name);
    if (word?.change === 'flagged') return true;
    if (word && word.id > (this.#standing.fading ?? 0) && this.#at - word.at <= REMEMBERED_MS) return false;
    // Below a suffix that gives names away one is told with that, a month before it is flagged.
    const isSoon = () => flaggedBy(this.#after, name, this.#today + NEW_DAYS).length > 0;
    if (this.isAllowed(name) && (isFlagged(this.#after) || isSoon())) return true;
    return !word && isFlagged(this.#before);
  }

  /** Without a look at lists that are the same: an override began or ended. */
  isOther(name: string): boolean {
    const isCleared = lastWord(this.#standing.told, name)?.change === 'cleared';
    if (!isCleared && !this.isAllowed(name)) return false;
    return this.wasFlagged(name) !== this.now(name).length > 0;
  }

  /** Of one that is cleared: who flagged it, or still does where an operator allows it. */
  feedsOf(name: string): readonly string[] {
    const feeds = flaggedBy(this.#before, name, this.#today);
    return feeds.length > 0 ? feeds : flaggedBy(this.#after, name, this.#today);
  }
}

const NOTHING: Standing = { told: new Map(), overrides: new Map() };

/** Only names that changed lists hold, names whose override changed, and what may differ below these are looked at. */
export function* comparing(
  before: Catalog,
  after: Catalog,
  at: number,
  standing = NOTHING,
): Steps<ListingChange[]> {
  const comparison = new Comparison(before, after, at, standing);
  const roots = yield* changedIn(before, after);
  yield* addOverruled(roots, after, standing, comparison);
  if (roots.size === 0) return [];
  const looked = new Set(roots);
  let count = 0;
  for (const name of borders(before, after, standing)) {
    if (++count % STEP === 0) yield;
    if (isBelow(name, roots)) looked.add(name);
  }
  return yield* telling(looked, comparison, at);
}

/** Names of which lists say something else now. */
function* changedIn(before: Catalog, after: Catalog): Steps<Set<string>> {
  const without = ({ snapshots }: Catalog, other: Catalog) => {
    const versions = new Map(other.snapshots.map(one => [one.feed.id, versionOf(one)]));
    return snapshots.filter(one => versions.get(one.feed.id) !== versionOf(one));
  };
  const changed = new Set<string>();
  let looked = 0;
  for (const { names } of [...without(before, after), ...without(after, before)])
    for (const name of names) {
      if (++looked % DEEP_STEP === 0) yield;
      if (!changed.has(name) && saidOf(before, name) !== saidOf(after, name)) changed.add(name);
    }
  // What is said of a name above it takes the guard off one that no changed list has: it was never told (2026-11-18).
  for (const { folded } of [before, after])
    for (const name of folded.guarded) {
      if (++looked % STEP === 0) yield;
      if (before.isGuarded(name) !== after.isGuarded(name)) changed.add(name);
    }
  return changed;
}

/** Names that an operator allows since what is kept was told, or no longer does. */
function* addOverruled(
  roots: Set<string>,
  after: Catalog,
  { told, overrides }: Standing,
  comparison: Comparison,
): Steps<undefined> {
  if (told.size === 0 && overrides.size === 0) return;
  let looked = 0;
  for (const names of [overrides.keys(), told.keys(), after.disposableNames()])
    for (const name of names) {
      if (++looked % DEEP_STEP === 0) yield;
      if (comparison.isOther(name)) roots.add(name);
    }
}

/** Where a name may be judged otherwise than the one above it, or was: who had been told apart was forgotten (2026-11-19). */
function* borders(before: Catalog, after: Catalog, { overrides, told }: Standing): Generator<string> {
  const { guarded, surelyFree } = after.folded;
  for (const catalog of [before, after]) yield* catalog.disposableNames();
  for (const names of [guarded, surelyFree, after.panelNames(), overrides.keys(), told.keys(), allSuffixes()])
    for (const name of names) yield name;
}

const depthOf = (name: string) => name.split('.').length;

/** Each after those above it. What was told of one is told of all below it: who differs is told after it. */
function* telling(looked: ReadonlySet<string>, comparison: Comparison, at: number): Steps<ListingChange[]> {
  const found = new Map<string, ListingChange>();
  const byDepth = new Map<number, string[]>();
  let count = 0;
  for (const name of looked) {
    if (++count % STEP === 0) yield;
    const depth = depthOf(name);
    byDepth
      .set(depth, byDepth.get(depth) ?? [])
      .get(depth)!
      .push(name);
  }
  for (const depth of [...byDepth.keys()].toSorted((a, b) => a - b))
    for (const domain of byDepth.get(depth)!) {
      if (++count % DEEP_STEP === 0) yield;
      const feeds = comparison.now(domain);
      const change = feeds.length > 0 ? 'flagged' : 'cleared';
      const [above] = upwards(found, domain);
      const isOther = comparison.wasFlagged(domain) !== (change === 'flagged');
      if (!isOther && (above === undefined || above.change === change)) continue;
      const some = feeds.length > 0 ? feeds : comparison.feedsOf(domain);
      found.set(domain, { domain, change, at, feeds: some.length > 0 ? some : (above?.feeds ?? []) });
    }
  return [...found.values()];
}

/** Not a name itself: those are looked at. */
function isBelow(domain: string, names: ReadonlySet<string>): boolean {
  for (let dot = domain.indexOf('.'); dot !== -1; dot = domain.indexOf('.', dot + 1))
    if (names.has(domain.slice(dot + 1))) return true;
  return false;
}
