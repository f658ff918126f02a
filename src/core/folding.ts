/** Makes a catalog: snapshots and tables, folded in steps, so that a server goes on answering meanwhile. */

import { isOnCampus } from './campus.ts';
import { Catalog, type FeedStatus, type Folded, type Naming } from './catalog.ts';
import { type Day, dayText } from './days.ts';
import { registrableDomain } from './domain.ts';
import type { Feed, Snapshot } from './feed.ts';
import { freeOf } from './free.ts';
import { STEP, type Steps } from './steps.ts';
import type { Tables } from './tables.ts';

/** Some times the longest list of top domains, since callers leave out what they have. */
const LONGEST_AGREED = 5_000;

/** The largest mailbox providers: a feed that names one is broken as a whole. */
export function canariesOf(tables: Tables): Set<string> {
  return new Set([...tables.mailboxes].filter(([, row]) => row.canary).map(([name]) => name));
}

/** A whole catalog, in steps: it takes a quarter of a second, in which a server goes on answering. */
export function* makingCatalog(
  snapshots: readonly Snapshot[],
  tables: Tables,
  generation: string,
): Steps<Catalog> {
  return new Catalog(yield* folding(snapshots, tables), tables, generation);
}

function* folding(snapshots: readonly Snapshot[], tables: Tables): Steps<Folded> {
  const relays = yield* relaysOf(snapshots, tables);
  const protectedNames = protectedOf(tables, relays);
  const lists = snapshots.filter(({ feed }) => feed.kind === 'disposable');
  const universities = yield* academicOf(snapshots, lists);
  const guarded = protectedNames.union(universities);
  yield;
  const { disposable, namings, vetoed } = yield* fold(lists, guarded, universities);
  const { free, surelyFree } = yield* freeOf(snapshots, tables, disposable, guarded);
  const agreed = yield* mostAgreed(disposable, namings, lists.length);
  const status = snapshots.map(snapshot => statusOf(snapshot, vetoed.get(snapshot) ?? 0));
  const panel = yield* panelOf(snapshots, lists, tables);
  return {
    snapshots,
    relays,
    protected: protectedNames,
    guarded,
    free,
    surelyFree,
    panel,
    canaries: canariesOf(tables),
    disposable,
    namings,
    agreed,
    status,
  };
}

function statusOf({ feed, version, names, dropped, acceptedAt }: Snapshot, vetoed: number): FeedStatus {
  return {
    feed,
    version,
    names: names.length - vetoed,
    dropped: { ...dropped, protected: vetoed },
    updatedAt: acceptedAt,
  };
}

/**
 * What people wrote by hand about a relay wins over what a feed calls it, and so does a verified disposable feed: one
 * update of the relays must not clear what people or crawlers have seen.
 */
function* relaysOf(snapshots: readonly Snapshot[], tables: Tables): Steps<Map<string, string>> {
  const relays = new Map<string, string>();
  for (const { feed, names, labels } of snapshots) {
    if (feed.kind !== 'relay') continue;
    for (const name of names) if (!tables.mailboxes.has(name)) relays.set(name, labels.get(name) ?? name);
  }
  yield* takeVerified(relays, snapshots);
  for (const [name, label] of tables.relays) relays.set(name, label);
  return relays;
}

function protectedOf(tables: Tables, relays: ReadonlyMap<string, string>): Set<string> {
  const names = new Set([...tables.protected, ...relays.keys()]);
  for (const [name, row] of tables.mailboxes) if (row.class !== 'disposable') names.add(name);
  return names;
}

/**
 * Universities that broad feeds named by mistake. A verified feed is believed: such a domain has been sold or is abused.
 * No veto in learning comes from it, since registers keep names that have lapsed.
 */
function* academicOf(snapshots: readonly Snapshot[], lists: readonly Snapshot[]): Steps<Set<string>> {
  const names = new Set(snapshots.flatMap(({ feed, names }) => (feed.kind === 'academic' ? names : [])));
  yield* takeVerified(names, lists);
  return names;
}

/** Names further down are used by few; the lists name more and more disposable ones there. */
export const PANEL_SIZE = 100_000;

/**
 * The most used registrable names, less those that a verified feed names or that the tables call disposable. Kept as
 * names: with the snapshot that holds them 100,000 take 7 MB. Hashes would take 1, but 0.1 s more of processor time, and
 * neither the next catalog nor a sweep could be made from them (2026-11-15).
 */
function* panelOf(
  snapshots: readonly Snapshot[],
  lists: readonly Snapshot[],
  tables: Tables,
): Steps<Set<string>> {
  const panel = new Set<string>();
  for (const { feed, names } of snapshots) {
    if (feed.kind !== 'popular') continue;
    for (const [at, name] of names.slice(0, PANEL_SIZE).entries()) {
      if ((at + 1) % STEP === 0) yield;
      if (registrableDomain(name) === name) panel.add(name);
    }
  }
  yield* takeVerified(panel, lists);
  for (const [name, row] of tables.mailboxes) if (row.class === 'disposable') panel.delete(name);
  for (const row of tables.providers)
    if (row.class === 'disposable') panel.delete(registrableDomain(row.suffix) ?? row.suffix);
  return panel;
}

/** Takes out what a verified disposable feed names. */
function* takeVerified(
  from: { delete(name: string): boolean },
  snapshots: readonly Snapshot[],
): Steps<undefined> {
  for (const { feed, names } of snapshots) {
    yield;
    if (feed.kind === 'disposable' && feed.family === 'verified') for (const name of names) from.delete(name);
  }
}

interface FoldedLists extends Pick<Folded, 'disposable' | 'namings'> {
  /** How many names of a list do not count because they are guarded. */
  readonly vetoed: ReadonlyMap<Snapshot, number>;
}

/** What several feeds say of a name is kept once for all names of which they say the same. */
function* fold(
  lists: readonly Snapshot[],
  guarded: ReadonlySet<string>,
  universities: ReadonlySet<string>,
): Steps<FoldedLists> {
  const disposable = new Map<string, number>();
  const namings: (readonly Naming[])[] = [[]];
  const vetoed = new Map<Snapshot, number>();
  for (const snapshot of lists) {
    const placeOf = addingTo(namings, snapshot);
    const isVerified = snapshot.feed.family === 'verified';
    let count = 0;
    let at = 0;
    for (const name of snapshot.names) {
      if (guarded.has(name) || (!isVerified && isOnCampus(name, universities))) count++;
      else disposable.set(name, placeOf(at, disposable.get(name) ?? 0));
      if (++at % STEP === 0) yield;
    }
    vetoed.set(snapshot, count);
  }
  return { disposable, namings, vetoed };
}

/** From a name's place among what the feeds before say of it to the place with this feed's word added. */
function addingTo(namings: (readonly Naming[])[], { feed, since, shown }: Snapshot) {
  const newest = shown?.last.reduce((most, day) => Math.max(most, day), 0);
  const places = new Map<number, Map<number, number>>();
  // Most neighbours were first named on the same day, and by the same feeds before.
  let lastWhen = -1;
  let lastBefore = -1;
  let lastPlace = -1;
  let after = new Map<number, number>();
  return (at: number, before: number): number => {
    const last = shown?.last[at];
    const until = last === newest ? undefined : last;
    const when = since[at]! * 2 ** 16 + (until ?? 0);
    if (when === lastWhen && before === lastBefore) return lastPlace;
    if (when !== lastWhen) {
      after = places.get(when) ?? new Map<number, number>();
      places.set(when, after);
    }
    const place =
      after.get(before) ?? namings.push([...namings[before]!, namingOf(feed, since[at]!, until)]) - 1;
    after.set(before, place);
    lastWhen = when;
    lastBefore = before;
    lastPlace = place;
    return place;
  };
}

function namingOf(feed: Feed, since: Day, until: Day | undefined): Naming {
  return { feed, since, sinceText: dayText(since), until };
}

/** Of names that as many feeds name, the first by name. */
function* mostAgreed(
  disposable: ReadonlyMap<string, number>,
  namings: Folded['namings'],
  feeds: number,
): Steps<string[]> {
  const byFeeds: string[][] = Array.from({ length: feeds }, () => []);
  let at = 0;
  for (const [name, place] of disposable) {
    if (++at % STEP === 0) yield;
    byFeeds[namings[place]!.length - 1]!.push(name);
  }
  const agreed: string[] = [];
  for (const names of byFeeds.reverse())
    agreed.push(...(yield* firstOf(names, LONGEST_AGREED - agreed.length)));
  return agreed;
}

/** In steps, since sorting all 90,000 names of one feed takes a tenth of a second. */
function* firstOf(names: readonly string[], most: number): Steps<string[]> {
  let first: string[] = [];
  for (let at = 0; at < names.length && most > 0; at += STEP) {
    const last = first.length < most ? undefined : first[most - 1]!;
    const next = names.slice(at, at + STEP).filter(name => last === undefined || name < last);
    if (next.length > 0) first = first.concat(next).sort().slice(0, most);
    yield;
  }
  return first;
}
