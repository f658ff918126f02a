import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Caller, Job } from '../../src/http/accounts.ts';
import { Fairness } from '../../src/http/fairness.ts';

/** Time that passes only where somebody works or waits, so that seconds of overload take milliseconds. */
let now = 1_000;
let turns: (() => void)[] = [];
beforeEach(() => {
  vi.stubGlobal('performance', { now: () => now });
  vi.stubGlobal('setImmediate', (turn: () => void) => turns.push(turn));
  vi.stubGlobal('clearImmediate', () => {});
});
afterEach(() => {
  vi.unstubAllGlobals();
  turns = [];
});

interface Told {
  served: number;
  refused: number;
  longest: number;
  /** Of those who were served in the last second. */
  servedLast: number[];
}

/** So many jobs of a millisecond for each of so many milliseconds, and now and then one of somebody else. */
function overload(ms: number, perMs: number, kind: Caller['kind'] = 'stranger', isProxy = false) {
  const fairness = new Fairness({ isFull: () => false, isBehind: () => false });
  const until = now + ms;
  const told: Record<string, Told> = {};
  const arrive = (name: string, proxy: boolean) => {
    told[name] ??= { served: 0, refused: 0, longest: 0, servedLast: [] };
    const of = told[name];
    const since = now;
    const deal = (outcome: 'served' | 'refused') => {
      of[outcome]++;
      of.longest = Math.max(of.longest, now - since);
      if (outcome === 'served' && since > until - 1_000 && now < until) of.servedLast.push(now - since);
    };
    const job: Job = {
      caller: () => ({ name, kind }),
      work() {
        now += 1;
        deal('served');
        return 1_000;
      },
      shed: () => deal('refused'),
      isProxy: proxy,
    };
    fairness.arrive(job);
  };
  let owed = 0;
  let modestAt = 0;
  while (now < until) {
    const before = now;
    if (now >= modestAt) {
      arrive('modest', false);
      modestAt = now + 50;
    }
    for (; owed >= 1; owed--) arrive('greedy', isProxy);
    for (const turn of turns.splice(0)) turn();
    if (now === before) now += 1;
    owed += (now - before) * perMs;
  }
  for (let turn = 0; fairness.waiting > 0 && turn < 10_000; turn++) {
    for (const one of turns.splice(0)) one();
    now += 1;
  }
  expect(fairness.waiting).toBe(0);
  fairness.close();
  return { greedy: told.greedy!, modest: told.modest! };
}

test.each(['stranger', 'key'] as const)(
  'of a %s who asks for three times what can be done, a part is refused, and nobody else',
  kind => {
    const { greedy, modest } = overload(5_000, 3, kind);
    expect(greedy.refused).toBeGreaterThan(2_000);
    expect(greedy.served).toBeGreaterThan(2_000);
    expect(modest).toMatchObject({ refused: 0 });
    expect(modest.longest).toBeLessThan(100);
  },
);

test('nobody waits for much longer than a second, to be served or refused', () => {
  expect(overload(5_000, 3).greedy.longest).toBeLessThan(1_500);
});

test('of who asks for too much the newest are served: the oldest have waited for nothing', () => {
  const waits = overload(5_000, 3).greedy.servedLast.sort((one, other) => one - other);
  // 6 ms; 896 where the oldest come first (2026-11-15).
  expect(waits[Math.floor(waits.length / 2)]).toBeLessThan(100);
});

test('a burst that is worked off in time is served whole', () => {
  expect(overload(150, 4).greedy.refused).toBe(0);
});

test('who asks for a little less than can be done is never refused', () => {
  expect(overload(5_000, 0.8).greedy.refused).toBe(0);
});

test('what a proxy brings beyond what can be done is refused as well', () => {
  const { greedy, modest } = overload(5_000, 3, 'stranger', true);
  expect(greedy.refused).toBeGreaterThan(2_000);
  expect(modest.refused).toBe(0);
});
