import { expect, test } from 'vitest';
import { startDeadline } from '../../src/dns/deadline.ts';
import { Inbox, inOrder } from '../../src/dns/inbox.ts';
import { hold, pause, turn } from '../support/scale.ts';

/** Each takes 1 ms, at once or behind a promise. */
function inboxOf() {
  let now = 0;
  const inbox = new Inbox(() => now);
  const done: string[] = [];
  const later = (ms: number) => {
    now += ms;
  };
  const put = (name: string) =>
    inbox.take(() => {
      later(1);
      done.push(name);
    });
  const putPromise = (name: string) =>
    inbox.take(() => {
      done.push(name);
      void Promise.resolve().then(() => later(1));
    });
  return { done, put, putPromise, later };
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

test('what comes alone is worked on at once', () => {
  const { done, put } = inboxOf();
  put('a');
  expect(done).toEqual(['a']);
});

test('what takes more than 2 ms together lets everybody else have a turn, and stays in its order', async () => {
  const { done, put } = inboxOf();
  NAMES.forEach(put);
  expect(done).toEqual(['a', 'b']);
  for (const so of ['abcd', 'abcdef', 'abcdefg']) {
    await turn();
    put(`${so.length}`);
    expect(done.filter(name => NAMES.includes(name)).join('')).toBe(so);
  }
  await turn();
  await turn();
  expect(done).toEqual([...NAMES, '4', '6', '7']);
});

test('what goes on behind an answer counts as its time', async () => {
  const { done, put, putPromise, later } = inboxOf();
  put('first');
  later(10);
  NAMES.forEach(putPromise);
  await turn();
  expect(done.length).toBeLessThanOrEqual(4);
  for (const _ of NAMES) await turn();
  expect(done).toEqual(['first', ...NAMES]);
});

test('one that takes longer than a turn holds up nobody for good', async () => {
  const { done, put, later } = inboxOf();
  put('a');
  later(10);
  put('b');
  put('c');
  expect(done).toEqual(['a']);
  await turn();
  expect(done.slice(0, 2)).toEqual(['a', 'b']);
  await turn();
  expect(done).toEqual(['a', 'b', 'c']);
});

test('nobody is given up on while its answer waits to be worked on', async () => {
  const told: string[] = [];
  const deadline = startDeadline(20, () => told.push('given up'));
  hold(40);
  // Four turns of work before the answer.
  for (let i = 0; i < 4; i++) inOrder(() => hold(3));
  inOrder(() => {
    told.push('answer');
    deadline.cancel();
  });
  await pause(100);
  expect(told).toEqual(['answer']);
});
