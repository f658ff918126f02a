/** Questions that calls wait for, put together: whoever asks while a statement is under way goes with the next one. */

/** Of these the text takes a millisecond or two to write, and a database that is 100 ms away brings 20,000 a second (2026-11-18). */
const MOST_AT_ONCE = 2_000;

interface Waiting<Q, A> {
  readonly question: Q;
  resolve(answer: A): void;
  reject(error: unknown): void;
}

/**
 * However many ask, one connection is enough, and one message to a thread. With a statement for each, a thousand callers with made-up keys had all
 * connections busy, and everybody else waited behind them until the deadline (2026-11-18).
 */
export function gathering<Q, A>(
  ask: (questions: readonly Q[]) => Promise<readonly A[]>,
  inTime: (answer: Promise<A>) => Promise<A>,
): (question: Q) => Promise<A> {
  const waiting = new Set<Waiting<Q, A>>();
  let isAsking = false;

  async function askAll(): Promise<void> {
    isAsking = true;
    while (waiting.size > 0) {
      const those = [...waiting.values().take(MOST_AT_ONCE)];
      for (const one of those) waiting.delete(one);
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
    const one = { question, resolve, reject };
    waiting.add(one);
    if (!isAsking) void askAll();
    // Whose time is over is asked for no more: a database that answered late had 10 MB of these a second (2026-11-18).
    return inTime(promise).finally(() => void waiting.delete(one));
  };
}
