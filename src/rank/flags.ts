/** What was flagged, on its way to the store, and the most flagged of what is there. */

import { setTimeout as pause } from 'node:timers/promises';
import { lru } from '../core/lru.ts';
import { Pending } from '../core/pending.ts';
import type { Clock, Store } from '../core/ports.ts';
import { dayOf, lastDays, WINDOW_DAYS } from '../core/quota.ts';
import { type Flag, type FlagReason, MOST_FLAGS, type Ranked } from '../core/ranking.ts';
import type { Answer } from '../lookup.ts';

/**
 * Of one key, at one worker: a fortieth of the rows that are kept for a month. A key that had lists of made-up names looked
 * up wrote as many a minute, others' flags went for them, and who asked the store for anything long waited behind
 * (2026-11-19).
 */
const MOST_OF_A_KEY_A_DAY = MOST_FLAGS / 40;
/** Beyond this many new flags within a second, fewer of one key, the rest is dropped: the store must stay free to count. */
const MOST_PENDING = 5_000;
/** More than the longest list, because some candidates will have been cleared since. */
const CANDIDATES = 5_000;
const FRESH_MS = 300;
/**
 * The most flagged of a full table take the store 0.3 s: whoever asks for every reason in turn is told for so many times
 * as long what was found, but for what took less than a moment.
 */
const TIMES_KEPT = 20;
const MOMENT_MS = 50;

export interface FlagParts {
  readonly store: Pick<Store, 'flag' | 'ranking'>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** The most flagged, as the store has found them. */
interface Ranking {
  readonly rows: Promise<Iterable<Ranked>>;
  /** Nobody asks it again before. */
  until: number;
}

/** What was flagged, on its way to the store, and the most flagged of what is there. */
export class Flags {
  readonly #parts: FlagParts;
  /** Key and domain to the day on which they were noted. */
  readonly #noted = lru<string>(50_000);
  readonly #pending = new Pending<Flag>(MOST_PENDING);
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #flushedOn: string;
  /** By key. */
  readonly #today = new Map<string, number>();
  #todayIs = '';
  readonly #rankings = new Map<FlagReason | undefined, Ranking>();

  constructor(parts: FlagParts) {
    this.#parts = parts;
    this.#flushedOn = dayOf(parts.clock());
  }

  note({ flag, verdict }: Answer, keyId: string): void {
    if (flag === undefined || verdict.reason === 'safe' || !this.#pending.hasRoom(keyId)) return;
    const day = dayOf(this.#parts.clock());
    const name = `${keyId} ${flag.domain}`;
    if (this.#noted.get(name) === day || !this.#mayAdd(keyId, day)) return;
    this.#noted.set(name, day);
    this.#pending.add({ day, ...flag, keyId, reason: verdict.reason, score: verdict.riskScore }, keyId);
  }

  #mayAdd(keyId: string, day: string): boolean {
    if (this.#todayIs !== day) this.#today.clear();
    this.#todayIs = day;
    const count = (this.#today.get(keyId) ?? 0) + 1;
    this.#today.set(keyId, count);
    return count <= MOST_OF_A_KEY_A_DAY;
  }

  /** All that come while one is under way share the next (request coalescing). */
  flush(): Promise<void> {
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      this.#writing = this.#write();
      return this.#writing;
    });
    return this.#next;
  }

  async #write(): Promise<void> {
    const { store, clock, onError } = this.#parts;
    const day = dayOf(clock());
    // Once a day without a flag too: what is out of the window is to be forgotten.
    if (this.#pending.size === 0 && this.#flushedOn === day) return;
    const flags = this.#pending.take();
    try {
      await store.flag(flags, this.#sinceDay());
      this.#flushedOn = day;
    } catch (error) {
      for (const flag of [...flags, ...this.#pending.take()]) this.#pending.add(flag, flag.keyId);
      onError(error);
    }
  }

  /** A name that was flagged for another reason than today's is found among the most flagged of all reasons. */
  async candidatesFor(reason: FlagReason | undefined): Promise<Iterable<Ranked>[]> {
    const all = await this.#ranked(undefined);
    return reason === undefined ? [all] : [await this.#ranked(reason), all];
  }

  #ranked(reason: FlagReason | undefined): Promise<Iterable<Ranked>> {
    const known = this.#rankings.get(reason);
    if (known && performance.now() < known.until) return known.rows;
    const ranking: Ranking = { rows: this.#rank(reason, ms => this.#keep(ranking, ms)), until: Infinity };
    this.#rankings.set(reason, ranking);
    ranking.rows.catch(() => this.#rankings.delete(reason));
    return ranking.rows;
  }

  async #rank(reason: FlagReason | undefined, found: (ms: number) => void): Promise<Iterable<Ranked>> {
    // A caller does not wait for a store that is slow to write; the flags of the last second may be missing then.
    await Promise.race([this.flush(), pause(FRESH_MS, undefined, { ref: false })]);
    const begun = performance.now();
    const rows = await this.#parts.store.ranking(this.#sinceDay(), CANDIDATES, reason);
    found(performance.now() - begun);
    return rows;
  }

  #keep(ranking: Ranking, ms: number): void {
    ranking.until = ms < MOMENT_MS ? 0 : performance.now() + ms * TIMES_KEPT;
  }

  /** Rows that nobody asks for. */
  forget(): void {
    for (const [reason, { until }] of this.#rankings)
      if (performance.now() >= until) this.#rankings.delete(reason);
  }

  #sinceDay(): string {
    return lastDays(this.#parts.clock(), WINDOW_DAYS)[0]!;
  }
}
