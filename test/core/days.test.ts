import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayAt, dayFrom, dayText, packDays, runsOf, spread, unpackDays } from '../../src/core/days.ts';

it.each([
  ['1970-01-02', 1],
  ['2026-11-15', 20_772],
  ['2149-06-06', 65_535],
])('%s is day %i', (text, day) => {
  expect(dayFrom(text)).toBe(day);
  expect(dayText(day)).toBe(text);
  expect(dayAt(Date.parse(`${text}T23:59:59.999Z`))).toBe(day);
});

it.each(['', 'yesterday', '2026-13-01', '2026-11-15T00:00', '1969-12-31', '20261115'])(
  'of %j no day is told',
  text => {
    expect(dayFrom(text)).toBe(0);
  },
);

it('a day that nobody tells is none, and one beyond what two bytes hold is the last', () => {
  expect(dayText(0)).toBeNull();
  expect([dayAt(-1), dayAt(1e18)]).toEqual([0, 65_535]);
});

it.each([[[]], [[7]], [[7, 7, 7]], [[1, 1, 2, 1, 0, 0]]])('%j comes back from its runs', values => {
  const back = new Uint16Array(values.length + 2);
  expect(spread(runsOf(values), back, 1)).toBe(1 + values.length);
  expect([...back]).toEqual([0, ...values, 0]);
});

it('what is equal takes one run, and what does not fit is left out', () => {
  expect(runsOf(new Uint16Array(500).fill(9))).toEqual([[9, 500]]);
  const short = new Uint8Array(2);
  spread([[3, 1_000_000]], short, 0);
  expect([...short]).toEqual([3, 3]);
});

describe('days of many names', () => {
  it('come back as they were, whatever they are', () => {
    const runs = fc.array(fc.tuple(fc.nat(2 ** 16 - 1), fc.integer({ min: 1, max: 20 })));
    const mixed = runs.map(some => Uint16Array.from(some.flatMap(([day, times]) => Array(times).fill(day))));
    fc.assert(
      fc.property(fc.oneof(mixed, fc.uint16Array()), days => {
        expect(unpackDays(packDays(days), days.length)).toEqual(days);
      }),
    );
  });

  it('take no room for a list that came on few of them, and never more than two bytes each', () => {
    expect(packDays(new Uint16Array(100_000).fill(20_000)).byteLength).toBe(8);
    expect(packDays(Uint16Array.from({ length: 1_000 }, (_, at) => at)).byteLength).toBe(2_000);
    expect(packDays(new Uint16Array([1, 1, 1, 1])).byteLength).toBe(8);
  });
});
