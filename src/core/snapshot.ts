/** Making a snapshot: from a list as it was read, and from the text that one is kept as. */

import { createHash, hash } from 'node:crypto';
import { isSpecialUse, parseDomain } from './domain.ts';
import { type Content, type Dropped, type Feed, FeedError, type RawFeed, type Snapshot } from './feed.ts';
import { allAtOnce, STEP, type Steps } from './steps.ts';
import { parseLabel } from './typed.ts';

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
  const since = new Map<string, string>();
  const labels = new Map<string, string>();
  let at = 0;
  for (const text of raw.names) {
    if (++at % STEP === 0) yield;
    const parsed = parseDomain(text);
    if (!parsed.ok) dropped[isSuffix(parsed.rule) ? 'suffix' : 'malformed']++;
    else if (isSpecialUse(parsed.domain)) dropped.specialUse++;
    else if (!isNew(parsed.domain)) dropped.duplicate++;
    else {
      names.push(parsed.domain);
      const day = raw.since?.get(text);
      if (day !== undefined) since.set(parsed.domain, day);
      const label = raw.labels && parseLabel(raw.labels.get(text) ?? '', MOST_SHOWN);
      if (label?.ok) labels.set(parsed.domain, label.value);
    }
  }
  const version = parseLabel(raw.version, MOST_SHOWN);
  if (!version.ok) throw new FeedError(`${feed.origin}: its version ${version.problem}`);
  return yield* sealing(feed, { version: version.value, names, since, labels, dropped });
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
function* linesOf({ version, names, since, labels, dropped }: Content): Generator<string> {
  yield `${JSON.stringify({ version, dropped })}\n`;
  for (const part of inParts(names)) yield `${JSON.stringify({ names: part })}\n`;
  for (const part of inParts([...since])) yield `${JSON.stringify({ since: part })}\n`;
  for (const part of inParts([...labels])) yield `${JSON.stringify({ labels: part })}\n`;
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
  if (hash('sha256', text) !== digest) throw new FeedError('its digest is another one');
  yield;
  let head: Part | undefined;
  const names: string[] = [];
  const since = new Map<string, string>();
  const labels = new Map<string, string>();
  for (let from = 0, end = 0; from < text.length; from = end) {
    end = text.indexOf('\n', from) + 1;
    const line = JSON.parse(text.slice(from, end)) as Part;
    head ??= line;
    for (const name of line.names ?? []) names.push(name);
    for (const [name, day] of line.since ?? []) since.set(name, day);
    for (const [name, label] of line.labels ?? []) labels.set(name, label);
    yield;
  }
  if (head?.version === undefined || !head.dropped) throw new FeedError('it has no version');
  const { version, dropped } = head;
  return { feed, version, names, since, labels, dropped, digest, acceptedAt };
}

/** The first line tells version and dropped, each other line one of the rest. */
interface Part {
  readonly version?: string;
  readonly dropped?: Dropped;
  readonly names?: readonly string[];
  readonly since?: readonly (readonly [string, string])[];
  readonly labels?: readonly (readonly [string, string])[];
}
