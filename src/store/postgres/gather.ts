/** Questions that calls wait for, put together: whoever asks while a statement is under way goes with the next one. */

import { DEADLINE_MS, within } from './connect.ts';

/** A statement for so many keys takes 3 ms (2026-11-18). */
const MOST_AT_ONCE = 500;

interface Waiting<Q, A> {
  readonly question: Q;
  resolve(answer: A): void;
  reject(error: unknown): void;
}

/**
 * However many ask, one connection is enough. With a statement for each, a thousand callers with made-up keys had all
 * connections busy, and everybody else waited behind them until the deadline (2026-11-18).
 */
export function gathering<Q, A>(
  ask: (questions: readonly Q[]) => Promise<readonly A[]>,
): (question: Q) => Promise<A> {
  let waiting: Waiting<Q, A>[] = [];
  let isAsking = false;

  async function askAll(): Promise<void> {
    isAsking = true;
    while (waiting.length > 0) {
      const those = waiting.slice(0, MOST_AT_ONCE);
      waiting = waiting.slice(MOST_AT_ONCE);
      try {
        const answers = await ask(those.map(({ question }) => question));
        for (const [at, { resolve }] of those.entries()) resolve(answers[at]!);
      } catch (error) {
        for (const { reject } of those) reject(error);
      }
    }
    isAsking = false;
  }

  return question => {
    const { promise, resolve, reject } = Promise.withResolvers<A>();
    waiting.push({ question, resolve, reject });
    if (!isAsking) void askAll();
    return within(DEADLINE_MS, promise);
  };
}
