/** Decisions: what callers were told of which domain, kept where `DECISION_LOG` says so. Never an address. */

import type { Reason } from './signals.ts';

export interface Decision {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly keyId: string;
  /** The name that was asked for, and of an address its domain only. */
  readonly domain: string;
  /** Of the domain itself: a role word is the local part's. */
  readonly score: number;
  readonly reason: Reason;
  /** The generation of the catalog that it was judged by. */
  readonly snapshot: string;
  readonly degraded: boolean;
}

export interface NumberedDecision extends Decision {
  /** Grows with the time at which it was written. */
  readonly id: number;
}

export const DECISION_LOGS = ['off', 'flagged', 'all'] as const;
export type DecisionLog = (typeof DECISION_LOGS)[number];

/** A store keeps so many, the newest: 160 MB in the embedded one (2026-11-17). */
export const MOST_DECISIONS = 1_000_000;

/** In one transaction, so that counting never waits long for the lock. */
export const DECISIONS_AT_ONCE = 500;
/** More than come: what is full or old gets shorter while it is written. */
export const FORGOTTEN_AT_ONCE = 2 * DECISIONS_AT_ONCE;

export interface DecisionQuery {
  /** This very name. */
  readonly domain?: string | undefined;
  readonly keyIds?: readonly string[] | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Only those with a smaller number: the next page. */
  readonly before?: number | undefined;
  readonly most: number;
}

export interface DecisionStore {
  /**
   * At most `DECISIONS_AT_ONCE`, all of them or none, behind those that are there; forgets some of those that are older
   * than `keptMs` and of the oldest beyond `MOST_DECISIONS`: true where more have to go.
   */
  writeDecisions(decisions: readonly Decision[], now: number, keptMs: number): Promise<boolean>;
  /** The newest first. */
  decisions(query: DecisionQuery): Promise<NumberedDecision[]>;
}
