/** A feed: a list that we follow. A snapshot of it is one version, read, cleaned and counted. */

import { isSpecialUse, parseDomain } from './domain.ts';
import type { TableTexts } from './tables.ts';

/** `academic`: a register of universities, which broad feeds cannot flag. */
export const FEED_KINDS = ['disposable', 'free', 'relay', 'academic'] as const;
export type FeedKind = (typeof FEED_KINDS)[number];

export interface Feed {
  readonly id: string;
  readonly kind: FeedKind;
  /** Every name was looked at by people or reached by a crawler: such a feed alone is enough for 100 points. */
  readonly verified: boolean;
  readonly licence: string;
  /** Where it comes from, for people: the package, the address, the file. */
  readonly origin: string;
  /** Fewer names than this is a changed shape or a broken release, not a list. */
  readonly atLeast: number;
}

/** What an edge reads: names as they stand in the list, not yet checked. */
export interface RawFeed {
  readonly version: string;
  readonly names: readonly string[];
  /** Day (`YYYY-MM-DD`) since when the feed knows a name, where it tells. */
  readonly since?: ReadonlyMap<string, string>;
  /** Whose name it is, for relays. */
  readonly labels?: ReadonlyMap<string, string>;
}

/** A feed and the way to read it now. Throws FeedError when what is there is not the list any more. */
export interface FeedSource {
  readonly feed: Feed;
  read(): Promise<RawFeed>;
}

/** Where everything comes from that a catalog is made of. */
export interface Sources {
  readonly feeds: readonly FeedSource[];
  readonly tables: () => Promise<TableTexts>;
}

export class FeedError extends Error {
  override readonly name = 'FeedError';
}

/** Why names of a feed were left out. None of them could ever match a name that is asked for. */
export interface Dropped {
  /** No valid domain name. */
  malformed: number;
  /** A top-level domain, an ICANN public suffix or another single label: it would cover strangers. */
  suffix: number;
  specialUse: number;
  duplicate: number;
}

export interface Snapshot {
  readonly feed: Feed;
  readonly version: string;
  readonly names: readonly string[];
  readonly since: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
  readonly dropped: Readonly<Dropped>;
}

const NOTHING: ReadonlyMap<string, string> = new Map();

export function takeSnapshot(feed: Feed, raw: RawFeed): Snapshot {
  const dropped: Dropped = { malformed: 0, suffix: 0, specialUse: 0, duplicate: 0 };
  const names = new Set<string>();
  for (const text of raw.names) {
    const parsed = parseDomain(text);
    if (!parsed.ok) dropped[isSuffix(parsed.rule) ? 'suffix' : 'malformed']++;
    else if (isSpecialUse(parsed.domain)) dropped.specialUse++;
    else if (names.has(parsed.domain)) dropped.duplicate++;
    else names.add(parsed.domain);
  }
  if (names.size < feed.atLeast)
    throw new FeedError(
      `${feed.origin}: ${names.size} usable names, expected at least ${feed.atLeast}; its shape may have changed`,
    );
  return {
    feed,
    version: raw.version,
    names: [...names],
    since: raw.since ?? NOTHING,
    labels: raw.labels ?? NOTHING,
    dropped,
  };
}

function isSuffix(rule: string): boolean {
  return rule === 'public_suffix' || rule === 'single_label';
}
