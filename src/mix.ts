/** Answers → verdicts of each key by day → the mix that operators see of it. Written behind the answers, in batches. */

import {
  type DayVerdicts,
  type MixStore,
  NO_VERDICTS,
  VERDICT_COUNTS,
  VERDICTS_AT_ONCE,
  type VerdictCounts,
} from './core/mix.ts';
import type { Clock } from './core/ports.ts';
import { dayOf, lastDays, WINDOW_DAYS } from './core/quota.ts';
import type { Rank } from './rank.ts';

/** A verdict may be counted on the day after its own by so much. */
const FLUSH_MS = 10_000;
/** Of more keys within that time, or while the store is away, the rest is not counted here: it must stay free to count calls. */
export const MOST_KEYS = 20_000;

export interface Mix {
  /** Costs an addition; the store hears of it within ten seconds. */
  readonly note: Rank['note'];
  /** By key, of the last 30 days: of all servers, this one up to now. */
  read(keyIds: readonly string[]): Promise<ReadonlyMap<string, VerdictCounts>>;
  close(): Promise<void>;
}

export interface MixParts {
  readonly store: MixStore;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

type Counting = Record<keyof VerdictCounts, number>;

export function createMix({ store, clock, onError }: MixParts): Mix {
  let pending = new Map<string, Counting>();
  let writing: Promise<void> = Promise.resolve();
  const sinceDay = () => lastDays(clock(), WINDOW_DAYS)[0]!;

  function countsOf(keyId: string): Counting | undefined {
    const before = pending.get(keyId);
    if (before || pending.size >= MOST_KEYS) return before;
    const counts = { ...NO_VERDICTS };
    pending.set(keyId, counts);
    return counts;
  }

  /** In parts, each of which the store has whole or not at all: what is put back is nowhere yet. */
  async function write(): Promise<void> {
    const day = dayOf(clock());
    const rows: DayVerdicts[] = [...pending].map(([keyId, counts]) => ({ keyId, day, ...counts }));
    pending = new Map();
    let at = 0;
    try {
      for (; at < rows.length; at += VERDICTS_AT_ONCE)
        await store.addVerdicts(rows.slice(at, at + VERDICTS_AT_ONCE), sinceDay());
    } catch (error) {
      for (const { keyId, ...counts } of rows.slice(at)) {
        const into = countsOf(keyId);
        if (into) for (const name of VERDICT_COUNTS) into[name] += counts[name];
      }
      throw error;
    }
  }

  /** One after the other: what one puts back, the next one takes. */
  function flush(): Promise<void> {
    writing = writing.catch(() => {}).then(write);
    return writing;
  }
  const timer = setInterval(() => {
    if (pending.size > 0) void flush().catch(onError);
  }, FLUSH_MS).unref();

  return {
    note({ verdict, degraded }, keyId) {
      const counts = countsOf(keyId);
      if (!counts) return;
      counts[verdict.reason]++;
      if (degraded) counts.degraded++;
    },
    async read(keyIds) {
      await flush();
      const rows = await store.verdictsSince(sinceDay(), keyIds);
      return new Map(rows.map(({ keyId, ...counts }) => [keyId, counts]));
    },
    async close() {
      clearInterval(timer);
      await flush().catch(onError);
    },
  };
}

/** Both are told of an answer. */
export function countingBeside(rank: Rank, { note }: Pick<Rank, 'note'>): Rank {
  return {
    ...rank,
    note(answer, keyId) {
      rank.note(answer, keyId);
      note(answer, keyId);
    },
  };
}
