import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Looks, lookedAt } from '../../src/core/forgetting.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 18);
const days = (min: number, max: number) => fc.integer({ min: min * DAY, max: max * DAY });

test('clocks that are wrong by different amounts, one after the other, confirm none of them', () => {
  const apart = fc.uniqueArray(fc.integer({ min: -100, max: 100 }), {
    ...{ minLength: 1, maxLength: 6, selector: Math.abs },
  });
  fc.assert(
    fc.property(apart, days(0, 0.5), (steps, later) => {
      let looks: Looks = { previous: NOW, last: NOW };
      for (const step of steps.filter(one => one !== 0)) {
        const seen = lookedAt(NOW + step * 40 * DAY, looks);
        expect(seen.sureAt).toBeLessThanOrEqual(NOW);
        expect(seen.looks.previous).toBe(NOW);
        looks = seen.looks;
      }
      // By the right one it goes on at once.
      const right = lookedAt(NOW + later, looks);
      expect([right.sureAt, right.looks.previous]).toEqual([NOW + later, NOW + later]);
    }),
  );
});

test('whatever was seen before, a clock that stays is believed after a second day, and what goes by age goes on', () => {
  const look = fc.oneof(days(-4, 4), days(-40, 40), days(-20_000, 20_000));
  const seen = fc.record({ previous: look, last: look });
  fc.assert(
    fc.property(seen, fc.array(days(1, 31), { minLength: 2, maxLength: 9 }), (before, rests) => {
      let looks: Looks = { previous: NOW + before.previous, last: NOW + before.last };
      let now = NOW;
      looks = lookedAt(now, looks).looks;
      for (const rest of rests) {
        const last = now;
        now += rest;
        const { sureAt, looks: after } = lookedAt(now, looks);
        looks = after;
        if (last === NOW) continue;
        // Not refused, and no further behind than the update before.
        expect(looks.previous).toBeLessThanOrEqual(now);
        expect(sureAt).toBeGreaterThanOrEqual(last - DAY);
      }
    }),
  );
});
