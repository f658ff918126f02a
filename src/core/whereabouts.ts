/** Where mail hosts are: as a server knows it, and as all servers on a store keep it of those that verdicts hang on. */

import type { Steps } from './steps.ts';

/** Why it says nothing of a host that there is no answer: nobody is believed, or it was not waited for. */
export type Unheard = 'distrusted' | 'given_up';

export interface HostAddresses {
  readonly addresses: readonly string[];
  /** False where those of IPv4 could not be had: there may be more. */
  readonly isWhole: boolean;
  /** For how many seconds they may be kept, by their owner's word. */
  readonly ttl: number;
}

/** The addresses of mail hosts as far as they are known. No caller ever waits for one. */
export interface AddressBook {
  /** IPv4 first. Empty where there are none, one more than are looked at where there are many; undefined if unknown. */
  known(host: string): readonly string[] | undefined;
  /** The same, and undefined too where there were none and that is to be asked again. */
  fresh(host: string): readonly string[] | undefined;
  /** How many milliseconds ago somebody said so; undefined if unknown. */
  age(host: string): number | undefined;
  /** The hosts below the same registrable domain that had addresses when they were asked last, a few of them. */
  beside(host: string): readonly string[];
  /** Asked for, and nobody has answered so far. One that was not waited for is not known to be silent. */
  isSilent(host: string): boolean;
  /** Not known yet, or so old that it is to be asked again. */
  isDue(host: string): boolean;
  /** These are always to be known, in place of those before: asked now and in time, and pushed out by nobody. */
  holding(hosts: readonly string[]): Steps<undefined>;
  /**
   * What somebody has found out so long ago: counts only where this server never knew anything, and until it is asked,
   * which is at once.
   */
  recall(host: string, addresses: readonly string[], agoMs: number): void;
  /**
   * Hands the addresses over, at once or when they are known; none where nobody answers, and nothing where nobody was
   * heard. Who waits for whom goes round robin over `by`, and when too many wait the one with the longest row loses its
   * last question. `anew`: what is to be asked again is not handed
   * over before it was.
   */
  want(host: string, by: string, take: (addresses: readonly string[]) => void, anew?: 'anew'): void;
  /** Waits until nothing is asked any more. */
  settle(): Promise<void>;
}

/** What one server has found out, for all others and for itself after a restart. Whose mail it receives is not told. */
export interface Whereabouts {
  readonly host: string;
  /**
   * The domain that somebody paid for, which it is below. A host without an address may be below one that nobody paid for:
   * then a hash of the guest's own.
   */
  readonly below: string;
  /** Parted by spaces; empty where it has none. */
  readonly addresses: string;
  /** When a lookup met it last (UTC, `YYYY-MM-DD`). */
  readonly day: string;
}

export const WHEREABOUTS = Object.freeze({
  /** Each server asks for all of them again and again. Which stay: store/whereabouts.ts. */
  most: 5_000,
  /**
   * Host names below a domain cost nothing: a hundred domains would have to be paid for to fill it, and 5,000 to push out
   * the only host of another.
   */
  mostBelowOne: 50,
  /** A key's lookups of one day on one server bring a quarter of it at most. */
  mostOfAKey: 1_250,
  keptDays: 30,
});

export interface WhereaboutsStore {
  /** In place of what is known of the same hosts, within bounds; forgets what was last met before `sinceDay`. */
  keepWhereabouts(kept: readonly Whereabouts[], sinceDay: string): Promise<void>;
  /** Those that were met since, each made when it is asked for. */
  whereabouts(sinceDay: string): Promise<Iterable<Whereabouts>>;
}
