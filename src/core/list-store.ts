/** What of a store belongs to the lists: their versions, what became of updates, and who makes these. */

import type { AddedFeed } from './added-feed.ts';
import type { AskedNames } from './asked.ts';
import type { Act } from './audit.ts';
import type { AcceptedSnapshot, SnapshotHead } from './feed.ts';
import type { FeedCheck } from './freshness.ts';
import type { Lease } from './lease.ts';
import type { ChangesMark, NumberedChange } from './listing-change.ts';

/** What else must hold when a version is accepted. */
export interface Accepting {
  /** No operator went back from a newer one. */
  readonly unlessHeld?: boolean;
  /** Of an operator's own: it is still the one that was added then. */
  readonly addedAt?: number | undefined;
  /** By `othersIn`: the other lists are still those that it was tried with. */
  readonly others?: string;
  /** What is noted of it in the same step, in the place of `was`: whoever decides is before it, or finds it taken. */
  readonly check?: { readonly next: FeedCheck; readonly was: FeedCheck | null };
}

export interface ListStore {
  /** Which version of which feed was accepted last; feeds that were never updated are not there. */
  snapshots(): Promise<SnapshotHead[]>;
  /** The one in use, or one that is kept, by the moment at which that was accepted. */
  snapshot(feed: string, past?: number): Promise<AcceptedSnapshot | undefined>;
  /**
   * Takes the place of the snapshot with the digest `was` (null: of none); false when another came between, and where it
   * is wanted no longer.
   */
  acceptSnapshot(
    snapshot: AcceptedSnapshot,
    was: string | null,
    act: Act,
    where?: Accepting,
  ): Promise<boolean>;
  /** Versions of feeds that were in use, and are kept (core/history.ts). */
  pastSnapshots(): Promise<SnapshotHead[]>;
  /** Puts one of these in the place of the snapshot with the digest `was`; null what is installed. False as above. */
  swapSnapshot(feed: string, to: SnapshotHead | null, was: string | null, act: Act): Promise<boolean>;

  /** The operator's own, in the order of their names. */
  addedFeeds(): Promise<AddedFeed[]>;
  /** False where there is one of this name, or `most` of them already. */
  addFeed(feed: AddedFeed, most: number, act: Act): Promise<boolean>;
  /** With every version of it and what became of it; false when there is none. */
  removeFeed(name: string, act: Act): Promise<boolean>;

  /** What became of each feed when it was last looked at, in the order of their names. */
  feedChecks(): Promise<FeedCheck[]>;
  /**
   * Where `was` is given it takes the place of that (null: of none), and false when another came between: neither does an
   * update undo what an operator decided meanwhile, nor the other way round. `act`: where it is an operator's.
   */
  noteCheck(check: FeedCheck, was?: FeedCheck | null, act?: Act): Promise<boolean>;
  /** What a server was asked on a day, in place of what it said before; what is older than `sinceDay` is forgotten. */
  keepAsked(asked: AskedNames, sinceDay: string): Promise<void>;
  askedNames(): Promise<AskedNames[]>;
  /** Up to where changes for callers are known (core/listing-change.ts). */
  changesMark(): Promise<ChangesMark | undefined>;
  /**
   * Not seen before a mark reaches them; what has their number is replaced. Only while the mark is of this generation and
   * `holder` has the lease: of two who write, neither has rows of the other between its own. False where that is over.
   */
  writeChanges(changes: readonly NumberedChange[], generation: string, holder: string): Promise<boolean>;
  /** Compare and swap, while `holder` has the lease where one is named; what is below its floor is forgotten. */
  swapChangesMark(mark: ChangesMark, was: ChangesMark | undefined, holder?: string): Promise<boolean>;
  /** In their order. */
  changesAfter(id: number, most: number): Promise<NumberedChange[]>;
  /**
   * The number of the last one before all that are of a moment or later; 0 where there is none. One that a clock which
   * was behind has dated hides nothing before it: 40 of the last day were not told (2026-11-17).
   */
  changesBefore(at: number): Promise<number>;
  /** Now, by a clock that is one for all who share the store. */
  moment(): Promise<number>;
  /** Who does a work that only one server of all should do at a time; undefined before the first has. */
  lease(name: string): Promise<Lease | undefined>;
  /** Compare and swap: takes the place of `was`; false when another came between. */
  swapLease(lease: Lease, was: Lease | undefined): Promise<boolean>;
}
