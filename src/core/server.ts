/** A server's sign of life in the store: who else runs there, and which version. */

export interface ServerSign {
  /** Of one process, made at its start. */
  readonly id: string;
  readonly version: string;
  readonly host: string;
  readonly startedAt: number;
  /** By the clock of the store. */
  readonly seenAt: number;
}

export const SIGN_EVERY_MS = 5_000;
/** One that was killed counts as alive for so long: three signs may be late. */
export const ALIVE_MS = 20_000;
/** Nobody asks for them any more. */
export const SIGNS_KEPT_MS = 86_400_000;
