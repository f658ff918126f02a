/** The last versions of a feed, and the way between them: back to the one before, down to what is installed, and forth. */

import type { SnapshotHead } from './feed.ts';

/** Of each feed, the one in use included. */
export const KEPT_VERSIONS = 3;

export interface History {
  /** Undefined where the installed version is in use, or none. */
  readonly inUse: SnapshotHead | undefined;
  /** Others of the same feed, in any order. */
  readonly past: readonly SnapshotHead[];
}

export function historyOf(
  feed: string,
  inUse: readonly SnapshotHead[],
  past: readonly SnapshotHead[],
): History {
  const isOf = (head: SnapshotHead) => head.feed === feed;
  return { inUse: inUse.find(isOf), past: past.filter(isOf) };
}

/** Which versions of other feeds are in use, as one text to compare. */
export const othersIn = (heads: readonly Pick<SnapshotHead, 'feed' | 'digest'>[], feed: string): string =>
  heads
    .filter(one => one.feed !== feed)
    .map(one => `${one.feed} ${one.digest}`)
    .sort()
    .join();

/** Null is what is installed; undefined where there is nothing before it. */
export function versionBefore({ inUse, past }: History): SnapshotHead | null | undefined {
  if (!inUse) return undefined;
  const older = past.filter(({ acceptedAt }) => acceptedAt < inUse.acceptedAt);
  return older.toSorted((a, b) => b.acceptedAt - a.acceptedAt)[0] ?? null;
}

export const versionAfter = (history: History): SnapshotHead | undefined => newerIn(history)[0];

/** What an operator went back from, the oldest first. */
export function newerIn({ inUse, past }: History): SnapshotHead[] {
  const newer = past.filter(({ acceptedAt }) => !inUse || acceptedAt > inUse.acceptedAt);
  return newer.toSorted((a, b) => a.acceptedAt - b.acceptedAt);
}

/**
 * Those before a version that is accepted now are older than it, also where a clock that was ahead has dated them: else
 * they would look newer for good. The oldest first, so that no two are ever of one moment.
 */
export function redated(past: readonly SnapshotHead[], acceptedAt: number): { from: number; to: number }[] {
  let before = acceptedAt;
  const moments = past.map(head => head.acceptedAt).toSorted((a, b) => b - a);
  const moved = moments.map(from => {
    before = Math.min(from, before - 1);
    return { from, to: before };
  });
  return moved.filter(({ from, to }) => from !== to).toReversed();
}

/** An operator went back: the next update would bring what was wrong again, so it waits for the operator's word. */
export const isHeld = (history: History) => versionAfter(history) !== undefined;

/** Which version of a feed is in use now. */
export interface InUse {
  readonly feed: string;
  /** Null where it is the installed one, or none. */
  readonly version: SnapshotHead | null;
  /** Updates leave it alone: there is a newer one that the operator went back from. */
  readonly isHeld: boolean;
}
