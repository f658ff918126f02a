import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Pending } from '../../src/core/pending.ts';

describe('what waits its turn', () => {
  test.each([
    [['a'], [75]],
    [
      ['a', 'b'],
      [75, 19],
    ],
    [
      ['a', 'b', 'c'],
      [75, 19, 5],
    ],
  ])('of %j, each with all that it can have, one after the other', (keys, shares) => {
    const pending = new Pending<string>(100);
    for (const key of keys) while (pending.add(key, key));
    const counts = Map.groupBy(pending.take(), key => key);
    expect(keys.map(key => counts.get(key)!.length)).toEqual(shares);
  });

  test('is in order, once, and then there is room again', () => {
    const pending = new Pending<number>(4);
    for (const one of [1, 2, 3, 4]) pending.add(one, 'a');
    expect([pending.size, pending.hasRoom('a'), pending.hasRoom('b')]).toEqual([3, false, true]);
    expect([pending.take(), pending.take(), pending.hasRoom('a')]).toEqual([[1, 2, 3], [], true]);
  });

  test('never is more than there is room for, and no key alone has it all, however they come', () => {
    const keys = fc.array(fc.nat({ max: 20 }), { maxLength: 500 });
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 100 }), keys, (most, came) => {
        const pending = new Pending<number>(most);
        for (const key of came) pending.add(key, String(key));
        const waiting = pending.take();
        expect(waiting.length).toBeLessThanOrEqual(most);
        for (const of of Map.groupBy(waiting, key => key).values())
          expect(of.length).toBeLessThanOrEqual(Math.ceil((most * 3) / 4));
      }),
    );
  });
});
