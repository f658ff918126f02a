/** Calls that are counted together, and what is told to each of them. */

import type { Spend, Spent, Waiter } from '../core/ports.ts';
import { monthOfDay } from '../core/quota.ts';

/**
 * Calls of one key in one month that are counted together, all on the day of the first: at midnight a few
 * milliseconds of calls fall on the day before, and no month is ever touched twice by one statement.
 */
export interface SpendGroup extends Omit<Spend, 'names'> {
  readonly revision: number;
  /** Of one name each: as many of them are granted as the quota has left. */
  readonly calls: number;
  /** Names of calls that have several: before the others, and all of them or none. */
  readonly whole?: number;
}

/**
 * How many of the group's calls were granted, and the count after them; or that the revision has moved on; or that
 * somebody else holds the key's row, and none was counted.
 */
export type SpendResult = { readonly granted: number; readonly used: number } | 'changed' | 'held';

export type Counted = Exclude<SpendResult, 'held'>;

/** One call with several names. */
export interface Several {
  readonly spend: Spend;
  readonly revision: number;
  readonly names: number;
  readonly waiter: Waiter<Spent>;
}

export interface PendingGroup extends Omit<SpendGroup, 'calls' | 'whole'> {
  readonly waiters: Waiter<Spent>[];
  several: Several[];
}

export function nameOf(spend: Spend, revision: number): string {
  return `${spend.keyId} ${monthOfDay(spend.day)} ${revision}`;
}

export const sumOf = (several: readonly Several[]) => several.reduce((sum, { names }) => sum + names, 0);

export function askedOf({ keyId, day, quota, revision, waiters, several }: PendingGroup): SpendGroup {
  const group = { keyId, day, quota, revision, calls: waiters.length };
  return several.length === 0 ? group : { ...group, whole: sumOf(several) };
}

export const CHANGED: Spent = { outcome: 'changed' };

/** The first callers get what was granted, each with the count as it stood after its own call. */
export function spentOf(result: Counted, place: number): Spent {
  if (result === 'changed') return CHANGED;
  const { granted, used } = result;
  if (place >= granted) return { outcome: 'exhausted', used };
  return { outcome: 'granted', used: used - granted + place + 1 };
}
