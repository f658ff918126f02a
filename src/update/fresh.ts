/** A feed as it is today: read, cleaned, and not sent again where its server says that nothing changed. */

import { FeedError, type FreshSource, type RawFeed, type Snapshot } from '../core/feed.ts';
import type { FeedCheck } from '../core/freshness.ts';
import { cleaning } from '../core/snapshot.ts';
import type { Steps } from '../core/steps.ts';
import { type KeptTag, type Tag, usableTag } from '../core/tag.ts';
import type { InUse } from './in-use.ts';

export interface Fresh {
  readonly snapshot: Snapshot;
  readonly tag: Tag | undefined;
  /** As a line for people. */
  readonly fallback: string | null;
  /** Why it should not take the place of the one in use, whatever it holds. */
  readonly problems: readonly string[];
}

/** What the server may be asked with. Of a stored version that cannot be read the digest is not the one in use. */
export function lastTag(
  { feed }: FreshSource,
  { snapshot }: InUse,
  check: FeedCheck | undefined,
  now: number,
): KeptTag | undefined {
  // On how many days a rotating list showed a name is counted, also where it shows the same ones again.
  if (feed.rotates !== undefined) return undefined;
  return usableTag(check?.tag, snapshot?.digest, now);
}

/** A million names take 2 s; three million in letters of the world took more than 150 (2026-11-17). */
const READING_MS = 60_000;

function inTime<T>(steps: Steps<T>): T {
  const until = performance.now() + READING_MS;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() > until)
      throw new FeedError(`its names are not read within ${READING_MS / 1000} s`);
  }
}

/** More than all its ways need one after the other: an address has a minute, each of two calls of npm has two. */
const COMING_MS = 420_000;

/** By whoever waits: what is waited for may have ended without a word, as a request did (2026-11-17). */
async function coming<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new FeedError(`it did not come within ${ms / 1000} s`)), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Null where the version in use is still the newest. */
export async function readFresh(
  source: FreshSource,
  inUse: Snapshot | undefined,
  last: Tag | undefined,
  comingMs = COMING_MS,
): Promise<Fresh | FeedError | null> {
  try {
    const raw = await coming(source.read(last), comingMs);
    if (!raw) return null;
    const fallback = raw.fallback === undefined ? null : oneLine(raw.fallback);
    if (fallback !== null && isOutdated(raw, inUse))
      return new FeedError(`${raw.fallback}; its version ${raw.version} is older than the one in use`);
    const problems = isBefore(raw.version, inUse?.version)
      ? [`its version ${oneLine(raw.version)} is older than ${inUse?.version}, which is in use`]
      : [];
    return { snapshot: inTime(cleaning(source.feed, raw)), tag: raw.tag, fallback, problems };
  } catch (error) {
    if (error instanceof FeedError) return error;
    throw error;
  }
}

/**
 * A package that nobody published for months would take away what its address brought until yesterday. Two releases are
 * told apart by their numbers: one that came late to a mirror was published before the one in use was fetched.
 */
function isOutdated({ version, releasedAt }: RawFeed, inUse: Snapshot | undefined): boolean {
  if (!inUse || inUse.version === version) return false;
  if (numbersOf(version) && numbersOf(inUse.version)) return isBefore(version, inUse.version);
  return inUse.acceptedAt !== null && (releasedAt ?? 0) <= inUse.acceptedAt;
}

/**
 * Of releases of one package, the bundled one included: a registry that was behind took 1,481 names of 8,883 away, and of
 * a list that comes by no other way 12,310 of 74,115 (2026-11-18). What are no numbers cannot be told.
 */
function isBefore(version: string, other = ''): boolean {
  const [some, others] = [numbersOf(version), numbersOf(other)];
  const at = some?.findIndex((number, place) => number !== others?.[place]) ?? -1;
  return some !== undefined && others !== undefined && some[at]! < others[at]!;
}

const numbersOf = (version: string) =>
  /^\d+(\.\d+)*$/.test(version) ? version.split('.').map(Number) : undefined;

export const keptTag = (tag: Tag | undefined, { digest }: Snapshot, now: number): KeptTag | null =>
  tag ? { ...tag, digest, wholeAt: now } : null;

/** A message may repeat what stands in a list, and must not drive a terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 500);
}
