/** Makes a catalog: snapshots and tables, folded in steps, so that a server goes on answering meanwhile. */

import { mostAgreed } from './agreed.ts';
import { Catalog, type FeedStatus, type Folded } from './catalog.ts';
import { lineage, ownDomain, registrableDomain } from './domain.ts';
import type { Family, Snapshot } from './feed.ts';
import { freeOf } from './free.ts';
import { NamesInMaking } from './indexing.ts';
import { type Kept, keeping } from './kept.ts';
import { listing } from './listing.ts';
import { type Names, SEED_BYTES } from './names.ts';
import { ownerOf } from './owned.ts';
import type { Restored } from './saved.ts';
import { putSiblings } from './siblings.ts';
import { STEP, type Steps } from './steps.ts';
import type { Tables } from './tables.ts';

/** The largest mailbox providers: a feed that names one is broken as a whole. */
export function canariesOf(tables: Tables): Set<string> {
  return new Set([...tables.mailboxes].filter(([, row]) => row.canary).map(([name]) => name));
}

/**
 * A whole catalog, in steps: it takes a quarter of a second, in which a server goes on answering. `seed` is chance, without
 * which whoever writes a list could make its names slow to find.
 */
export function* makingCatalog(
  snapshots: readonly (Snapshot | Kept)[],
  tables: Tables,
  generation: string,
  seed: Uint8Array = new Uint8Array(SEED_BYTES),
): Steps<Catalog> {
  const kept: Kept[] = [];
  for (const snapshot of snapshots) kept.push(yield* keeping(snapshot));
  return new Catalog(yield* folding(kept, tables, seed), tables, generation);
}

/** One that was kept: what the lists say and the same tables. */
export function* restoringCatalog(
  { siblings, ...restored }: Restored,
  tables: Tables,
  generation: string,
): Steps<Catalog> {
  const protectedNames = yield* protectedOf(tables, restored.snapshots);
  const folded = { ...restored, protected: protectedNames, canaries: canariesOf(tables) };
  yield;
  const catalog = new Catalog(folded, tables, generation);
  putSiblings(catalog, siblings);
  return catalog;
}

/** Whether disposable feeds say enough of a name. */
type IsSaid = (name: string) => boolean;

function* folding(kept: readonly Kept[], tables: Tables, seed: Uint8Array): Steps<Folded> {
  const listed = yield* listing(kept, seed);
  const { snapshots, disposable, namings } = listed;
  const families = namings.map(some => new Set(some.map(({ feed }) => feed.family)));
  const isVerified = (name: string) => families[disposable.get(name)]!.has('verified');
  const protectedNames = yield* protectedOf(tables, snapshots);
  // What is said of a name is said of all below it: a line with one of these cleared what a verified feed has (2026-11-17).
  const isCorroborated = (name: string) => {
    const said = new Set<Family>();
    for (const one of lineage(name)) {
      if (one !== name && protectedNames.has(one)) break;
      for (const family of families[disposable.get(one)]!) said.add(family);
    }
    return said.has('verified') || said.size > 1;
  };
  const universities = yield* academicOf(snapshots, isCorroborated);
  const panel = yield* panelOf(snapshots, tables, isVerified, seed);
  const isUsed = (name: string) => universities.has(name) || panel.get(name) !== 0;
  const isTheirs = (name: string) => protectedNames.has(name) || ownerOf(name, protectedNames) !== undefined;
  const isTaken = (name: string) => isCorroborated(name) || isTheirs(name);
  const relays = relaysOf(snapshots, tables, { isTaken, isUsed });
  const guarded = protectedNames.union(universities).union(relays);
  yield;
  const vetoed = yield* listed.vetoing(protectedNames, guarded);
  const { free, surelyFree } = yield* freeOf(snapshots, tables, disposable, guarded);
  const agreed = yield* mostAgreed(disposable, namings);
  const status = snapshots.map(snapshot => statusOf(snapshot, vetoed.get(snapshot.feed) ?? 0));
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

function statusOf({ feed, version, names, dropped, acceptedAt }: Kept, vetoed: number): FeedStatus {
  return {
    feed,
    version,
    names: names.length - vetoed,
    dropped: { ...dropped, protected: vetoed },
    updatedAt: acceptedAt,
  };
}

/**
 * What people wrote by hand about a relay wins over what a feed calls it, and so do a verified disposable feed and two
 * families of them: whoever writes himself into the one list of relays, before anybody lists him, must not be spared by
 * it. The gate cannot see that. Nor does it make a relay of a protected company, or of a name that many use: only an
 * operator's own list does the latter.
 */
function relaysOf(
  snapshots: readonly Kept[],
  tables: Tables,
  { isTaken, isUsed }: Readonly<Record<'isTaken' | 'isUsed', IsSaid>>,
): Map<string, string> {
  const relays = new Map<string, string>();
  for (const { feed, names, labels } of snapshots) {
    if (feed.kind !== 'relay') continue;
    for (const name of names)
      if (!tables.mailboxes.has(name) && !isTaken(name) && (feed.isOwn || !isUsed(name)))
        relays.set(name, labels.get(name) ?? name);
  }
  for (const [name, label] of tables.relays) relays.set(name, label);
  return relays;
}

/** Lists of protected names are the operator's own word: no feed, a verified one neither, stands above it. */
function* protectedOf(tables: Tables, snapshots: readonly Kept[]): Steps<Set<string>> {
  const protectedNames = new Set([...tables.protected, ...tables.relays.keys()]);
  for (const [name, row] of tables.mailboxes) if (row.class !== 'disposable') protectedNames.add(name);
  let at = 0;
  for (const { feed, names } of snapshots) {
    if (feed.kind !== 'protected') continue;
    for (const name of names) {
      protectedNames.add(name);
      if (++at % STEP === 0) yield;
    }
  }
  return protectedNames;
}

/**
 * Universities that feeds of one family named by mistake. A verified feed and two families are believed: such a domain
 * has been sold or is abused, or never was a university's. It is spared by no learned host, since registers keep names
 * that have lapsed.
 */
function* academicOf(snapshots: readonly Kept[], isCorroborated: IsSaid): Steps<Set<string>> {
  const universities = new Set<string>();
  let at = 0;
  for (const { feed, names } of snapshots) {
    if (feed.kind !== 'academic') continue;
    for (const name of names) {
      if (!isCorroborated(name)) universities.add(name);
      if (++at % STEP === 0) yield;
    }
  }
  return universities;
}

/** Names further down are used by few; the lists name more and more disposable ones there. */
export const PANEL_SIZE = 100_000;

/** The most used registrable names, less those that a verified feed names or that the tables call disposable. */
function* panelOf(
  snapshots: readonly Kept[],
  tables: Tables,
  isVerified: IsSaid,
  seed: Uint8Array,
): Steps<Names> {
  const disposable = disposableIn(tables);
  const isUsed = (name: string) => ownDomain(name) === name && !isVerified(name) && !disposable.has(name);
  const popular = snapshots.filter(({ feed }) => feed.kind === 'popular').map(({ names }) => names);
  const room = popular.reduce((sum, { length }) => sum + length, 0);
  const panel = yield* NamesInMaking.joining(popular, room, seed);
  for (const list of panel.lists) {
    const names = list[Symbol.iterator]();
    yield* panel.adding(list, at => Number(isUsed(names.next().value!) && at < PANEL_SIZE));
  }
  return panel;
}

function disposableIn({ mailboxes, providers }: Tables): Set<string> {
  const names = new Set<string>();
  for (const [name, row] of mailboxes) if (row.class === 'disposable') names.add(name);
  for (const row of providers)
    if (row.class === 'disposable') names.add(registrableDomain(row.suffix) ?? row.suffix);
  return names;
}
