import { expect, test } from 'vitest';
import {
  beginningOf,
  KEPT,
  latencyOf,
  NO_TRAFFIC,
  placesOf,
  RANGES,
  type Range,
  slotsAt,
} from '../../src/core/traffic.ts';

const NOW = Date.UTC(2026, 10, 16, 12, 34, 56);
const one = { ...NO_TRAFFIC, calls: 1 };

test.each([
  ['hour', 60, '2026-11-16T11:35:00.000Z', '2026-11-16T12:34:00.000Z'],
  ['day', 24, '2026-11-15T13:00:00.000Z', '2026-11-16T12:00:00.000Z'],
  ['week', 28, '2026-11-09T18:00:00.000Z', '2026-11-16T12:00:00.000Z'],
  ['month', 30, '2026-10-18T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
] as const)('the last %s has %i places, each with its own calls', (range, count, first, last) => {
  const { span, step } = RANGES[range];
  const begin = beginningOf(range, NOW);
  const [end] = slotsAt(NOW, one).filter(slot => slot.span === span);
  const slots = [
    { ...one, span, at: begin },
    { ...one, span, at: begin + step - span },
    { ...one, span, at: begin - span },
    end!,
  ];
  const places = placesOf(range, NOW, slots);
  expect(places).toHaveLength(count);
  expect(new Date(places[0]!.at).toISOString()).toBe(first);
  expect(new Date(places.at(-1)!.at).toISOString()).toBe(last);
  expect(places.map(({ traffic }) => traffic.calls)).toEqual([2, ...Array(count - 2).fill(0), 1]);
});

test('whatever can be looked at is still kept', () => {
  for (const range of Object.keys(RANGES) as Range[]) {
    const kept = KEPT.find(({ span }) => span === RANGES[range].span)!;
    expect(NOW - kept.forMs).toBeLessThan(beginningOf(range, NOW));
  }
});

test.each([
  [{}, 0.5, null],
  [{ t0: 10 }, 0.5, 0.05],
  [{ t2: 98, t7: 2 }, 0.5, 0.38],
  [{ t2: 98, t7: 2 }, 0.99, 17.5],
  [{ t3: 1 }, 1, 1],
  [{ t12: 3 }, 0.99, 2_500],
])('of %o the share %f took %f ms', (counts, share, ms) => {
  expect(latencyOf({ ...NO_TRAFFIC, ...counts }, share)).toBe(ms);
});
