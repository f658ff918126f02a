/** What the lists and tables say, folded for lookup. Built whole, swapped whole, never edited in place. */

import type { Day } from './days.ts';
import type { Dropped, Family, Feed } from './feed.ts';
import type { Kept } from './kept.ts';
import type { Names } from './names.ts';
import { Providers } from './provider.ts';
import { DEEP_STEP, type Steps } from './steps.ts';
import type { Mailbox, Tables } from './tables.ts';
import { typable, typoOf } from './typo.ts';

/** One feed that names the domain or a parent of it. */
export interface ListHit {
  readonly feed: string;
  /** The name that stands in the feed. */
  readonly entry: string;
  /** Day since when the feed names it; null where nobody knows. */
  readonly since: string | null;
}

export interface Listing {
  /** Nearest entry first. */
  readonly hits: readonly ListHit[];
  /** Of the feeds that name it. */
  readonly families: ReadonlySet<Family>;
  /** Each feed's word, in the order of the hits. */
  readonly namings: readonly Naming[];
  /** Of the suffix above it beside these, or of itself: shown, and worth nothing. */
  readonly others?: readonly ListHit[];
}

/** That a feed names something, and for how long. Names that came and went together share one. */
export interface Naming {
  readonly feed: Feed;
  /** 0 where nobody knows. */
  readonly since: Day;
  /** The same for people. */
  readonly sinceText: string | null;
  /** The last day on which a rotating list showed it; undefined while it does, and for other lists. */
  readonly until: Day | undefined;
}

/** For how many days the feeds have named something; a day that nobody knows is long ago. */
export function daysNamed({ namings }: Listing, today: Day): number {
  const days = namings.map(({ since, until = today }) => (since === 0 ? Infinity : until - since));
  return Math.max(0, ...days);
}

/** Every list that names something is one that rotates, and no longer shows it. */
export function hasLeft({ namings }: Listing): boolean {
  return namings.length > 0 && namings.every(({ until }) => until !== undefined);
}

/** The day of the first list that names something; 0 where nobody knows. */
export function firstNamed({ namings }: Listing): Day {
  return namings.reduce((first, { since }) => Math.min(first, since), namings[0]?.since ?? 0);
}

/** A privacy relay; `exact` when the name is its own by our tables, and not one below it or a feed's word. */
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
  /** When an update was accepted; null as installed. */
  readonly updatedAt: number | null;
}

const UNLISTED: Listing = Object.freeze({ hits: [], families: new Set<Family>(), namings: [] });

/** What a catalog looks things up in. */
export interface Folded {
  readonly snapshots: readonly Kept[];
  readonly relays: ReadonlyMap<string, string>;
  readonly protected: ReadonlySet<string>;
  /** Protected by hand, which no feed can flag, or by a list of relays or universities, which two families can. */
  readonly guarded: ReadonlySet<string>;
  readonly free: ReadonlySet<string>;
  /** Of these, what a table or feeds of two families say. */
  readonly surelyFree: ReadonlySet<string>;
  readonly panel: Names;
  readonly canaries: ReadonlySet<string>;
  /** Name to its place in `namings`. Its buffer holds the names of all snapshots: 172,000 in 7 MB. */
  readonly disposable: Names;
  /** Who names it and since when. Most names share theirs with thousands. */
  readonly namings: readonly (readonly Naming[])[];
  readonly agreed: readonly string[];
  readonly status: readonly FeedStatus[];
}

export class Catalog {
  /** Changes whenever a feed or a table does; shown as `snapshot` in the evidence. */
  readonly generation: string;
  /** What it was made of. */
  readonly snapshots: readonly Kept[];
  readonly providers: Providers;
  readonly roles: ReadonlySet<string>;
  readonly status: readonly FeedStatus[];
  /** All that it looks things up in, for whoever keeps it. */
  readonly folded: Folded;
  readonly #mailboxes: ReadonlyMap<string, Mailbox>;
  readonly #relays: ReadonlyMap<string, string>;
  readonly #protected: ReadonlySet<string>;
  readonly #suffixes: ReadonlySet<string>;
  readonly #guarded: ReadonlySet<string>;
  readonly #free: ReadonlySet<string>;
  readonly #surelyFree: ReadonlySet<string>;
  readonly #panel: Names;
  /** Large mailbox providers that a typing error can be told from. */
  readonly meant: readonly string[];
  readonly #disposable: Names;
  readonly #namings: readonly (readonly Naming[])[];
  readonly #agreed: readonly string[];

  constructor(folded: Folded, tables: Tables, generation: string) {
    this.generation = generation;
    this.folded = folded;
    this.snapshots = folded.snapshots;
    this.providers = new Providers(tables.providers);
    this.roles = tables.roles;
    this.status = folded.status;
    this.#mailboxes = tables.mailboxes;
    this.#relays = folded.relays;
    this.#protected = folded.protected;
    this.#suffixes = tables.suffixes;
    this.#guarded = folded.guarded;
    this.#free = folded.free;
    this.#surelyFree = folded.surelyFree;
    this.#panel = folded.panel;
    this.meant = typable(folded.canaries);
    this.#disposable = folded.disposable;
    this.#namings = folded.namings;
    this.#agreed = folded.agreed;
  }

  /** How many names stand in at least one disposable feed. */
  get size(): number {
    return this.#disposable.size;
  }

  /** Every name that stands in a disposable feed and counts. */
  disposableNames(): Iterable<string> {
    return this.#disposable;
  }

  /** Of these, in steps, the ones of three labels or more: most have two, and none of those need become strings. */
  walkingDeep(visit: (name: string) => void): Steps<undefined> {
    const names = this.#disposable;
    return names.walking(DEEP_STEP, place => {
      if (names.hasThreeLabels(place)) visit(names.nameAt(place));
    });
  }

  /** Names whose mail hosts are no disposable ones: protected by hand, or consumer webmail. */
  innocentNames(): Set<string> {
    return this.#guarded.union(this.#free);
  }

  /** What the disposable feeds say about a lineage, up to the first protected name in it. */
  listed(names: readonly string[]): Listing {
    let found: { hits: ListHit[]; families: Set<Family>; namings: Naming[] } | undefined;
    for (const name of names) {
      const place = this.#disposable.get(name);
      if (place === 0) {
        if (this.#guarded.has(name)) break;
        continue;
      }
      found ??= { hits: [], families: new Set(), namings: [] };
      // A table that was kept in a file may hold any number.
      for (const naming of this.#namings[place] ?? []) {
        const { feed, sinceText } = naming;
        found.hits.push({ feed: feed.id, entry: name, since: sinceText });
        found.families.add(feed.family);
        found.namings.push(naming);
      }
    }
    return found ?? UNLISTED;
  }

  /** The row of a well-known mailbox domain: the exact name only. */
  mailbox(name: string): Mailbox | undefined {
    return this.#mailboxes.get(name);
  }

  /** The relay that a name belongs to: its own or the nearest parent's, since relays hand out subdomains. */
  relay(names: readonly string[]): Relay | undefined {
    for (let depth = 0; depth < names.length; depth++) {
      const label = this.#relays.get(names[depth]!);
      if (label !== undefined) return { label, exact: depth === 0 && this.#protected.has(names[0]!) };
    }
    return undefined;
  }

  /** Whether a registrable domain is a consumer webmail provider. */
  isFree(registrable: string | undefined): boolean {
    return registrable !== undefined && this.#free.has(registrable);
  }

  /** The same, and not by one family alone: one stranger can write that, and must not spare a disposable host by it. */
  isSurelyFree(registrable: string | undefined): boolean {
    return registrable !== undefined && this.#surelyFree.has(registrable);
  }

  /** By hand, or by a list of relays or universities: feeds of one family cannot flag it. */
  isGuarded(name: string): boolean {
    return this.#guarded.has(name);
  }

  /** Whether so many people use a registrable domain that it is innocent unless a verified feed says otherwise. */
  isPanel(registrable: string | undefined): boolean {
    return registrable !== undefined && this.#panel.get(registrable) !== 0;
  }

  panelNames(): Iterable<string> {
    return this.#panel;
  }

  /** How many names the panel has; none before the first update of a popularity list. */
  get panelSize(): number {
    return this.#panel.size;
  }

  /** The large mailbox provider that somebody may have meant by a registrable domain. */
  typoOf(registrable: string | undefined): string | undefined {
    return registrable === undefined ? undefined : typoOf(registrable, this.meant);
  }

  /** A protected registry: what is below it belongs to strangers. */
  isSuffix(name: string): boolean {
    return this.#suffixes.has(name);
  }

  /** By hand: neither feeds nor what was learned can flag it. */
  isProtected(name: string): boolean {
    return this.#protected.has(name);
  }

  /** Services that people know, where a list names them too, then the names that most feeds agree on. */
  mostAgreed(most: number): string[] {
    const known = [...this.#mailboxes].filter(([, { class: kind }]) => kind === 'disposable');
    const services = known.map(([name]) => name).filter(name => this.#disposable.get(name) !== 0);
    return [...new Set([...services, ...this.#agreed.slice(0, most)])].slice(0, most);
  }
}
