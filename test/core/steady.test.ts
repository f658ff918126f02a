import { beforeEach, describe, expect, it } from 'vitest';
import { SteadyClock } from '../../src/core/steady.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 10, 15, 12);

let now: number;
let ticks: number;
beforeEach(() => {
  now = START;
  ticks = 5_000;
});

/** Lists that were updated then. */
const lists = (...updates: (number | null)[]) => ({ status: updates.map(updatedAt => ({ updatedAt })) });
const started = (lastDay: string | null = null, ...updates: (number | null)[]) => {
  const steady = new SteadyClock(
    () => now,
    () => ticks,
    lastDay,
    lists(...updates),
  );
  return (updated: number | null = START) => steady.isBelieved(lists(null, updated));
};
const pass = (ms: number) => {
  now += ms;
  ticks += ms;
};

describe('the days of a clock are believed', () => {
  it('at once, and for as long as it goes on like the time of the process', () => {
    const isBelieved = started();
    expect(isBelieved()).toBe(true);
    pass(400 * DAY_MS);
    expect(isBelieved()).toBe(true);
    now += DAY_MS;
    expect(isBelieved()).toBe(true);
  });

  it.each([-40, -2, 2, 40])('not for a day after it was set by %i days', days => {
    const isBelieved = started();
    now += days * DAY_MS;
    expect(isBelieved()).toBe(false);
    pass(DAY_MS - 1);
    expect(isBelieved()).toBe(false);
    pass(1);
    expect(isBelieved()).toBe(true);
  });

  it('nor for a day after it was put right', () => {
    const isBelieved = started();
    now -= 40 * DAY_MS;
    isBelieved();
    pass(23 * HOUR_MS);
    now += 40 * DAY_MS;
    expect(isBelieved()).toBe(false);
    pass(23 * HOUR_MS);
    expect(isBelieved()).toBe(false);
    pass(HOUR_MS);
    expect(isBelieved()).toBe(true);
  });

  it.each<[string, string | null, (number | null)[], boolean]>([
    ['of a new store', null, [], true],
    ['of a new store with lists of long ago', null, [START - 40 * DAY_MS], true],
    ['a fortnight after anybody was seen', '2026-11-02', [], true],
    ['later', '2026-11-01', [null], false],
    ['later, with lists of that time', '2026-10-06', [START - 40 * DAY_MS], false],
    ['later, with lists of a fortnight ago', '2026-10-06', [null, START - 14 * DAY_MS], true],
    ['before that, which was by a clock that was ahead', '2026-12-25', [], true],
  ])('at the start %s, or after a day', (_, lastDay, updates, expected) => {
    const isBelieved = started(lastDay, ...updates);
    expect(isBelieved()).toBe(expected);
    // An update that has come since says nothing: it has its day from this clock.
    expect(isBelieved(now)).toBe(expected);
    pass(DAY_MS);
    expect(isBelieved()).toBe(true);
  });

  it('where it is behind the last update of the lists only after a day', () => {
    now -= 40 * DAY_MS;
    const isBelieved = started();
    expect(isBelieved()).toBe(false);
    expect(isBelieved(now + DAY_MS)).toBe(true);
    pass(DAY_MS);
    expect(isBelieved()).toBe(true);
  });
});
