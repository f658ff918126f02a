/** Which verdicts other than safe were given, and how often: the list of top domains. */

import type { Reason } from './verdict.ts';

export type FlagReason = Exclude<Reason, 'safe'>;

/** A verdict other than safe that was given to a key on a day (UTC, `YYYY-MM-DD`). */
export interface Flag {
  readonly day: string;
  /** The listed name where a list decided, else the name asked for. */
  readonly domain: string;
  readonly keyId: string;
  readonly listed: boolean;
  readonly reason: FlagReason;
  readonly score: number;
}

/** One domain's place: how often it was flagged, and the last verdict that was given. */
export interface Ranked {
  readonly domain: string;
  readonly times: number;
  /** Whether a list decided it, for one key at least. */
  readonly listed: boolean;
  readonly reason: FlagReason;
  readonly score: number;
}
