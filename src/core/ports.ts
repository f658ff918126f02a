/** What the core asks of the world. Each edge implements one of these; tests may swap any of them. */

import type { Act } from './audit.ts';
import type { DecisionStore } from './decision.ts';
import type { Domain } from './domain.ts';
import type { EventStore } from './event.ts';
import type { Guest, HostRecord, SeenListed } from './guest.ts';
import type { KeyRecord } from './key.ts';
import type { KeyStore } from './key-store.ts';
import type { ListStore } from './list-store.ts';
import type { Mail } from './mail.ts';
import type { MixStore } from './mix.ts';
import type { OperatorRecord } from './operator.ts';
import type { ChangedOverrides, MarkedOverrides, Override } from './override.ts';
import type { Flag, Ranked } from './ranking.ts';
import type { Restored } from './restored.ts';
import type { ServerSign } from './server.ts';
import type { TrafficSlot } from './traffic.ts';
import type { HostAddresses, Unheard, WhereaboutsStore } from './whereabouts.ts';

/** Milliseconds since the epoch. Time is a parameter everywhere below the composition root. */
export type Clock = () => number;

/** Milliseconds by a monotonic clock, which nobody sets: for durations. Where it begins means nothing. */
export type Ticks = () => number;

export interface ResolverHealth {
  readonly servers: readonly {
    readonly address: string;
    /** The last questions to it did not all fail. */
    readonly healthy: boolean;
    /** Why it is not believed and what to do, for operators; null when it is. */
    readonly problem: string | null;
  }[];
  /** True when no server both answers and is believed. Shown by /readyz, which does not fail for it. */
  readonly degraded: boolean;
  /** Names being asked, of these the slow ones, and lookups that wait for a place to ask from. */
  readonly inFlight: number;
  readonly slow: number;
  readonly waiting: number;
  readonly cached: number;
}

export interface Resolver {
  /** What is cached and fresh, at once and without a question; undefined when a question is needed. */
  peek(domain: Domain): Mail | undefined;
  /** The last outcome kept, however old (up to the stale limit), without a question. */
  last(domain: Domain): Mail | undefined;
  /** The answer within the budget. Never rejects: trouble of any kind is the state `unknown`. */
  resolve(domain: Domain, keyId: string): Promise<Mail>;
  /** The name was asked at least twice in vain, while others were answered all the time: the fault is its own. */
  isSilent(domain: Domain): boolean;
  /** Asks in the background, so that a later lookup finds it; drops the question when a cap of the key or of all is reached. */
  prefetch(domain: Domain, keyId: string): void;
  /** The public addresses of a mail host, asked in the background; undefined when nobody answers. */
  addressesOf(host: string, giveUp?: AbortSignal): Promise<HostAddresses | Unheard | undefined>;
  /** Whether addresses that came at a moment, by the process's own time, may be lies of a server. */
  isDoubted(at: number): boolean;
  /** How much of what is asked at a time it has sockets for; all where left out. */
  readonly share?: number;
  health(): ResolverHealth;
  close(): Promise<void>;
}

/** One call that wants to be counted: which key, on which day, within which monthly quota (null: unlimited). */
export interface Spend {
  readonly keyId: string;
  /** `YYYY-MM-DD`; its month is the row that the quota is held against. */
  readonly day: string;
  readonly quota: number | null;
  /** A call that asks for so many names at once: all of them are counted or none. One where left out. */
  readonly names?: number;
}

/** How many calls of a key were counted on a day. */
export interface DayUsage {
  readonly keyId: string;
  readonly day: string;
  readonly used: number;
}

/**
 * - `granted`: counted durably; `used` is the count after this very call.
 * - `exhausted`: nothing was counted; the quota is used up, or less is left than the call has names.
 * - `changed`: nothing was counted; keys or overrides changed since `revision`, so the caller must judge anew.
 */
export type Spent =
  | { readonly outcome: 'granted'; readonly used: number }
  | { readonly outcome: 'exhausted'; readonly used: number }
  | { readonly outcome: 'changed' };

/** Who waits for a count: told once, in the turn in which it is known (a promise would take its share). Neither throws. */
export interface Waiter<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** The store cannot confirm: the answer is a 500, never an uncounted 200. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** How far a sweep over the listed names came: up to `last`, in their sorted order. */
export interface SweepMark {
  /** Of the catalog whose names were swept. */
  readonly generation: string;
  readonly last: string;
  /** Null while names are left. */
  readonly endedAt: number | null;
  /** When a sweep came to the end for the first time. */
  readonly firstEndedAt: number | null;
  /** Listed names that received no mail when they were swept (core/hashed.ts): whoever takes one over has it listed. */
  readonly dead: string | null;
}

export interface Store extends KeyStore, ListStore, DecisionStore, EventStore, MixStore, WhereaboutsStore {
  /**
   * Counts one call, with all its names, durably, in one statement that checks and increments. `revision` is the one under which
   * the key was judged; a grant proves that it is still the current one (optimistic concurrency). Rejects with
   * StoreUnavailable; throws never.
   */
  spend(spend: Spend, revision: number, waiter: Waiter<Spent>): void;
  /**
   * So many calls of this key, or of any, were counted and have yet to be told so that no more should be let in: each makes its
   * answer then.
   */
  isBehind(keyId?: string): boolean;
  /** Resolves when a call could be counted durably right now; rejects with StoreUnavailable. */
  ready(): Promise<void>;
  /** Grows with every change of a key or an override. */
  revision(): Promise<number>;
  keyByDigest(digest: string): Promise<{ key: KeyRecord | undefined; revision: number }>;
  used(keyId: string, month: string): Promise<number>;
  /** In their order; days without a call are left out. */
  usageDays(sinceDay: string, keyId: string): Promise<DayUsage[]>;

  setOverride(override: Override, act: Act): Promise<void>;
  /** All of them or none, decided by what stood under the mark `was`; false when another change came between. */
  setOverrides(
    overrides: readonly Override[],
    was: string,
    act: Act,
    more?: readonly Act[],
  ): Promise<boolean>;
  removeOverride(domain: string, act: Act): Promise<boolean>;
  /** By domain. Each is made when it is asked for, once. */
  listOverrides(): Promise<{ overrides: Iterable<Override>; revision: number }>;
  /** For whoever holds them in memory. */
  readOverrides(known: string | undefined): Promise<MarkedOverrides>;
  /** Undefined where too many were changed since, or nobody knows any more. */
  changedOverrides(known: string): Promise<ChangedOverrides | undefined>;

  /** Remembers verdicts that were given, one per key, domain and day; forgets them and days of usage before `sinceDay`. */
  flag(flags: readonly Flag[], sinceDay: string): Promise<void>;
  /** The most often flagged since `day` (inclusive), listed names or names that two keys or more flagged. */
  ranking(sinceDay: string, most: number, reason: string | undefined): Promise<Iterable<Ranked>>;

  /**
   * Remembers who is a guest of which host, and which hosts are shared ones (seen as such on `day`), within bounds;
   * forgets what was last seen before `sinceDay`. `listed` are all listed domains that were seen, wherever that was.
   */
  learn(
    guests: readonly Guest[],
    shared: readonly string[],
    day: string,
    sinceDay: string,
    listed?: readonly SeenListed[],
  ): Promise<void>;
  /** Hosts with so many flagged guests, the most first, with what their guests weigh; and all that operators took out. */
  listHosts(fewestFlagged: number, most: number): Promise<HostRecord[]>;
  /**
   * The same, each made when it is asked for, as often as that is: 20,000 at once would hold everybody else up for 150 ms
   * (2026-11-16).
   */
  readHosts(fewestFlagged: number, most: number): Promise<Iterable<HostRecord>>;
  /** Addresses and names of hosts that must not be learned, parted by spaces: up to 150,000, read every minute. */
  sharedNames(): Promise<string>;
  /** Who is established at which hosts (core/established.ts). */
  established(today: string): Promise<string>;
  /**
   * Takes a host out for good, with its guests; null lets it be learned again, also one that innocents share. False when
   * it is not known.
   */
  forgetHost(name: string, at: number | null, act: Act): Promise<boolean>;
  /** On which a guest was seen last, by whatever clock. */
  lastGuestDay(): Promise<string | null>;
  sweepMark(): Promise<SweepMark | undefined>;
  markSweep(mark: SweepMark): Promise<void>;

  /** What is no change of the store, such as a backup that failed. */
  recordAct(act: Act): Promise<void>;
  /** What operators did, the newest first. */
  audit(most: number): Promise<Act[]>;

  /** The key that filters are signed with: the first candidate that anybody gave, ever. */
  signingKey(candidate: string): Promise<string>;
  /** False where one who is not revoked has this name, or one that people take for it. */
  addOperator(operator: OperatorRecord, act: Act): Promise<boolean>;
  revokeOperator(name: string, at: number, act: Act): Promise<boolean>;
  listOperators(): Promise<OperatorRecord[]>;

  /** This server is alive: to be said again every so often. The moment is the store's own. */
  showSign(sign: Omit<ServerSign, 'seenAt'>): Promise<void>;
  removeSign(id: string): Promise<void>;
  /** All that are alive, by their signs. */
  listServers(): Promise<ServerSign[]>;

  /** Adds to what other servers have counted in the same slots, and forgets what is too old by `now`. */
  addTraffic(slots: readonly TrafficSlot[], now: number): Promise<void>;
  /** The slots of a span that begin at `from` or later; those without a call are not there. */
  traffic(span: number, from: number): Promise<TrafficSlot[]>;

  /** A consistent copy while serving. */
  backup(path: string, progress: (done: number, total: number) => void): Promise<void>;
  /** Whether a file holds a backup of this store; false where that cannot be told. */
  isOwnBackup(path: string): Promise<boolean>;
  /** What `restore` would change now. Nothing is changed. */
  compareBackup(path: string): Promise<Restored>;
  /**
   * Takes over what a backup knows, in one step and while serving; what came since stays, and no count is lowered. An
   * act for each change, of who does it, and this one behind them.
   */
  restore(path: string, act: Act): Promise<Restored>;
  close(): Promise<void>;
}
