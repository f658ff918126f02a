import { describe, expect, test, vi } from 'vitest';
import {
  allowanceOf,
  dayOf,
  lastDays,
  monthOf,
  monthOfDay,
  resetAt,
  secondsLeft,
} from '../../src/core/quota.ts';

const at = (text: string) => Date.parse(text);

describe('a call is counted', () => {
  // In this order: each is asked for with another month remembered.
  test.each([
    ['2026-11-15T12:00:00Z', '2026-11', '2026-11-15'],
    ['2026-11-30T23:59:59.999Z', '2026-11', '2026-11-30'],
    ['2026-12-01T00:00:00Z', '2026-12', '2026-12-01'],
    ['2026-11-30T23:59:59.999Z', '2026-11', '2026-11-30'],
    ['2026-12-31T23:59:59.999Z', '2026-12', '2026-12-31'],
    ['2027-01-01T00:00:00Z', '2027-01', '2027-01-01'],
    ['2027-01-01T00:00:00.001Z', '2027-01', '2027-01-01'],
    ['2026-12-31T23:59:59.999Z', '2026-12', '2026-12-31'],
    ['2028-02-29T10:00:00Z', '2028-02', '2028-02-29'],
    ['2028-02-29T23:59:59.999Z', '2028-02', '2028-02-29'],
    ['2028-03-01T00:00:00Z', '2028-03', '2028-03-01'],
  ])('at %s in the month %s and on the day %s, in UTC', (moment, month, day) => {
    expect(monthOf(at(moment)).name).toBe(month);
    expect(dayOf(at(moment))).toBe(day);
    expect(monthOfDay(day)).toBe(month);
  });
});

test('a machine without a clock of its own begins in 1970, and that is a day as others', async () => {
  vi.resetModules();
  const anew = await import('../../src/core/quota.ts');
  expect(anew.dayOf(0)).toBe('1970-01-01');
  expect(anew.monthOf(0).name).toBe('1970-01');
});

test.each([
  ['2026-11-15T12:00:00Z', '2026-11-01', '2026-12-01'],
  ['2026-12-31T23:59:59Z', '2026-12-01', '2027-01-01'],
  ['2028-02-29T00:00:00Z', '2028-02-01', '2028-03-01'],
])('the month of %s begins on %s and ends with %s', (moment, start, end) => {
  const month = monthOf(at(moment));
  expect([month.start, month.end]).toEqual([at(start), at(end)]);
  expect(resetAt(month)).toBe(`${end}T00:00:00Z`);
  expect(monthOf(month.start)).toBe(month);
});

test('the last days end with today, the oldest first, over the end of a month', () => {
  expect(lastDays(at('2026-12-02T23:59:59Z'), 4)).toEqual([
    '2026-11-29',
    '2026-11-30',
    '2026-12-01',
    '2026-12-02',
  ]);
  expect(lastDays(at('2026-12-02T00:00:00Z'), 1)).toEqual(['2026-12-02']);
});

test.each<[number | null, number, number | null]>([
  [10, 3, 7],
  [10, 10, 0],
  // The quota was lowered in the middle of a month.
  [10, 12, 0],
  [0, 0, 0],
  [null, 12, null],
])('of a quota of %s with %i used, %s are left', (limit, used, remaining) => {
  const month = monthOf(at('2026-11-15'));
  expect(allowanceOf(limit, used, month)).toEqual({ limit, used, remaining, month });
});

test.each([
  ['2026-11-30T23:58:20Z', 100],
  ['2026-11-30T23:59:58.500Z', 2],
  ['2026-11-30T23:59:59.999Z', 1],
  ['2026-12-01T00:00:05Z', 1],
])('at %s a caller is told to wait for %i seconds', (now, seconds) => {
  expect(secondsLeft(monthOf(at('2026-11-15')), at(now))).toBe(seconds);
});
