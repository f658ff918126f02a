/** A lease: one server of all does a work, another takes over where it dies, and all know when it is due again. */

export interface Lease {
  readonly name: string;
  /** Null where nobody is at it. */
  readonly holder: string | null;
  /** Who has not renewed it by then is gone. Milliseconds since the epoch, as are all. */
  readonly until: number;
  readonly dueAt: number;
}

/** The row that `doctor` writes to see whether a store takes writes: nothing hangs on it. */
export const DOCTOR = 'doctor';

/** Renewed several times within it: a holder that was stopped for a moment keeps it. */
export const LEASE_MS = 120_000;

/** However the clocks of those who share a store differ: one that is further ahead than this was wrong. */
const TOLERANCE_MS = LEASE_MS;

export function isHeld({ holder, until }: Lease, now: number): boolean {
  return holder !== null && until > now && until <= now + LEASE_MS + TOLERANCE_MS;
}

/**
 * Whether somebody should begin now. A moment that lies further ahead than any that is ever written comes from a clock
 * that was wrong, or from a longer period than is wanted now: it holds nobody up.
 */
export function isDue(lease: Lease | undefined, now: number, everyMs: number): boolean {
  if (!lease) return true;
  if (isHeld(lease, now)) return false;
  return lease.dueAt <= now || lease.dueAt > now + MOST_JITTER * everyMs + TOLERANCE_MS;
}

const LEAST_JITTER = 0.95;
const MOST_JITTER = 1.05;

/** About a period from now, so that many installations do not ask at the same moment. `chance` is from 0 to 1. */
export function nextDue(now: number, everyMs: number, chance: number): number {
  return Math.round(now + everyMs * (LEAST_JITTER + chance * (MOST_JITTER - LEAST_JITTER)));
}
