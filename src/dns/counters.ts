/** What the resolver counts, for the metrics to read; nothing here knows how they are shown. */

import type { Unanswered } from './ask.ts';

/** How one question ended; `answer` includes an answer that says there are no such records. */
export type QuestionOutcome = 'answer' | 'nxdomain' | Unanswered;

export interface DnsCounters {
  /** Lookups answered from the cache, its memo of failures included. */
  hits: number;
  /** Lookups that began asking. */
  misses: number;
  /** Lookups that waited for another one's questions. */
  joined: number;
  /** Refreshes and prefetches begun. */
  background: number;
  /** Old answers given because asking failed or was not possible. */
  stale: number;
  /** Lookups that got no place within their budget. */
  capped: number;
  readonly questions: Record<QuestionOutcome, number>;
}

export function newCounters(): DnsCounters {
  return {
    hits: 0,
    misses: 0,
    joined: 0,
    background: 0,
    stale: 0,
    capped: 0,
    questions: {
      answer: 0,
      nxdomain: 0,
      timeout: 0,
      servfail: 0,
      refused: 0,
      formerr: 0,
      notimp: 0,
      filtered: 0,
      rcode: 0,
      lame: 0,
      network: 0,
      mismatch: 0,
      open: 0,
      distrusted: 0,
      cancelled: 0,
    },
  };
}
