import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../src/core/ports.ts';
import { dayOf } from '../src/core/quota.ts';
import type { FlagReason, Ranked } from '../src/core/ranking.ts';
import type { Steps } from '../src/core/steps.ts';
import type { Answer } from '../src/lookup.ts';
import { createRank } from '../src/rank.ts';
import { eventually, pause } from './support/scale.ts';

const CANDIDATES = 5_000;

const rowOf = (row: Partial<Ranked>): Ranked => ({
  domain: 'x.example',
  times: 1,
  listed: true,
  reason: 'disposable',
  score: 90,
  lastDay: dayOf(Date.now()),
  ...row,
});

const disposable = (riskScore: number) => ({ verdict: { reason: 'disposable', riskScore } }) as const;
const safe = { verdict: { reason: 'safe', riskScore: 10 } } as const;

/** Verdicts, a store and a catalog that a test can change at any moment; counts what is asked of them. */
function world() {
  const at = {
    rows: [] as Ranked[],
    verdicts: new Map<string, { verdict: { reason: FlagReason | 'safe'; riskScore: number } }>(),
    agreed: [] as string[],
    revision: 1,
    generation: 'a',
    judged: 0,
    asked: 0,
    /** Most names judged between two turns of the event loop. */
    atOnce: 0,
    atStep: () => {},
    store: undefined as Error | undefined,
    slowMs: 0,
  };
  async function inTurns<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const before = at.judged;
      const { done, value } = steps.next();
      at.atOnce = Math.max(at.atOnce, at.judged - before);
      if (done) return value;
      at.atStep();
      await turn();
    }
  }
  const rank = createRank({
    store: {
      flag: async () => {},
      async ranking(_since: string, most: number, reason: string | undefined) {
        at.asked++;
        if (at.slowMs > 0) await pause(at.slowMs);
        if (at.store) throw at.store;
        return at.rows.filter(row => reason === undefined || row.reason === reason).slice(0, most);
      },
    } as unknown as Store,
    clock: Date.now,
    last(domain) {
      at.judged++;
      const evidence = { override: undefined, mail: { state: 'not_asked' }, wellKnown: false };
      return { ...(at.verdicts.get(domain) ?? disposable(90)), evidence } as unknown as Answer;
    },
    mostAgreed: count => at.agreed.slice(0, count),
    isProtected: () => false,
    revision: () => at.revision,
    generation: () => at.generation,
    inTurns,
    onError: error => {
      throw error;
    },
  });
  onTestFinished(() => rank.close());
  return { at, rank };
}

const names = (rows: readonly { domain: string }[]) => rows.map(({ domain }) => domain);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('a list', () => {
  test('is made once for a thousand callers, whatever part of it they want', async () => {
    const { at, rank } = world();
    at.rows = upTo(CANDIDATES).map(i => rowOf({ domain: `d${i}.example`, times: CANDIDATES - i }));
    const lists = await Promise.all(upTo(1_000).map(() => rank.top(undefined)));
    const [list] = lists;
    expect(at.judged).toBe(CANDIDATES);
    expect(at.asked).toBe(1);
    expect(names(list!.rows)).toEqual(upTo(1_000).map(i => `d${i}.example`));
    expect(new Set(lists).size).toBe(1);
    expect(Object.isFrozen(list!.rows)).toBe(true);
    expect(await rank.top(undefined)).toBe(list);
    expect(list!.first(10)).toEqual(list!.rows.slice(0, 10));
    expect([at.judged, at.asked]).toEqual([CANDIDATES, 1]);
  });

  test('is made of what the store has found before where that took it long, whatever is asked for', async () => {
    const { at, rank } = world();
    at.rows = [rowOf({ domain: 'a.example' })];
    const reasons: (FlagReason | undefined)[] = ['disposable', 'undeliverable', 'role_account', undefined];
    const askAll = async () => {
      for (const reason of reasons) await rank.top(reason);
      // For another list, not the one that is kept.
      at.revision++;
    };
    await askAll();
    await askAll();
    const quick = at.asked;
    expect(quick).toBeGreaterThan(8);
    at.slowMs = 200;
    await askAll();
    at.asked = 0;
    await askAll();
    expect(at.asked).toBe(0);
  });

  test('is made in steps of a hundred names, its filling too', async () => {
    const { at, rank } = world();
    at.rows = upTo(CANDIDATES).map(i => rowOf({ domain: `d${i}.example` }));
    for (const { domain } of at.rows.slice(300)) at.verdicts.set(domain, safe);
    at.agreed = upTo(3_000).map(i => `f${i}.example`);
    expect((await rank.top(undefined)).first(1_000)).toHaveLength(1_000);
    expect(at.judged).toBe(CANDIDATES + 700);
    // 0.6 ms with real verdicts (2026-11-15).
    expect(at.atOnce).toBeLessThanOrEqual(100);
  });

  test('is the same in portions as at once: by times, then score, then name', async () => {
    const { at, rank } = world();
    at.rows = upTo(CANDIDATES).map(i =>
      rowOf({ domain: `d${(i * 7919) % CANDIDATES}.example`, times: 1 + (i % 3) }),
    );
    for (const [i, { domain }] of at.rows.entries()) at.verdicts.set(domain, disposable(80 + (i % 21)));
    const sorted = at.rows
      .map(({ domain, times }) => ({ domain, times, score: at.verdicts.get(domain)!.verdict.riskScore }))
      .sort((a, b) => b.times - a.times || b.score - a.score || (a.domain < b.domain ? -1 : 1));
    expect(names((await rank.top(undefined)).first(1_000))).toEqual(names(sorted.slice(0, 1_000)));
  });

  test('is made anew after a second', async () => {
    const { at, rank } = world();
    at.rows = [rowOf({})];
    await rank.top(undefined);
    await pause(1_100);
    at.rows = [rowOf({ domain: 'other.example' })];
    expect(names((await rank.top(undefined)).first(1))).toEqual(['other.example']);
    expect(at.asked).toBe(2);
  });

  test('is let go when nobody asks for it any more', async () => {
    const { at, rank } = world();
    at.rows = [rowOf({})];
    const list = new WeakRef(await rank.top(undefined));
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await eventually('nobody holds it', async () => {
      await turn();
      collect();
      return list.deref() === undefined;
    });
  });
});

describe('what fills a list', () => {
  test('is shown in the order of the feeds, whatever the score', async () => {
    const { at, rank } = world();
    at.rows = [rowOf({ domain: 'seen.example' })];
    at.agreed = ['z.example', 'seen.example', 'y.example', 'cleared.example', 'a.example', 'b.example'];
    at.verdicts.set('cleared.example', safe).set('y.example', disposable(100));
    expect(names((await rank.top(undefined)).first(1))).toEqual(['seen.example']);
    expect(names((await rank.top(undefined)).first(3))).toEqual(['seen.example', 'z.example', 'y.example']);
    expect(names((await rank.top(undefined)).first(3, true))).toEqual(['seen.example']);
    const all = ['seen.example', 'z.example', 'y.example', 'a.example', 'b.example'];
    expect(names((await rank.top('disposable')).first(1_000))).toEqual(all);
    expect((await rank.top('undeliverable')).first(1_000)).toEqual([]);
  });
});

describe('a change shows at once:', () => {
  test("another revision of the operator's overrides", async () => {
    const { at, rank } = world();
    at.rows = [rowOf({ domain: 'a.example' }), rowOf({ domain: 'b.example' })];
    expect(names((await rank.top(undefined)).first(10))).toEqual(['a.example', 'b.example']);
    at.verdicts.set('a.example', safe);
    at.revision++;
    expect(names((await rank.top(undefined)).first(10))).toEqual(['b.example']);
  });

  test('another catalog', async () => {
    const { at, rank } = world();
    at.rows = [rowOf({ domain: 'a.example' })];
    await rank.top('disposable');
    at.verdicts.set('a.example', safe);
    at.generation = 'b';
    expect((await rank.top('disposable')).first(10)).toEqual([]);
  });

  test('a revision that comes while a list is being made, to whoever asks from then on', async () => {
    const { at, rank } = world();
    at.rows = upTo(500).map(i => rowOf({ domain: `d${i}.example`, times: 500 - i }));
    const later: ReturnType<typeof rank.top>[] = [];
    at.atStep = () => {
      // The first names have been judged: this list is too old for it.
      if (at.judged < 100 || later.length > 0) return;
      at.verdicts.set('d0.example', safe);
      at.revision++;
      for (let i = 0; i < 10; i++) later.push(rank.top(undefined));
    };
    await rank.top(undefined);
    for (const one of await Promise.all(later)) expect(names(one.first(1))).toEqual(['d1.example']);
    // All ten shared one list.
    expect(at.asked).toBe(2);
    expect(at.judged).toBe(1_000);
  });

  test('a catalog that comes while a list is being made: no list mixes two, however often that happens', async () => {
    const { at, rank } = world();
    at.rows = upTo(500).map(i => rowOf({ domain: `d${i}.example`, times: 500 - i }));
    let changes = 0;
    at.atStep = () => {
      changes++;
      at.generation = `g${changes}`;
      for (const { domain } of at.rows) at.verdicts.set(domain, disposable(50 + (changes % 40)));
    };
    const rows = (await rank.top(undefined)).first(500);
    expect(rows).toHaveLength(500);
    expect(new Set(rows.map(row => row.riskScore)).size).toBe(1);
    // The third time in one go.
    expect(at.judged).toBe(1_500);
  });
});

test('a store that fails, fails those who asked, and the next caller has a list', async () => {
  const { at, rank } = world();
  at.rows = [rowOf({})];
  at.store = new Error('later');
  const outcomes = await Promise.allSettled(upTo(5).map(() => rank.top(undefined)));
  for (const one of outcomes) expect(one).toMatchObject({ reason: { message: 'later' } });
  expect(at.asked).toBe(1);
  at.store = undefined;
  expect((await rank.top(undefined)).first(1)).toHaveLength(1);
});
