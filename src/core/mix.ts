/** Verdicts of each key, counted by day: what its callers were told. Figures for operators; no quota goes by them. */

import { REASONS, type Reason } from './signals.ts';

/** `degraded` are those of them that were judged without DNS. */
export const VERDICT_COUNTS = [...REASONS, 'degraded'] as const;
export type VerdictCounts = Readonly<Record<Reason | 'degraded', number>>;

export const NO_VERDICTS: VerdictCounts = {
  safe: 0,
  disposable: 0,
  undeliverable: 0,
  role_account: 0,
  degraded: 0,
};

export interface KeyVerdicts extends VerdictCounts {
  readonly keyId: string;
}

export interface DayVerdicts extends KeyVerdicts {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
}

/** In one transaction, so that counting never waits long for the lock. */
export const VERDICTS_AT_ONCE = 500;

export interface MixStore {
  /** At most `VERDICTS_AT_ONCE`, all of them or none, on top of what is there; forgets days before `sinceDay`. */
  addVerdicts(verdicts: readonly DayVerdicts[], sinceDay: string): Promise<void>;
  /** Of each of these keys since that day; one without a verdict is not there. */
  verdictsSince(day: string, keyIds: readonly string[]): Promise<KeyVerdicts[]>;
}
