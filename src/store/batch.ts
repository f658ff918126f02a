/** Group commit, for either store: calls that arrive while it is busy are counted together. */

import { type Spend, type Spent, StoreUnavailable, type Waiter } from '../core/ports.ts';
import {
  askedOf,
  CHANGED,
  type Counted,
  nameOf,
  type PendingGroup,
  type Several,
  type SpendGroup,
  type SpendResult,
  spentOf,
  sumOf,
} from './spend-group.ts';
import { Telling } from './telling.ts';
import { type Wait, waitAtMost } from './wait.ts';

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
  /** Takes on the calls of a group that is held, with what is left of their time; without it they are refused. */
  readonly whenHeld?: (group: PendingGroup, ms: number) => void;
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

  /** Calls that waited elsewhere before: none of what waits here has more time now. */
  take({ waiters, several, ...group }: PendingGroup, ms: number): void {
    const own = this.#groupOf(group, group.revision);
    for (const waiter of waiters) own.waiters.push(waiter);
    for (const one of several) this.#addSeveral(one);
    if (this.#wait && this.#wait.left() > ms) {
      this.#wait.end();
      this.#wait = undefined;
    }
    this.#came(waiters.length + several.length, ms);
  }

  isBehind(keyId?: string): boolean {
    return this.#telling.isBehind(keyId);
  }

  #came(calls: number, ms = this.#parts.deadlineMs): void {
    this.#wait ??= waitAtMost(ms);
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
    const until = performance.now() + left;
    try {
      const results = await this.#parts.count(groups.map(askedOf), left);
      this.#goOn();
      this.#telling.begin();
      for (const [i, group] of groups.entries()) {
        const result = results[i]!;
        if (result === 'held') this.#handOn(group, until - performance.now());
        else this.#tell(group, result);
      }
    } catch (error) {
      this.#goOn();
      this.#telling.begin();
      for (const group of groups) this.#refuse(group, error as Error);
    }
  }

  #handOn(group: PendingGroup, left: number): void {
    const { whenHeld } = this.#parts;
    if (whenHeld) whenHeld(group, Math.max(LEAST_WAIT_MS, left));
    else this.#refuse(group, new StoreUnavailable('somebody else holds the row of this key'));
  }

  #refuse({ keyId, waiters, several }: PendingGroup, error: Error): void {
    this.#telling.all(keyId, waiters, waiter => waiter.reject(error));
    this.#telling.all(keyId, several, ({ waiter }) => waiter.reject(error));
  }

  #tell(group: PendingGroup, result: Counted): void {
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
