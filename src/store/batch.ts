/** Group commit, for either store: calls that arrive while it is busy are counted together. */

import type { Spend, Spent } from '../core/ports.ts';
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
  readonly waiters: { resolve(spent: Spent): void; reject(error: Error): void }[];
}

/**
 * A commit costs about 250 µs of processor time whatever it holds (two threads to wake, a transaction, an fsync;
 * measured on SQLite 2026-11-15), a call inside it 6 µs. So one begins when a turn of the event loop brought no more
 * calls, or when so many wait that others make no difference, or after so long.
 */
const ENOUGH = 64;
const LONGEST_GATHERING_MS = 1;
/** What a healthy store needs at most, however long the call has waited before. */
const LEAST_WAIT_MS = 50;

export interface BatchParts {
  /** Counts the groups durably within `ms`; when it rejects, nobody knows whether they were counted. */
  readonly count: (groups: readonly SpendGroup[], ms: number) => Promise<readonly SpendResult[]>;
  /** Commits that may be under way at a time. */
  readonly lanes: number;
  /** For the whole way of a call, the wait for the commit before its own included, while the event loop turns. */
  readonly deadlineMs: number;
}

export class Batcher {
  readonly #parts: BatchParts;
  #pending = new Map<string, PendingGroup>();
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

  spend(spend: Spend, revision: number): Promise<Spent> {
    const { promise, resolve, reject } = Promise.withResolvers<Spent>();
    const name = `${spend.keyId} ${monthOfDay(spend.day)} ${revision}`;
    this.#wait ??= waitAtMost(this.#parts.deadlineMs);
    const group = this.#pending.get(name);
    if (group) group.waiters.push({ resolve, reject });
    else this.#pending.set(name, { ...spend, revision, waiters: [{ resolve, reject }] });
    this.#calls++;
    if (!this.#isGathering && this.#underWay < this.#parts.lanes) this.#gather();
    return promise;
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
    this.#calls = 0;
    try {
      const calls = groups.map(({ waiters, ...group }) => ({ ...group, calls: waiters.length }));
      const results = await this.#parts.count(calls, left);
      this.#goOn();
      for (const [i, group] of groups.entries()) settle(group, results[i]!);
    } catch (error) {
      this.#goOn();
      for (const group of groups) for (const waiter of group.waiters) waiter.reject(error as Error);
    }
  }

  /** The next commit is under way while the answers of the one before are written. */
  #goOn(): void {
    this.#underWay--;
    if (this.#calls > 0 && !this.#isGathering) void this.#flush();
  }
}

/** The first callers get what was granted, each with the count as it stood after its own call. */
function settle(group: PendingGroup, result: SpendResult): void {
  if (result === 'changed') {
    for (const waiter of group.waiters) waiter.resolve({ outcome: 'changed' });
    return;
  }
  const before = result.used - result.granted;
  for (const [i, waiter] of group.waiters.entries()) {
    waiter.resolve(
      i < result.granted
        ? { outcome: 'granted', used: before + i + 1 }
        : { outcome: 'exhausted', used: result.used },
    );
  }
}
