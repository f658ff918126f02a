/** What a new version of a feed is held against, beside the version in use: the other lists, and our own tables. */

import type { Day } from './days.ts';
import { isGivenAway, lineage, ownDomain, registrableDomain } from './domain.ts';
import type { FeedKind, Snapshot } from './feed.ts';
import { canariesOf, PANEL_SIZE } from './folding.ts';
import { freeByTables } from './free.ts';
import { NamesInMaking } from './indexing.ts';
import { type Kept, keeping } from './kept.ts';
import { type Names, SEED_BYTES } from './names.ts';
import { isPublicBody, ownerOf } from './owned.ts';
import { allAtOnce, type Steps } from './steps.ts';
import type { Tables } from './tables.ts';

export interface Known {
  /** The largest mailbox providers. */
  readonly canaries: ReadonlySet<string>;
  /**
   * Whether a list of innocent names, of this kind, would clear it: some disposable feed names it, or one below it, and no
   * verified one it, save where the list is one of protected names: 1,000 names of verified feeds passed as none
   * (2026-11-17). What is below a listed name is listed with it, and is cleared where a list guards it.
   */
  readonly isClearable: (name: string, kind: FeedKind) => boolean;
  /**
   * What a name counts as that a list or table of ours, or its registry, knows as something else than disposable. Those
   * below a university, a widely used name, an internet provider or a public body count once, as that would if it were
   * named itself and covered them all: of a lapsed one, eleven names kept a list from ever being updated (2026-11-17).
   * What is below a protected name counts one by one, since no list can name that.
   */
  readonly innocentOf: (name: string) => string | undefined;
  /** Whether a name is known for something else than webmail: widely used, a university, or whoever runs mail for companies. */
  readonly isNoWebmail: (name: string) => boolean;
  /** One of these that is below a public suffix which no disposable feed has named yet; undefined for other names. */
  readonly innocentBelow: (name: string) => string | undefined;
}

/** And of the feed itself. */
export interface Held extends Known {
  /** What is installed with the service; many small steps must not lead far away from it. */
  readonly installed?: Snapshot | undefined;
  readonly today: Day;
  /** What goes by age goes by this, where that is another day: one look at the clock is not enough for it. */
  readonly agedBy?: Day;
}

/** Bits of what lists say of a name. */
const BROAD = 1;
const VERIFIED = 2;

/** What these lists name is theirs, whatever is said of the names above it. */
const GUARDING: ReadonlySet<FeedKind> = new Set<FeedKind>(['relay', 'academic', 'protected']);

/** From what the lists say, and not from what became of it: a name that was cleared yesterday is still one of theirs. */
export function knownFrom(
  snapshots: readonly (Snapshot | Kept)[],
  tables: Tables,
  seed: Uint8Array = new Uint8Array(SEED_BYTES),
): Known {
  const kept = snapshots.map(snapshot => allAtOnce(keeping(snapshot)));
  const disposable = allAtOnce(
    namedIn(
      kept.filter(({ feed }) => feed.kind === 'disposable'),
      seed,
    ),
  );
  const above = new Set<string>();
  const guarded = guardedIn(tables);
  const innocent = providersIn(tables);
  const owners = new Set(tables.free.add);
  const webmail = freeByTables(tables);
  for (const { feed, names } of kept) {
    if (feed.kind === 'disposable' && feed.family !== 'verified')
      for (const name of names) for (const one of parentsOf(name)) above.add(one);
    if (feed.kind === 'academic') for (const name of names) owners.add(name);
    if (feed.kind === 'protected') for (const name of names) guarded.add(name);
    if (feed.kind === 'popular') for (const name of Iterator.from(names).take(PANEL_SIZE)) owners.add(name);
  }
  const below = suffixesAbove([...guarded, ...innocent, ...owners]);
  const isListedAbove = (name: string, isTaken: (named: number) => boolean) =>
    unguarded(parentsOf(name), guarded).some(parent => isTaken(disposable.get(parent)));
  return {
    canaries: canariesOf(tables),
    isClearable(name, kind) {
      const isTaken = (named: number) => named === BROAD || (named !== 0 && kind === 'protected');
      const named = disposable.get(name);
      if (named !== 0) return isTaken(named);
      if (above.has(name)) return true;
      // Where many people use it, no list of the suffix above counts against it, a verified one neither.
      if (kind === 'popular') return ownDomain(name) === name && isListedAbove(name, listed => listed !== 0);
      return GUARDING.has(kind) && isListedAbove(name, isTaken);
    },
    innocentOf(name) {
      if (guarded.has(name) || innocent.has(name) || owners.has(name)) return name;
      if (ownerOf(name, guarded) !== undefined) return name;
      return ownerOf(name, owners) ?? (isPublicBody(name) ? registrableDomain(name) : undefined);
    },
    isNoWebmail: name => (owners.has(name) || innocent.has(name)) && !webmail.has(name),
    innocentBelow: name => (disposable.get(name) === 0 ? below.get(name) : undefined),
  };
}

function* namedIn(lists: readonly Kept[], seed: Uint8Array): Steps<Names> {
  const room = lists.reduce((sum, { names }) => sum + names.length, 0);
  const all = lists.map(({ names }) => names);
  const named = yield* NamesInMaking.joining(all, room, seed);
  for (const [at, { feed }] of lists.entries()) {
    const bit = feed.family === 'verified' ? VERIFIED : BROAD;
    yield* named.adding(named.lists[at]!, (_, before) => before | bit);
  }
  return named;
}

/** What clears a name clears what is below it too. Most have two labels, and nothing above them that a list can name. */
function parentsOf(name: string): readonly string[] {
  return name.indexOf('.') === name.lastIndexOf('.') ? [] : lineage(name).slice(1);
}

/** Up to the first that no list can name. */
function unguarded(parents: readonly string[], guarded: ReadonlySet<string>): readonly string[] {
  const end = parents.findIndex(name => guarded.has(name));
  return end === -1 ? parents : parents.slice(0, end);
}

/** Each private suffix above one of these names, save those that give names away, with the first of the names. */
function suffixesAbove(names: Iterable<string>): Map<string, string> {
  const above = new Map<string, string>();
  for (const name of names) {
    const registrable = registrableDomain(name) ?? '';
    for (const suffix of lineage(registrable.slice(registrable.indexOf('.') + 1)))
      if (!isGivenAway(suffix) && !above.has(suffix)) above.set(suffix, name);
  }
  return above;
}

/** What no feed can flag. */
function guardedIn({ mailboxes, protected: names, relays }: Tables): Set<string> {
  const guarded = new Set([...names, ...relays.keys()]);
  for (const [name, row] of mailboxes) if (row.class !== 'disposable') guarded.add(name);
  return guarded;
}

/** Companies that receive mail for others: anybody may have a name below that of a hosting company. */
function providersIn({ providers }: Tables): Set<string> {
  const names = new Set<string>();
  for (const { suffix, class: kind } of providers)
    if (kind !== 'disposable') names.add(registrableDomain(suffix) ?? suffix);
  return names;
}
