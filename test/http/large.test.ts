import { expect, test } from 'vitest';
import { LargeAnswers, Unread } from '../../src/http/large.ts';

test('one address has so many large answers at a time; others, keys and proxies are not counted against it', () => {
  const large = new LargeAnswers();
  const taken = Array.from({ length: 130 }, () => large.take('192.0.2.1', true));
  expect(taken.filter(Boolean)).toHaveLength(64);
  expect(large.take('192.0.2.2', true)).toBe(true);
  expect(large.take('192.0.2.1', false)).toBe(true);
  large.give('192.0.2.1');
  expect(large.take('192.0.2.1', true)).toBe(false);
  large.give('192.0.2.1');
  expect(large.take('192.0.2.1', true)).toBe(true);
  for (let i = 0; i < 200; i++) large.give('192.0.2.1');
  expect(large.take('192.0.2.1', true)).toBe(true);
});

const PAGE = 25_000;
const unreadOf = (all = new LargeAnswers(), drop = () => {}) => new Unread(all, '192.0.2.1', drop);

/** What a connection gets until it is spent. */
function untilSpent(unread: Unread, body: number, isPaid = false): number {
  let answers = 0;
  while (answers < 1_000 && !unread.isSpent) if (unread.sends(body, isPaid)) answers++;
  return answers;
}

test.each([
  ['pages that are just not large', PAGE, false, 11],
  ['large ones', 100_000, false, 3],
  ['large ones that a key has paid for', 100_000, true, 3],
  ['answers without a body', 0, false, 513],
  ['small ones that a key has paid for', PAGE, true, 1_000],
])('one connection gets so many %s, and no more', (_, body, isPaid, most) => {
  expect(untilSpent(unreadOf(), body, isPaid)).toBe(most);
});

test('where one address has its share of places, small answers end the connection and large ones are refused', () => {
  const all = new LargeAnswers();
  const others = Array.from({ length: 64 }, () => unreadOf(all));
  for (const other of others) other.sends(100_000, false);
  const [large, small] = [unreadOf(all), unreadOf(all)];
  expect([large.sends(100_000, false), large.isLarge, large.isSpent]).toEqual([false, false, false]);
  expect(small.sends(PAGE, false)).toBe(true);
  expect([small.isLarge, small.isSpent]).toEqual([false, false]);
  expect(small.sends(PAGE, false)).toBe(true);
  expect([small.isLarge, small.isSpent]).toEqual([true, true]);
  // Neither has a place that it could give back.
  large.closed();
  small.closed();
  expect(large.sends(100_000, false)).toBe(false);
  others[0]!.closed();
  expect(large.sends(100_000, false)).toBe(true);
});

test('where all have got too much, those go first whose last answer was first; who is gone counts no more', () => {
  const all = new LargeAnswers();
  const dropped: number[] = [];
  const many = Array.from(
    { length: 700 },
    (_, at) => new Unread(all, `192.0.2.${at}`, () => dropped.push(at)),
  );
  for (const one of many) one.sends(100_000, false);
  // 64 MiB are 667 of these.
  expect(dropped).toEqual(Array.from({ length: 33 }, (_, at) => at));
  for (const one of many.slice(34)) one.closed();
  const others = Array.from(
    { length: 666 },
    (_, at) => new Unread(all, `192.0.3.${at}`, () => dropped.push(-1)),
  );
  for (const one of others) one.sends(100_000, false);
  expect(dropped).toHaveLength(33);
  // The one that was left comes behind the others.
  many[33]!.sends(0, false);
  others[0]!.sends(0, false);
  unreadOf(all).sends(100_000, false);
  expect(dropped.slice(33)).toEqual([-1]);
});
