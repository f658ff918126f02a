/** Making a snapshot: from a list as it was read, and from the text that one is kept as. */

import { createHash } from 'node:crypto';
import { type Day, dayFrom, runsOf } from './days.ts';
import { parseDomain } from './domain.ts';
import {
  type Content,
  type Dropped,
  type Feed,
  FeedError,
  type RawFeed,
  type Shown,
  type Snapshot,
} from './feed.ts';
import { type Kept, keepingOf } from './kept.ts';
import { parseLabel } from './label.ts';
import { daysOf, earlierDays, type Into, type Part } from './line.ts';
import { Packer } from './names.ts';
import { isRegistry } from './registry.ts';
import { isSpecialUse } from './special-use.ts';
import { allAtOnce, STEP, type Steps } from './steps.ts';

/** Versions and labels come from strangers and are shown to everybody. */
const MOST_SHOWN = 100;

/** Refused when too few names are left, as what is installed must be. */
export function takeSnapshot(feed: Feed, raw: RawFeed): Snapshot {
  return allAtOnce(takingSnapshot(feed, raw));
}

export function* takingSnapshot(feed: Feed, raw: RawFeed): Steps<Snapshot> {
  const snapshot = yield* cleaning(feed, raw);
  const { names } = snapshot;
  if (names.length < feed.atLeast)
    throw new FeedError(
      `${feed.origin}: ${names.length} usable names, expected at least ${feed.atLeast}; its shape may have changed`,
    );
  return snapshot;
}

/**
 * Whether a name is not among those that were kept so far. A list in order, as the longest is, needs no set for that:
 * it took a tenth of the time of a start (November 2026).
 */
function newTo(names: readonly string[]): (name: string) => boolean {
  let all: Set<string> | undefined;
  return name => {
    if (!all && name > (names.at(-1) ?? '')) return true;
    all ??= new Set(names);
    return all.size < all.add(name).size;
  };
}

/** Drops and counts what is no usable name; says nothing about whether what is left is a good list. */
export function* cleaning(feed: Feed, raw: RawFeed): Steps<Snapshot> {
  const dropped: Dropped = { malformed: 0, suffix: 0, specialUse: 0, duplicate: 0 };
  const names: string[] = [];
  const isNew = newTo(names);
  const since = new Uint16Array(raw.names.length).fill(dayFrom(raw.dated ?? ''));
  const labels = new Map<string, string>();
  let at = 0;
  let unusable: string | undefined;
  const drop = (why: keyof Dropped, text: string) => {
    dropped[why]++;
    unusable ??= text.slice(0, MOST_SHOWN);
  };
  for (const text of raw.names) {
    if (++at % STEP === 0) yield;
    const parsed = parseDomain(text);
    if (!parsed.ok) drop(isSuffix(parsed.rule) ? 'suffix' : 'malformed', text);
    else if (isRegistry(parsed.domain)) drop('suffix', text);
    else if (isSpecialUse(parsed.domain)) drop('specialUse', text);
    else if (!isNew(parsed.domain)) dropped.duplicate++;
    else {
      const day = raw.since?.get(text);
      if (day !== undefined) since[names.length] = dayFrom(day);
      names.push(parsed.domain);
      const label = raw.labels && parseLabel(raw.labels.get(text) ?? '', MOST_SHOWN);
      if (label?.ok) labels.set(parsed.domain, label.value);
    }
  }
  const version = parseLabel(raw.version, MOST_SHOWN);
  if (!version.ok) throw new FeedError(`${feed.origin}: its version ${version.problem}`);
  const content = { version: version.value, names, since: since.slice(0, names.length), labels, dropped };
  const nothing = { doubtful: new Map(), moved: new Map(), flagged: new Map() };
  return { ...(yield* sealing(feed, { ...content, ...nothing })), unusable };
}

function isSuffix(rule: string): boolean {
  return rule === 'public_suffix' || rule === 'single_label';
}

/** Gives content its digest. */
export function* sealing(feed: Feed, content: Content): Steps<Snapshot> {
  const sum = createHash('sha256');
  for (const line of linesOf(content)) {
    sum.update(line);
    yield;
  }
  return { ...content, feed, digest: sum.digest('hex'), acceptedAt: null };
}

export function textOf(content: Content): string {
  return [...linesOf(content)].join('');
}

/**
 * JSON lines of a bounded number of names each: parsing a whole list at once would hold the event loop for as long as
 * that takes, 20 ms for 160,000 names.
 */
function* linesOf({
  version,
  names,
  since,
  shown,
  doubtful,
  moved,
  flagged,
  labels,
  dropped,
}: Content): Generator<string> {
  yield `${JSON.stringify({ version, dropped })}\n`;
  for (let at = 0; at < names.length; at += STEP) {
    const line: Part = { names: names.slice(at, at + STEP), days: runsOf(since.subarray(at, at + STEP)) };
    yield `${JSON.stringify(shown ? { ...line, ...shownLine(shown, at) } : line)}\n`;
  }
  for (const part of inParts([...doubtful])) yield `${JSON.stringify({ doubtful: part })}\n`;
  for (const part of inParts([...moved])) yield `${JSON.stringify({ moved: part })}\n`;
  for (const part of inParts([...flagged])) yield `${JSON.stringify({ flagged: part })}\n`;
  for (const part of inParts([...labels])) yield `${JSON.stringify({ labels: part })}\n`;
}

function shownLine({ last, days }: Shown, at: number): Part {
  return { last: runsOf(last.subarray(at, at + STEP)), shown: runsOf(days.subarray(at, at + STEP)) };
}

function* inParts<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += STEP) yield items.slice(at, at + STEP);
}

/** Throws when the text is not the one that the digest was made of. */
export function* reading(
  feed: Feed,
  text: string,
  digest: string,
  acceptedAt: number | null,
): Steps<Snapshot> {
  const names: string[] = [];
  return { ...(yield* readingInto(names, feed, text, digest, acceptedAt)), names };
}

/** The same for a catalog: no name of it outlives its line as a string. */
export function* readingKept(
  feed: Feed,
  text: string,
  digest: string,
  acceptedAt: number | null,
): Steps<Kept> {
  const names = new Packer();
  const rest = yield* readingInto(names, feed, text, digest, acceptedAt);
  return yield* keepingOf(rest, yield* names.packing());
}

function* readingInto(
  names: Into,
  feed: Feed,
  text: string,
  digest: string,
  acceptedAt: number | null,
): Steps<Omit<Snapshot, 'names'>> {
  if ((yield* summing(text)) !== digest) throw new FeedError('its digest is another one');
  let head: Part | undefined;
  const days: Part[] = [];
  const told = new Map<string, string>();
  const doubtful = new Map<string, Day>();
  const moved = new Map<string, Day>();
  const flagged = new Map<string, Day>();
  const labels = new Map<string, string>();
  for (let from = 0, end = 0; from < text.length; from = end) {
    end = text.indexOf('\n', from) + 1;
    const { names: some = [], ...line } = JSON.parse(text.slice(from, end)) as Part;
    head ??= line;
    for (const name of some) names.push(name);
    if (some.length > 0) days.push(line);
    for (const [name, day] of line.since ?? []) told.set(name, day);
    for (const [name, day] of line.doubtful ?? []) doubtful.set(name, day);
    for (const [name, day] of line.moved ?? []) moved.set(name, day);
    for (const [name, day] of line.flagged ?? []) flagged.set(name, day);
    for (const [name, label] of line.labels ?? []) labels.set(name, label);
    yield;
  }
  if (head?.version === undefined || !head.dropped) throw new FeedError('it has no version');
  const { version, dropped } = head;
  const known = days.every(line => line.days)
    ? daysOf(feed, days, names.length)
    : yield* earlierDays(feed, names, told, acceptedAt);
  return { feed, version, ...known, doubtful, moved, flagged, labels, dropped, digest, acceptedAt };
}

/** Half a million characters take half a millisecond. */
const SUMMED = 2 ** 19;

/** Some lines at a time: a million names in one go take 20 ms. */
function* summing(text: string): Steps<string> {
  const sum = createHash('sha256');
  for (let from = 0, end = 0; from < text.length; from = end) {
    end = text.indexOf('\n', from + SUMMED) + 1 || text.length;
    sum.update(text.slice(from, end));
    yield;
  }
  return sum.digest('hex');
}
