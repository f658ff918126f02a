/** A feed: a list that we follow. A snapshot of it is one version, read, cleaned and counted. */

import type { Day } from './days.ts';
import type { TableTexts } from './tables.ts';
import type { Tag } from './tag.ts';

/**
 * `academic`: a register of universities, which broad feeds cannot flag. `popular`: names that many people use.
 * `protected`: names that no feed may flag.
 */
export type FeedKind = 'disposable' | 'free' | 'relay' | 'academic' | 'popular' | 'protected';

/**
 * Whose word a feed is. `verified`: every name was looked at by people or reached by a crawler, so that it alone is
 * enough for 100 points. `telemetry`: seen in abuse. `broad`: all others, which are one family because they copy each
 * other: 66,361 of the 74,116 names of one stand in another (November 2026). Lists of free providers have families for
 * the same reason.
 */
export const FAMILIES = ['verified', 'telemetry', 'broad'] as const;
export type Family = (typeof FAMILIES)[number];

export interface Feed {
  readonly id: string;
  readonly kind: FeedKind;
  readonly family: Family;
  readonly licence: string;
  /** Where it comes from, for people: the package, the address, the file. */
  readonly origin: string;
  /** Fewer names than this is a changed shape or a broken release, not a list. */
  readonly atLeast: number;
  /** The list always holds about so many names and forgets the others; what it named before is kept here. */
  readonly rotates?: number;
  /** An operator added it (core/added-feed.ts). */
  readonly isOwn?: true;
}

/** What an edge reads: names as they stand in the list, not yet checked. */
export interface RawFeed {
  readonly version: string;
  readonly names: readonly string[];
  /** Day (`YYYY-MM-DD`) since when the feed knows a name, where it tells. */
  readonly since?: ReadonlyMap<string, string>;
  /** Day of the whole list, for names of which it does not tell. */
  readonly dated?: string;
  /** Whose name it is, for relays. */
  readonly labels?: ReadonlyMap<string, string>;
  /** What its server says of it. */
  readonly tag?: Tag | undefined;
  /** When its makers published this version, in milliseconds since the epoch; null where nobody tells. */
  readonly releasedAt?: number | null;
  /** Where it came from in place of the feed's own address, and what was wrong with that. */
  readonly fallback?: string;
}

/** A feed and the way to read it now. Throws FeedError when what is there is not the list any more. */
export interface FeedSource {
  readonly feed: Feed;
  read(): Promise<RawFeed>;
}

/** A feed as it is today. `last` is what its server said of the version in use: null where that is still the newest. */
export interface FreshSource {
  readonly feed: Feed;
  read(last?: Tag): Promise<RawFeed | null>;
}

/** Where everything comes from that a catalog is made of. */
export interface Sources {
  /** What is installed with the service. */
  readonly feeds: readonly FeedSource[];
  readonly tables: () => Promise<TableTexts>;
  /** Every feed that updates may bring, as they bring it. One that is not installed is empty until then. */
  readonly updated?: readonly Feed[];
}

/** How a snapshot's text becomes a body for the store, and comes back from it. */
export interface Packing {
  pack(text: string): Promise<string>;
  /** Throws when it is no such body. */
  unpack(body: string): Promise<string>;
}

/** No list is larger, by whatever way it comes: ten times the longest of them. */
export const MOST_BYTES = 32 * 2 ** 20;

export class FeedError extends Error {
  override readonly name = 'FeedError';
}

/** Why names of a feed were left out. None of them could ever match a name that is asked for. */
export interface Dropped {
  /** No valid domain name. */
  malformed: number;
  /** A top-level domain, an ICANN public suffix, a registry like one or another single label: it would cover strangers. */
  suffix: number;
  specialUse: number;
  duplicate: number;
}

/** What one version of a feed says. */
export interface Content {
  readonly version: string;
  readonly names: readonly string[];
  /** Since when it names each of them, in their order; 0 where nobody knows. */
  readonly since: Uint16Array;
  /** Only of a rotating list, which keeps names that it no longer shows. */
  readonly shown?: Shown;
  /**
   * What updates brought within a month though ours know it as something else, with the day of the update: few, and
   * also what was withdrawn since.
   */
  readonly doubtful: ReadonlyMap<string, Day>;
  /** Only of a popularity list: what came to its panel or left it within a month, with the day of the update. */
  readonly moved: ReadonlyMap<string, Day>;
  /** Established names (core/asked.ts) that updates of it flagged within a month, with the day of the update. */
  readonly flagged: ReadonlyMap<string, Day>;
  readonly labels: ReadonlyMap<string, string>;
  readonly dropped: Readonly<Dropped>;
}

/** Of each name, in their order. */
export interface Shown {
  /** The last day on which the list showed it. */
  readonly last: Uint16Array;
  /** On how many days it did, as far as updates have seen. */
  readonly days: Uint8Array;
}

export interface Snapshot extends Content {
  readonly feed: Feed;
  /** SHA-256 of its text (core/snapshot.ts): the same everywhere for the same content. */
  readonly digest: string;
  /** When an update was accepted; null as installed. */
  readonly acceptedAt: number | null;
  /** One of the lines that are no usable names, as it was read; not kept. */
  readonly unusable?: string | undefined;
}

/** What the store knows of a snapshot that an update brought. */
export interface SnapshotHead {
  /** Id of the feed. */
  readonly feed: string;
  readonly version: string;
  /** SHA-256 of what `body` holds: two servers with the same digest have the same names. */
  readonly digest: string;
  readonly names: number;
  /** Milliseconds since the epoch. */
  readonly acceptedAt: number;
}

export interface AcceptedSnapshot extends SnapshotHead {
  /** The snapshot's text, packed: base64 of gzipped JSON lines. */
  readonly body: string;
}
