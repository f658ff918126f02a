import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { gathering } from '../../src/store/gather.ts';
import { within } from '../../src/store/wait.ts';

/** A store that keeps the first who asks waiting. */
function slowStore() {
  const asked: number[][] = [];
  const slow = Promise.withResolvers<void>();
  const ask = gathering(
    async (questions: readonly number[]) => {
      asked.push([...questions]);
      if (asked.length === 1) await slow.promise;
      return questions;
    },
    answer => within(100, 'the store', answer),
  );
  return { asked, slow, ask };
}

test('whoever asks while others are asked for goes with the next, each with an answer of its own', async () => {
  const { asked, slow, ask } = slowStore();
  const answers = [0, 1, 2, 3].map(n => ask(n));
  slow.resolve();
  expect(await Promise.all(answers)).toEqual([0, 1, 2, 3]);
  expect(asked).toEqual([[0], [1, 2, 3]]);
});

test('whoever has waited too long is asked for no more, so that a slow store has no row that grows', async () => {
  const { asked, slow, ask } = slowStore();
  const late = Array.from({ length: 1_000 }, (_, n) => expect(ask(n)).rejects.toThrow(StoreUnavailable));
  await Promise.all(late);
  const next = ask(1_000);
  slow.resolve();
  expect(await next).toBe(1_000);
  expect(asked).toEqual([[0], [1_000]]);
});
