/** Group commit, for either store: calls that arrive while it is busy are counted together. */

import type { Spend, Spent, Waiter } from '../core/ports.ts';
import { monthOfDay } from '../core/quota.ts';
import { Telling } from './telling.ts';
import { type Wait, waitAtMost } from './wait.ts';

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

/** How many of the group's calls were granted, and the count after them; or that the revision has moved on. */
export type SpendResult = { readonly granted: number; readonly used: number } | 'changed';

/** One call with several names. */
interface Several {
  readonly spend: Spend;
  readonly revision: number;
  readonly names: number;
  readonly waiter: Waiter<Spent>;
}

interface PendingGroup extends Omit<SpendGroup, 'calls' | 'whole'> {
  readonly waiters: Waiter<Spent>[];
  several: Several[];
}

/** Calls with several names that were too many together. Of what was left then, the first that fit are tried again. */
interface Tight {
  left: number;
  several: Several[];
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
  readonly #telling = new Telling();
  #pending = new Map<string, PendingGroup>();
  /** By the name of their group. */
  readonly #tight = new Map<string, Tight>();
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
    const { names = 1 } = spend;
    if (names === 1) this.#groupOf(spend, revision).waiters.push(waiter);
    else this.#addSeveral({ spend, revision, names, waiter });
    this.#came(1);
  }

  isBehind(keyId?: string): boolean {
    return this.#telling.isBehind(keyId);
  }

  #came(calls: number): void {
    this.#wait ??= waitAtMost(this.#parts.deadlineMs);
    this.#calls += calls;
    if (!this.#isGathering && this.#underWay < this.#parts.atOnce) this.#gather();
  }

  #groupOf(spend: Spend, revision: number): PendingGroup {
    const last = this.#last;
    if (last?.keyId === spend.keyId && last.day === spend.day && last.revision === revision) return last;
    const name = nameOf(spend, revision);
    const { keyId, day, quota } = spend;
    const group = this.#pending.get(name) ?? { keyId, day, quota, revision, waiters: [], several: [] };
    this.#pending.set(name, group);
    this.#last = group;
    return group;
  }

  #addSeveral(one: Several): void {
    const tight = this.#tight.get(nameOf(one.spend, one.revision));
    (tight ?? this.#groupOf(one.spend, one.revision)).several.push(one);
  }

  /** At least one of them: what does not fit alone is known not to. Gives how many are left for later. */
  #takeFitting(): number {
    let later = 0;
    for (const [name, { left, several }] of this.#tight) {
      let sum = several[0]!.names;
      let count = 1;
      while (count < several.length && sum + several[count]!.names <= left) sum += several[count++]!.names;
      const { spend, revision } = several[0]!;
      this.#groupOf(spend, revision).several.push(...several.splice(0, count));
      later += several.length;
      if (several.length === 0) this.#tight.delete(name);
    }
    return later;
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
    this.#calls = this.#tight.size > 0 ? this.#takeFitting() : 0;
    // Those that are left have as long as if they came now: with none they had the least, and a busy disk failed them.
    if (this.#calls > 0) this.#wait = waitAtMost(this.#parts.deadlineMs);
    const groups = [...this.#pending.values()];
    this.#pending = new Map();
    this.#last = undefined;
    try {
      const results = await this.#parts.count(groups.map(askedOf), left);
      this.#goOn();
      this.#telling.begin();
      for (const [i, group] of groups.entries()) this.#tell(group, results[i]!);
    } catch (error) {
      this.#goOn();
      this.#telling.begin();
      const reject = (waiter: Waiter<Spent>) => waiter.reject(error as Error);
      for (const { keyId, waiters, several } of groups) {
        this.#telling.all(keyId, waiters, reject);
        this.#telling.all(keyId, several, ({ waiter }) => reject(waiter));
      }
    }
  }

  #tell(group: PendingGroup, result: SpendResult): void {
    const { keyId, waiters, several } = group;
    const whole = sumOf(several);
    // Where the whole is not granted, what is granted is less than it.
    const isWhole = result !== 'changed' && result.granted >= whole;
    if (several.length > 0 && result !== 'changed' && !isWhole) this.#tellTight(group, result.used);
    else if (several.length > 0) {
      let before = result === 'changed' ? 0 : result.used - result.granted;
      this.#telling.all(keyId, several, ({ names, waiter }) => {
        before += names;
        waiter.resolve(result === 'changed' ? CHANGED : { outcome: 'granted', used: before });
      });
    }
    const before = isWhole ? whole : 0;
    this.#telling.all(keyId, waiters, (waiter, place) => waiter.resolve(spentOf(result, before + place)));
  }

  /** A count only grows: what does not fit now never will. What would, but not with the others, is tried again. */
  #tellTight({ keyId, quota, several }: PendingGroup, used: number): void {
    const left = quota! - used;
    const fitting = several.filter(({ names }) => names <= left);
    const [first] = fitting;
    if (first) {
      const name = nameOf(first.spend, first.revision);
      const tight = this.#tight.get(name);
      this.#tight.set(name, { left, several: [...fitting, ...(tight?.several ?? [])] });
      this.#came(fitting.length);
    }
    const others = several.filter(({ names }) => names > left);
    this.#telling.all(keyId, others, ({ waiter }) => waiter.resolve({ outcome: 'exhausted', used }));
  }

  /** The next commit is under way while the answers of the one before are written. */
  #goOn(): void {
    this.#underWay--;
    if (this.#calls > 0 && !this.#isGathering) void this.#flush();
  }
}

function nameOf(spend: Spend, revision: number): string {
  return `${spend.keyId} ${monthOfDay(spend.day)} ${revision}`;
}

const sumOf = (several: readonly Several[]) => several.reduce((sum, { names }) => sum + names, 0);

function askedOf({ keyId, day, quota, revision, waiters, several }: PendingGroup): SpendGroup {
  const group = { keyId, day, quota, revision, calls: waiters.length };
  return several.length === 0 ? group : { ...group, whole: sumOf(several) };
}

const CHANGED: Spent = { outcome: 'changed' };

/** The first callers get what was granted, each with the count as it stood after its own call. */
function spentOf(result: SpendResult, place: number): Spent {
  if (result === 'changed') return CHANGED;
  const { granted, used } = result;
  if (place >= granted) return { outcome: 'exhausted', used };
  return { outcome: 'granted', used: used - granted + place + 1 };
}
