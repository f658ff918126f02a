import { expect, test } from 'vitest';
import { Account, type Job, Queue } from '../../src/http/accounts.ts';

/** A caller with so many waiting, one of whom is served every other millisecond. */
function waiting(count: number) {
  const account = new Account({ name: 'a', kind: 'key' });
  const fill = (since: number) => {
    while (account.queue.size < count) account.queue.push({ job: {} as Job, since });
  };
  fill(0);
  for (let now = 1; now < 400; now += 2) account.served(now);
  return { account, fill };
}

test('who has many waiting for long asks for too much, and after a while without is trusted with a burst again', () => {
  const { account, fill } = waiting(100);
  expect(account.isTooMuch(400)).toBe(false);
  expect(account.isTooMuch(1_000)).toBe(false);
  expect(account.isTooMuch(1_300)).toBe(true);
  while (account.queue.shift());
  fill(60_000);
  expect(account.isTooMuch(60_000)).toBe(false);
  expect(account.isTooMuch(60_900)).toBe(true);
});

test('who has few waiting never asks for too much', () => {
  const { account } = waiting(63);
  for (let now = 400; now < 5_000; now += 100) expect(account.isTooMuch(now)).toBe(false);
});

test('a queue gives back what was put in, from either end', () => {
  const queue = new Queue<number>();
  for (let i = 0; i < 3_000; i++) queue.push(i);
  for (let i = 0; i < 1_400; i++) expect([queue.shift(), queue.pop()]).toEqual([i, 2_999 - i]);
  expect([queue.size, queue.first]).toEqual([200, 1_400]);
  while (queue.size > 0) queue.pop();
  expect([queue.pop(), queue.shift(), queue.first]).toEqual([undefined, undefined, undefined]);
});
