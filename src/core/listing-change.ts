/** What an update changed for callers: a name that the lists flag now and did not before, or the other way round. */

export interface ListingChange {
  readonly domain: string;
  readonly change: 'flagged' | 'cleared';
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Those that name it, or did. */
  readonly feeds: readonly string[];
}

/** In their order: callers follow by the number of the last one that they have seen. */
export interface NumberedChange extends ListingChange {
  readonly id: number;
}

/**
 * Where whoever follows stands. Not by the number alone: a store that was set back to an older copy gives the numbers
 * again that were given since, to other changes.
 */
export interface ChangesCursor {
  readonly id: number;
  /** When the change of that number was told; 0 where none has it. */
  readonly at: number;
}

/** As callers send it: cursors of earlier versions are a number alone. */
export interface Since {
  readonly id: number;
  readonly at: number | undefined;
}

/** Up to where changes are known. */
export interface ChangesMark {
  /** Of the catalog that the last of them led to. */
  readonly generation: string;
  /** Those up to here are forgotten, or never were known; the one of this number is kept for who stands there. */
  readonly floor: number;
  readonly last: number;
}

/** In a millisecond hardly so many change: a store that is made anew gives no number that an earlier one has given. */
const IN_A_MILLISECOND = 100;

/** Where numbers begin whose changes before are not known: above all that were given, also by a store before this one. */
export const firstNumber = (now: number, was: ChangesMark | undefined): number =>
  Math.max(now * IN_A_MILLISECOND, (was?.last ?? 0) + 1);

export const NO_CHANGES: ChangesMark = { generation: '', floor: 0, last: 0 };

/** Without a cursor there is no more than a day, which does not mend a copy that missed others. */
export const MISSED =
  'changes were missed: discard your copy, then leave since out, which gives the last 24 hours';

/** Whose holder alone writes changes. */
export const CHANGES_LEASE = 'changes';
