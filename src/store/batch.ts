/** Group commit, for either store: calls that arrive while it is busy are counted together. */

import type { Spend, Spent, Waiter } from '../core/ports.ts';
import { monthOfDay } from '../core/quota.ts';
import { type Wait, waitAtMost } from './wait.ts';

/**
 * Calls of one key in one month that are counted together, all on the day of the first: at midnight a few
 * milliseconds of calls fall on the day before, and no month is ever touched twice by one statement.
 */
export interface SpendGroup extends Spend {
  readonly revision: number;
  readonly calls: number;
}

/** How many of the group's calls were granted, and the count after them; or that the revision has moved on. */
export type SpendResult = { readonly granted: number; readonly used: number } | 'changed';

interface PendingGroup extends Omit<SpendGroup, 'calls'> {
  readonly waiters: Waiter<Spent>[];
}

/**
 * A commit costs about 250 µs of processor time whatever it holds (two threads to wake, a transaction, an fsync;
 * measured on SQLite 2026-11-15), a call inside it 6 µs. So one begins when a turn of the event loop brought no more
 * calls, or when enough wait, or after so long. With more than these nothing was gained, since answers are written while
 * the next commit is under way (64 and 256 connections; 12, 32 and 64 tried, 2026-11-16).
 */
const ENOUGH = 16;
const LONGEST_GATHERING_MS = 1;
/** What a healthy store needs at most, however long the call has waited before. */
const LEAST_WAIT_MS = 50;

export interface BatchParts {
  /** Counts the groups durably within `ms`; when it rejects, nobody knows whether they were counted. */
  readonly count: (groups: readonly SpendGroup[], ms: number) => Promise<readonly SpendResult[]>;
  /** Commits that may be under way at a time. */
  readonly atOnce: number;
  /** For the whole way of a call, the wait for the commit before its own included, while the event loop turns. */
  readonly deadlineMs: number;
}

export class Batcher {
  readonly #parts: BatchParts;
  #pending = new Map<string, PendingGroup>();
  /** Of the last call: most are followed by one of the same key. */
  #last: PendingGroup | undefined;
  /** Calls in all groups, and how many there were when that was looked at last. */
  #calls = 0;
  #seen = 0;
  #underWay = 0;
  #isGathering = false;
  #gatheringSince = 0;
  /** Of the first of the pending calls. */
  #wait: Wait | undefined;

  constructor(parts: BatchParts) {
    this.#parts = parts;
  }

  spend(spend: Spend, revision: number, waiter: Waiter<Spent>): void {
    this.#wait ??= waitAtMost(this.#parts.deadlineMs);
    this.#groupOf(spend, revision).waiters.push(waiter);
    this.#calls++;
    if (!this.#isGathering && this.#underWay < this.#parts.atOnce) this.#gather();
  }

  #groupOf(spend: Spend, revision: number): PendingGroup {
    const last = this.#last;
    if (last?.keyId === spend.keyId && last.day === spend.day && last.revision === revision) return last;
    const name = `${spend.keyId} ${monthOfDay(spend.day)} ${revision}`;
    const group = this.#pending.get(name) ?? { ...spend, revision, waiters: [] };
    this.#pending.set(name, group);
    this.#last = group;
    return group;
  }

  /** At the earliest after the poll phase, so that all calls that the kernel had ready go into one commit. */
  #gather(): void {
    this.#isGathering = true;
    this.#seen = 0;
    this.#gatheringSince = performance.now();
    setImmediate(this.#look);
  }

  readonly #look = (): void => {
    const mayGrow = this.#calls > this.#seen && this.#calls < ENOUGH;
    this.#seen = this.#calls;
    if (mayGrow && performance.now() - this.#gatheringSince < LONGEST_GATHERING_MS) setImmediate(this.#look);
    else void this.#flush();
  };

  async #flush(): Promise<void> {
    this.#isGathering = false;
    this.#underWay++;
    // A call that waited for the commit before its own has that much less time left.
    const left = Math.max(LEAST_WAIT_MS, this.#wait?.left() ?? 0);
    this.#wait?.end();
    this.#wait = undefined;
    const groups = [...this.#pending.values()];
    this.#pending = new Map();
    this.#last = undefined;
    this.#calls = 0;
    try {
      const calls = groups.map(({ waiters, ...group }) => ({ ...group, calls: waiters.length }));
      const results = await this.#parts.count(calls, left);
      this.#goOn();
      for (const [i, { waiters }] of groups.entries())
        tellAll(waiters, (waiter, place) => waiter.resolve(spentOf(results[i]!, place)));
    } catch (error) {
      this.#goOn();
      for (const { waiters } of groups) tellAll(waiters, waiter => waiter.reject(error as Error));
    }
  }

  /** The next commit is under way while the answers of the one before are written. */
  #goOn(): void {
    this.#underWay--;
    if (this.#calls > 0 && !this.#isGathering) void this.#flush();
  }
}

/** One that throws does not keep the others from their answers: that ends the process behind them. */
function tellAll(
  waiters: readonly Waiter<Spent>[],
  tell: (waiter: Waiter<Spent>, place: number) => void,
): void {
  for (let place = 0; place < waiters.length; place++) {
    try {
      tell(waiters[place]!, place);
    } catch (error) {
      setImmediate(() => {
        throw error;
      });
    }
  }
}

const CHANGED: Spent = { outcome: 'changed' };

/** The first callers get what was granted, each with the count as it stood after its own call. */
function spentOf(result: SpendResult, place: number): Spent {
  if (result === 'changed') return CHANGED;
  const { granted, used } = result;
  if (place >= granted) return { outcome: 'exhausted', used };
  return { outcome: 'granted', used: used - granted + place + 1 };
}
