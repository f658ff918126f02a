import { describe, expect, test } from 'vitest';
import { takeToken } from '../../src/core/rate.ts';
import { SharedBuckets } from '../../src/core/shared-rate.ts';

/** Calls at these ticks with a limit of so many a second; the bucket is full at tick 0. */
function calls(rate: number, ticks: readonly number[]) {
  const bucket = { tokens: Math.max(1, rate), at: 0 };
  return ticks.map(now => {
    const token = takeToken(bucket, rate, now);
    return token.ok ? 'served' : token.retryAfter;
  });
}

/** The same where several threads serve it, each of which has one call after the other. */
function sharedCalls(rate: number, ticks: readonly number[]) {
  const memory = SharedBuckets.newMemory();
  const threads = Array.from({ length: 3 }, () => new SharedBuckets(memory));
  return ticks.map((now, at) => {
    const token = threads[at % 3]!.take('key_1', rate, now);
    return token.ok ? 'served' : token.retryAfter;
  });
}

describe('a key with a limit of calls per second', () => {
  test.each<[string, number, number[], ('served' | number)[]]>([
    ['may use a whole second at once', 3, [0, 0, 0], ['served', 'served', 'served']],
    [
      'is refused beyond it, and told to come back in a second',
      3,
      [0, 0, 0, 0],
      ['served', 'served', 'served', 1],
    ],
    [
      'has one more call as soon as its part of the second is over',
      2,
      [0, 0, 499, 500],
      ['served', 'served', 1, 'served'],
    ],
    [
      'pays for a call that was served, not for one that was refused',
      2,
      [0, 0, 0, 0, 500],
      ['served', 'served', 1, 1, 'served'],
    ],
    ['saves nothing beyond one second', 2, [10_000, 10_000, 10_000], ['served', 'served', 1]],
    [
      'of less than one a second may make one call, and waits for the next',
      0.1,
      [0, 0, 4_999, 10_000],
      ['served', 10, 6, 'served'],
    ],
    ['of less than one a second saves one call, not more', 0.1, [60_000, 60_000], ['served', 10]],
  ])('%s', (_, rate, ticks, expected) => {
    expect(calls(rate, ticks)).toEqual(expected);
    expect(sharedCalls(rate, ticks)).toEqual(expected);
  });

  test('that was lowered has no more than the new limit left', () => {
    const bucket = { tokens: 100, at: 0 };
    const served = Array.from({ length: 10 }, () => takeToken(bucket, 5, 0)).filter(({ ok }) => ok);
    expect(served).toHaveLength(5);
  });

  test('that was lowered has no more than the new limit left, where threads share it', () => {
    const buckets = new SharedBuckets(SharedBuckets.newMemory());
    buckets.take('key_1', 100, 1_000);
    const served = Array.from({ length: 10 }, () => buckets.take('key_1', 5, 1_100)).filter(({ ok }) => ok);
    expect(served).toHaveLength(5);
  });
});

describe('keys whose limits several threads share', () => {
  test('have each their own', () => {
    const buckets = new SharedBuckets(SharedBuckets.newMemory());
    const served = Array.from({ length: 10_000 }, (_, at) => buckets.take(`key_${at}`, 1, 5_000));
    expect(served.every(({ ok }) => ok)).toBe(true);
    expect(buckets.take('key_77', 1, 5_000).ok).toBe(false);
  });

  test('are more than there are places: one that has been quiet for a second gives way, and loses nothing', () => {
    const buckets = new SharedBuckets(SharedBuckets.newMemory(4));
    for (let at = 0; at < 100; at++) expect(buckets.take(`key_${at}`, 1, at * 2_000).ok).toBe(true);
    expect(buckets.take('key_99', 1, 99 * 2_000).ok).toBe(false);
    expect(buckets.take('key_0', 1, 99 * 2_000).ok).toBe(true);
  });
});
