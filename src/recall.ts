/** Answers → decisions that are kept: why was it refused on Tuesday? Written behind the answers, in batches. */

import { DECISIONS_AT_ONCE, type Decision, type DecisionLog, type DecisionStore } from './core/decision.ts';
import { Pending } from './core/pending.ts';
import type { Clock } from './core/ports.ts';
import type { Answer } from './lookup.ts';
import type { Rank } from './rank.ts';

export interface Recall {
  /** Costs a row in memory; the store hears of it within a second. Undefined where nothing is kept. */
  readonly note: Rank['note'] | undefined;
  /** How many are not kept, because the store did not take them fast enough. */
  dropped(): number;
  flush(): Promise<void>;
  close(): Promise<void>;
}

const FLUSH_MS = 1_000;
/** Those that are too old go, also where none are kept any more. */
const FORGET_MS = 3_600_000;
/** More within a second, fewer of one key, or while the store is away, are dropped: it must stay free to count. */
export const MOST_PENDING = 20_000;
const DAY_MS = 86_400_000;

interface Parts {
  readonly store: Pick<DecisionStore, 'writeDecisions'>;
  readonly clock: Clock;
  readonly log: DecisionLog;
  readonly days: number;
  readonly onError: (error: unknown) => void;
}

export function createRecall({ store, clock, log, days, onError }: Parts): Recall {
  const pending = new Pending<Decision>(MOST_PENDING);
  let dropped = 0;
  /** Old ones are still there: they go a few at a time, so that nothing else waits for it. */
  let isMore = false;
  let writing: Promise<void> = Promise.resolve();

  function keep(decision: Decision): void {
    if (!pending.add(decision, decision.keyId)) dropped++;
  }

  function note({ verdict, snapshot, degraded }: Answer, keyId: string): void {
    const { domain, riskScore: score, reason } = verdict;
    if (reason === 'safe' && log === 'flagged') return;
    keep({ at: clock(), keyId, domain, score, reason, snapshot, degraded });
  }

  /** In parts, each of which the store has whole or not at all: what is put back is nowhere yet. */
  async function write(): Promise<void> {
    const batch = pending.take();
    let at = 0;
    try {
      do {
        isMore = await store.writeDecisions(batch.slice(at, at + DECISIONS_AT_ONCE), clock(), days * DAY_MS);
        at += DECISIONS_AT_ONCE;
      } while (at < batch.length);
    } catch (error) {
      for (const decision of [...batch.slice(at), ...pending.take()]) keep(decision);
      onError(error);
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(write);
    return writing;
  }

  let isWriting = false;
  const timer = setInterval(() => {
    if ((pending.size === 0 && !isMore) || isWriting) return;
    isWriting = true;
    void flush().then(() => {
      isWriting = false;
    });
  }, FLUSH_MS).unref();
  const forgetting = setInterval(() => void flush(), FORGET_MS).unref();
  return {
    note: log === 'off' ? undefined : note,
    dropped: () => dropped,
    flush,
    async close() {
      clearInterval(timer);
      clearInterval(forgetting);
      if (pending.size > 0) await flush();
    },
  };
}

/** Both are told of an answer; where nothing is kept, a call takes the same way as before. */
export function recallingBeside(rank: Rank, { note }: Recall): Rank {
  if (!note) return rank;
  return {
    ...rank,
    note(answer, keyId) {
      rank.note(answer, keyId);
      note(answer, keyId);
    },
  };
}
