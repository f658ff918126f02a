/** What the lists and tables say, folded for lookup. Built whole, swapped whole, never edited in place. */

import { registrableDomain } from './domain.ts';
import type { Dropped, Feed, Snapshot } from './feed.ts';
import { Providers } from './provider.ts';
import type { Mailbox, Tables } from './tables.ts';

/** One feed that names the domain or a parent of it. */
export interface ListHit {
  readonly feed: string;
  /** The name that stands in the feed. */
  readonly entry: string;
  /** Day since when the feed knows it, where it tells. */
  readonly since: string | null;
}

export interface Listing {
  /** Nearest entry first. */
  readonly hits: readonly ListHit[];
  /** True when a verified feed is among them. */
  readonly verified: boolean;
}

/** A privacy relay; `exact` when the name is the relay's own and not one below it. */
export interface Relay {
  readonly label: string;
  readonly exact: boolean;
}

export interface FeedStatus {
  readonly feed: Feed;
  readonly version: string;
  /** Names that count, after cleaning. */
  readonly names: number;
  readonly dropped: Readonly<Dropped & { protected: number }>;
}

/** Some times the longest list of top domains, since callers leave out what they have. */
const LONGEST_AGREED = 5_000;

const UNLISTED: Listing = Object.freeze({ hits: [], verified: false });

export class Catalog {
  /** Changes whenever a feed or a table does; shown as `snapshot` in the evidence. */
  readonly generation: string;
  readonly providers: Providers;
  readonly roles: ReadonlySet<string>;
  readonly status: readonly FeedStatus[];
  /** The largest mailbox providers: a feed that names one is broken as a whole. */
  readonly canaries: ReadonlySet<string>;
  readonly #mailboxes: ReadonlyMap<string, Mailbox>;
  readonly #relays: ReadonlyMap<string, string>;
  readonly #protected: ReadonlySet<string>;
  /** What no feed can flag: protected by hand, or in a register of universities and in no verified feed. */
  readonly #guarded: ReadonlySet<string>;
  readonly #free: ReadonlySet<string>;
  /** Name to a bit per disposable feed, in the order of #lists: 172,000 names in 20 MB. */
  readonly #disposable: ReadonlyMap<string, number>;
  readonly #lists: readonly Snapshot[];
  #agreed: readonly string[] | undefined;

  constructor(snapshots: readonly Snapshot[], tables: Tables, generation: string) {
    this.generation = generation;
    this.providers = new Providers(tables.providers);
    this.roles = tables.roles;
    this.#mailboxes = tables.mailboxes;
    this.canaries = new Set([...tables.mailboxes].filter(([, row]) => row.canary).map(([name]) => name));
    this.#relays = relaysOf(snapshots, tables);
    this.#protected = protectedOf(tables, this.#relays);
    this.#lists = snapshots.filter(({ feed }) => feed.kind === 'disposable');
    this.#guarded = this.#protected.union(academicOf(snapshots, this.#lists));
    this.#disposable = fold(this.#lists, this.#guarded);
    this.#free = freeOf(snapshots, tables, this.#disposable, this.#relays);
    this.status = snapshots.map(({ feed, version, names, dropped }) => {
      const guarded = feed.kind === 'disposable' ? count(names, name => this.#guarded.has(name)) : 0;
      return { feed, version, names: names.length - guarded, dropped: { ...dropped, protected: guarded } };
    });
  }

  /** How many names stand in at least one disposable feed. */
  get size(): number {
    return this.#disposable.size;
  }

  /** Every name that stands in a disposable feed and counts. */
  disposableNames(): Iterable<string> {
    return this.#disposable.keys();
  }

  /** Names whose mail hosts are no disposable ones: protected by hand, or consumer webmail. */
  innocentNames(): Set<string> {
    return this.#guarded.union(this.#free);
  }

  /** What the disposable feeds say about a lineage, up to the first protected name in it. */
  listed(names: readonly string[]): Listing {
    let hits: ListHit[] | undefined;
    let verified = false;
    for (const name of names) {
      const bits = this.#disposable.get(name);
      if (bits === undefined) {
        if (this.#guarded.has(name)) break;
        continue;
      }
      hits ??= [];
      for (let at = 0; at < this.#lists.length; at++) {
        if ((bits & (1 << at)) === 0) continue;
        const { feed, since } = this.#lists[at]!;
        hits.push({ feed: feed.id, entry: name, since: since.get(name) ?? null });
        verified ||= feed.verified;
      }
    }
    return hits ? { hits, verified } : UNLISTED;
  }

  /** The row of a well-known mailbox domain: the exact name only. */
  mailbox(name: string): Mailbox | undefined {
    return this.#mailboxes.get(name);
  }

  /** The relay that a name belongs to: its own or the nearest parent's, since relays hand out subdomains. */
  relay(names: readonly string[]): Relay | undefined {
    for (let depth = 0; depth < names.length; depth++) {
      const label = this.#relays.get(names[depth]!);
      if (label !== undefined) return { label, exact: depth === 0 };
    }
    return undefined;
  }

  /** Whether a registrable domain is a consumer webmail provider. */
  isFree(registrable: string | undefined): boolean {
    return registrable !== undefined && this.#free.has(registrable);
  }

  /** By hand or by a register: neither feeds nor what was learned can flag it. */
  isGuarded(name: string): boolean {
    return this.#guarded.has(name);
  }

  isProtected(name: string): boolean {
    return this.#protected.has(name);
  }

  /** The names that most feeds agree on, ties by name. Sorted once: doing so reads all names. */
  mostAgreed(most: number): string[] {
    this.#agreed ??= this.#sortByFeeds(LONGEST_AGREED);
    return this.#agreed.slice(0, most);
  }

  #sortByFeeds(most: number): string[] {
    const byFeeds: string[][] = this.#lists.map(() => []);
    for (const [name, bits] of this.#disposable) byFeeds[feedsIn(bits) - 1]!.push(name);
    const agreed: string[] = [];
    for (const names of byFeeds.reverse()) {
      if (agreed.length >= most) break;
      agreed.push(...names.sort().slice(0, most - agreed.length));
    }
    return agreed;
  }
}

/** What people wrote by hand about a relay wins over what a feed calls it. */
function relaysOf(snapshots: readonly Snapshot[], tables: Tables): Map<string, string> {
  const relays = new Map<string, string>();
  for (const { feed, names, labels } of snapshots) {
    if (feed.kind !== 'relay') continue;
    for (const name of names) if (!tables.mailboxes.has(name)) relays.set(name, labels.get(name) ?? name);
  }
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
function academicOf(snapshots: readonly Snapshot[], lists: readonly Snapshot[]): Set<string> {
  const names = new Set(snapshots.flatMap(({ feed, names }) => (feed.kind === 'academic' ? names : [])));
  for (const { feed, names: listed } of lists)
    if (feed.verified) for (const name of listed) names.delete(name);
  return names;
}

function fold(lists: readonly Snapshot[], guarded: ReadonlySet<string>): Map<string, number> {
  const folded = new Map<string, number>();
  for (const [at, { names }] of lists.entries()) {
    const bit = 1 << at;
    for (const name of names) if (!guarded.has(name)) folded.set(name, (folded.get(name) ?? 0) | bit);
  }
  return folded;
}

/** Consumer webmail by feed and table, without what is disposable, a relay or taken out by hand. */
function freeOf(
  snapshots: readonly Snapshot[],
  tables: Tables,
  disposable: ReadonlyMap<string, number>,
  relays: ReadonlyMap<string, string>,
): Set<string> {
  const free = new Set<string>();
  for (const { feed, names } of snapshots) {
    if (feed.kind !== 'free') continue;
    for (const name of names)
      if (!disposable.has(name) && !relays.has(name) && registrableDomain(name) === name) free.add(name);
  }
  for (const [name, row] of tables.mailboxes) if (row.class === 'consumer_webmail') free.add(name);
  for (const name of tables.free.add) free.add(name);
  for (const name of tables.free.remove) free.delete(name);
  return free;
}

function feedsIn(bits: number): number {
  let feeds = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) feeds++;
  return feeds;
}

function count<T>(items: readonly T[], is: (item: T) => boolean): number {
  return items.reduce((total, item) => (is(item) ? total + 1 : total), 0);
}
