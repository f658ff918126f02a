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
/** What a connection gets until it is spent. */
function untilSpent(unread: Unread, body: number, isPaid = false): number {
  let bytes = 0;
  for (let i = 0; i < 2_000 && !unread.isSpent; i++) if (unread.sends(body, isPaid)) bytes += body;
  return bytes;
}

test.each([
  ['pages that are just not large', PAGE, false, 8 * 2 * PAGE],
  ['large ones', 100_000, false, 8 * 100_000],
  ['large ones that a key has paid for', 100_000, true, 8 * 100_000],
])('one connection gets so many %s, and no more', (_, body, isPaid, most) => {
  expect(untilSpent(new Unread(new LargeAnswers(), '192.0.2.1'), body, isPaid)).toBe(most);
});

test('answers without a body come to an end, too, unless a key has paid for them', () => {
  const unread = () => new Unread(new LargeAnswers(), '192.0.2.1');
  const count = (one: Unread, isPaid: boolean) => {
    let answers = 0;
    for (; answers < 1_000 && !one.isSpent; answers++) one.sends(0, isPaid);
    return answers;
  };
  expect(count(unread(), false)).toBeLessThanOrEqual((8 * 33 * 1024) / 512);
  expect(count(unread(), true)).toBe(1_000);
});

test('where one address has its share of places, small answers end the connection and large ones are refused', () => {
  const all = new LargeAnswers();
  const others = Array.from({ length: 64 }, () => new Unread(all, '192.0.2.1'));
  for (const other of others) other.sends(100_000, false);
  const [large, small] = [new Unread(all, '192.0.2.1'), new Unread(all, '192.0.2.1')];
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
