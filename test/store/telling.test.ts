import { expect, onTestFinished, test, vi } from 'vitest';
import { Telling } from '../../src/store/telling.ts';
import { turn } from '../support/scale.ts';

/** Only what is told takes time, and what the test says. */
function timeOfWork(): (ms: number) => void {
  let now = 1_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  return ms => {
    now += ms;
  };
}

test('what is left of a commit has its part of each turn, however long others take theirs', async () => {
  const take = timeOfWork();
  const telling = new Telling();
  let told = 0;
  telling.begin();
  telling.all('a', Array(400).fill(0), () => {
    take(0.25);
    told++;
  });
  let turns = 0;
  for (; told < 400; turns++) {
    // Others go on letting calls in. With a millisecond for what is left, it took a hundred turns (2026-11-19).
    take(10);
    await turn();
  }
  expect(turns).toBeLessThan(25);
});

test('keys have as much time as each other, whatever an answer takes', async () => {
  const take = timeOfWork();
  const telling = new Telling();
  const told = { dear: 0, cheap: 0 };
  for (const [key, ms] of [
    ['dear', 0.5],
    ['cheap', 0.02],
  ] as const)
    telling.all(key, Array(400).fill(0), () => {
      take(ms);
      told[key]++;
    });
  while (told.cheap < 400) await turn();
  expect(told.dear).toBeLessThan(100);
  while (told.dear < 400) await turn();
});

test.each([1, 2, 3, 8, 100])('%i keys at a time are behind before very much is left', async keys => {
  timeOfWork();
  const telling = new Telling();
  let [total, before, told] = [0, -1, 0];
  for (; before !== total && total < 8_000; ) {
    before = total;
    for (let key = 0; key < keys; key++) {
      if (telling.isBehind(`key ${key}`)) continue;
      telling.all(`key ${key}`, Array(20 + key).fill(0), () => told++);
      total += 20 + key;
    }
  }
  // Of each what it brings at once, and a part. With the mean as the bound three keys brought any number (2026-11-19).
  expect(total).toBeLessThan(300 + keys * (20 + keys));
  expect(telling.isBehind()).toBe(true);
  while (told < total) await turn();
  expect(telling.isBehind()).toBe(false);
});
