import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Account, type Job } from '../../src/http/accounts.ts';
import { Queue, SharedQueue } from '../../src/http/queue.ts';

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

test('a queue that many share gives to each in turn, and its oldest first where it has to get smaller', () => {
  const queue = new SharedQueue<string>(item => item[0]!);
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.push(item);
  expect([queue.next(), queue.next(), queue.pop(), queue.pop()]).toEqual(['a1', 'b1', 'c2', 'a3']);
  expect([queue.first, queue.size]).toEqual(['a2', 2]);
  expect([queue.shift(), queue.first, queue.next(), queue.next()]).toEqual(['a2', 'c1', 'c1', undefined]);
});

test('a shared queue in which somebody always waits keeps nothing of those who do not wait any more', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const queue = new SharedQueue<number>(item => `${item % 3}`);
  const held = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  for (let at = 0; at < 10; at++) queue.push(at);
  const before = held();
  for (let at = 0; at < 100_000; at++) {
    queue.push(at);
    queue.next();
  }
  // Of whoever asks for too much the newest are served, and the oldest refused.
  for (let at = 0; at < 50_000; at++) {
    queue.push(at);
    queue.push(at + 1);
    queue.pop();
    queue.shift();
  }
  expect(queue.size).toBe(10);
  expect(held() - before).toBeLessThan(2 ** 20);
});

test('whatever is put in and taken out, a shared queue loses nothing and gives nothing twice', () => {
  const acts = fc.array(
    fc.oneof(fc.constantFrom('shift' as const, 'next' as const, 'pop' as const), fc.nat({ max: 5 })),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(acts, done => {
      const queue = new SharedQueue<{ who: number; at: number }>(({ who }) => `${who}`);
      let inside: { who: number; at: number }[] = [];
      for (const [at, act] of done.entries()) {
        if (typeof act === 'number') {
          queue.push({ who: act, at });
          inside.push({ who: act, at });
          continue;
        }
        const taken = queue[act]();
        expect(taken === undefined).toBe(inside.length === 0);
        if (act === 'shift') expect(taken).toEqual(inside[0]);
        const own = inside.filter(({ who }) => who === taken?.who);
        if (act === 'next') expect(taken).toEqual(own[0]);
        if (act === 'pop') expect(taken).toEqual(own.at(-1));
        inside = inside.filter(one => one.at !== taken?.at);
        expect([queue.size, queue.first]).toEqual([inside.length, inside[0]]);
      }
    }),
  );
});
