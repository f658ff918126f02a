import { expect, test } from 'vitest';
import { LargeAnswers } from '../../src/http/large.ts';

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
