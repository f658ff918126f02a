import { describe, expect, test } from 'vitest';
import { watchFlood } from '../../src/http/flood.ts';

/** How often memory is given back, of so many connections in each second. */
function sweeps(counts: readonly number[]): number {
  let swept = 0;
  const tell = watchFlood(() => swept++);
  counts.forEach((count, second) => {
    for (let tenth = 0; tenth < 10; tenth++) tell(count, second * 1_000 + tenth * 100);
  });
  return swept;
}

const seconds = (count: number, connections: number) => Array<number>(count).fill(connections);

describe('memory is given back', () => {
  test.each<[string, number[], number]>([
    ['never where there are few connections', [...seconds(10, 450), ...seconds(10, 1)], 0],
    ['not while a flood lasts', seconds(20, 5_000), 0],
    ['not while most of them are still there', [...seconds(5, 5_000), ...seconds(20, 600)], 0],
    ['once when a flood is over', [...seconds(5, 5_000), ...seconds(50, 10)], 1],
    ['not at once', [...seconds(5, 5_000), ...seconds(2, 10)], 0],
    [
      'once a minute, however often floods come',
      Array.from({ length: 12 }, () => [...seconds(5, 5_000), ...seconds(5, 0)]).flat(),
      2,
    ],
  ])('%s', (_, counts, times) => {
    expect(sweeps(counts)).toBe(times);
  });

  test('by V8 itself', async () => {
    let isGone = false;
    const registry = new FinalizationRegistry(() => {
      isGone = true;
    });
    (() => registry.register({ big: new Array(1_000) }, 0))();
    const tell = watchFlood();
    tell(5_000, 0);
    tell(0, 1);
    tell(0, 4_000);
    for (let i = 0; i < 200 && !isGone; i++) await new Promise(resolve => setTimeout(resolve, 10));
    expect(isGone).toBe(true);
  });
});
