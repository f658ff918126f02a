import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../src/core/ports.ts';
import type { Flag, Ranked } from '../src/core/ranking.ts';
import { allAtOnce } from '../src/core/steps.ts';
import type { Answer } from '../src/lookup.ts';
import { createRank } from '../src/rank.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 15, 12) });
});
afterEach(() => {
  vi.useRealTimers();
});

const DAY_MS = 86_400_000;

interface Today {
  readonly reason: string;
  readonly riskScore: number;
  readonly state?: string;
  readonly wellKnown?: boolean;
  readonly override?: object;
}

/** A store that writes down what it is told, and fails where a test says so. */
function world(
  facts: { rows?: Ranked[]; today?: Record<string, Today>; isProtected?: (name: string) => boolean } = {},
) {
  const at = {
    written: [] as Flag[][],
    since: [] as string[],
    failure: undefined as Error | undefined,
    slowMs: 0,
  };
  const errors: unknown[] = [];
  const rank = createRank({
    store: {
      async flag(flags: readonly Flag[], sinceDay: string) {
        if (at.slowMs > 0) await new Promise(resolve => setTimeout(resolve, at.slowMs));
        if (at.failure) throw at.failure;
        at.written.push([...flags]);
        at.since.push(sinceDay);
      },
      ranking: async () => facts.rows ?? [],
    } as unknown as Store,
    clock: Date.now,
    last(domain) {
      const {
        reason,
        riskScore,
        state = 'mx',
        wellKnown = false,
        override,
      } = facts.today?.[domain] ?? {
        reason: 'safe',
        riskScore: 0,
      };
      return { verdict: { reason, riskScore }, evidence: { mail: { state }, wellKnown, override } } as Answer;
    },
    mostAgreed: () => [],
    isProtected: facts.isProtected ?? (() => false),
    revision: () => 1,
    generation: () => 'a',
    inTurns: async steps => allAtOnce(steps),
    onError: error => errors.push(error),
  });
  onTestFinished(() => rank.close());
  return { at, errors, rank, second: () => vi.advanceTimersByTimeAsync(1_000) };
}

const flagged = (domain: string, reason = 'disposable') =>
  ({ verdict: { reason, riskScore: 95 }, flag: { domain, listed: true } }) as unknown as Answer;
const FLAG = {
  day: '2026-11-15',
  domain: 'spam.com',
  keyId: 'k1',
  listed: true,
  reason: 'disposable',
  score: 95,
};

describe('a verdict other than safe', () => {
  test('is written within a second, once for each key and day', async () => {
    const { at, rank, second } = world();
    rank.note(flagged('spam.com'), 'k1');
    rank.note(flagged('spam.com'), 'k1');
    rank.note(flagged('spam.com'), 'k2');
    expect(at.written).toEqual([]);
    await second();
    expect(at.written).toEqual([[FLAG, { ...FLAG, keyId: 'k2' }]]);
    rank.note(flagged('spam.com'), 'k1');
    await second();
    expect(at.written).toHaveLength(1);
  });

  test('counts again on the next day', async () => {
    const { at, rank, second } = world();
    rank.note(flagged('spam.com'), 'k1');
    await second();
    vi.setSystemTime(Date.now() + DAY_MS);
    rank.note(flagged('spam.com'), 'k1');
    await second();
    expect(at.written[1]).toEqual([{ ...FLAG, day: '2026-11-16' }]);
  });

  test('is counted, a safe one is not, nor one that is never ranked', async () => {
    const { at, rank, second } = world();
    rank.note(flagged('fine.com', 'safe'), 'k1');
    rank.note({ ...flagged('protected.com'), flag: undefined }, 'k1');
    await second();
    expect(at.written).toEqual([]);
  });

  test('is dropped beyond 5,000 a second, and there is room again in the next', async () => {
    const { at, rank, second } = world();
    for (let i = 0; i < 6_000; i++) rank.note(flagged(`d${i}.com`), `k${i % 6}`);
    await second();
    const [first] = at.written;
    expect([first!.length > 4_500, first!.length <= 5_000]).toEqual([true, true]);
    rank.note(flagged('d5999.com'), 'k1');
    await second();
    expect(at.written[1]).toMatchObject([{ domain: 'd5999.com' }]);
  });

  test('is dropped beyond 2,500 a day of one key, and there is room again on the next', async () => {
    const { at, rank, second } = world();
    const noteMany = () => {
      for (let i = 0; i < 3_000; i++) rank.note(flagged(`d${i}.com`), 'k1');
    };
    noteMany();
    await second();
    noteMany();
    rank.note(flagged('d2999.com'), 'k2');
    await second();
    expect(at.written.map(flags => flags.length)).toEqual([2_500, 1]);
    vi.setSystemTime(Date.now() + DAY_MS);
    noteMany();
    await second();
    expect(at.written[2]).toHaveLength(2_500);
  });

  test('is written beside any number that another key has, of two hundred keys too', async () => {
    const { at, rank, second } = world();
    for (let i = 0; i < 6_000; i++) rank.note(flagged(`d${i}.com`), 'k1');
    for (let i = 0; i < 1_000; i++) rank.note(flagged(`e${i}.com`), `key of others ${i % 200}`);
    await second();
    expect(at.written[0]!.filter(({ keyId }) => keyId !== 'k1')).toHaveLength(1_000);
  });

  test('waits for a store that fails, up to 5,000 of them, the oldest first', async () => {
    const { at, errors, rank, second } = world();
    at.failure = new Error('away');
    at.slowMs = 500;
    for (let i = 0; i < 3_000; i++) rank.note(flagged(`a${i}.com`), `k${i % 2}`);
    await second();
    // Those that come while it is asked have a bound of their own until it has failed.
    for (let i = 0; i < 2_400; i++) rank.note(flagged(`b${i}.com`), 'k2');
    await vi.advanceTimersByTimeAsync(500);
    expect(errors).toEqual([at.failure]);
    at.failure = undefined;
    await second();
    // Of what a leaves, three quarters.
    expect(at.written.map(flags => flags.length)).toEqual([4_500]);
    expect([at.written[0]![0]!.domain, at.written[0]![4_499]!.domain]).toEqual(['a0.com', 'b1499.com']);
  });

  test('that came just before the end is written', async () => {
    const { at, rank } = world();
    rank.note(flagged('spam.com'), 'k1');
    await rank.close();
    expect(at.written).toEqual([[FLAG]]);
  });
});

describe('what is older than 30 days is forgotten', () => {
  test('with whatever is written', async () => {
    const { at, rank, second } = world();
    rank.note(flagged('spam.com'), 'k1');
    await second();
    expect(at.since).toEqual(['2026-10-17']);
  });

  test('on each new day, though nothing is flagged any more; and once is enough', async () => {
    const { at, second } = world();
    await second();
    expect(at.since).toEqual([]);
    vi.setSystemTime(Date.now() + DAY_MS);
    await second();
    await second();
    expect(at.since).toEqual(['2026-10-18']);
    expect(at.written).toEqual([[]]);
  });

  test('in the next second where the store failed', async () => {
    const { at, second } = world();
    vi.setSystemTime(Date.now() + DAY_MS);
    at.failure = new Error('away');
    await second();
    at.failure = undefined;
    await second();
    expect(at.since).toEqual(['2026-10-18']);
  });
});

describe('a name that was flagged', () => {
  const row = (facts: Partial<Ranked> = {}): Ranked => ({
    domain: 'spam.com',
    times: 3,
    listed: false,
    reason: 'disposable',
    score: 84,
    lastDay: '2026-11-12',
    ...facts,
  });

  test.each<[string, Partial<Ranked>, Today, string[]]>([
    [
      'is shown with the verdict of today',
      {},
      { reason: 'undeliverable', riskScore: 90 },
      ['undeliverable 90'],
    ],
    ['is gone when it is safe today', {}, { reason: 'safe', riskScore: 3 }, []],
    [
      'is gone when that was more than three days ago and DNS was not asked since',
      { lastDay: '2026-11-11' },
      { reason: 'safe', riskScore: 40, state: 'unknown' },
      [],
    ],
    [
      'stands with the verdict that was given where DNS was not asked since',
      {},
      { reason: 'safe', riskScore: 40, state: 'not_asked' },
      ['disposable 84'],
    ],
    [
      'stands with the verdict that was given where DNS has no answer',
      {},
      { reason: 'safe', riskScore: 40, state: 'unknown' },
      ['disposable 84'],
    ],
    [
      'is gone where a list had decided it',
      { listed: true },
      { reason: 'safe', riskScore: 40, state: 'unknown' },
      [],
    ],
    [
      'is gone where it is well-known by now',
      {},
      { reason: 'safe', riskScore: 5, state: 'not_asked', wellKnown: true },
      [],
    ],
    [
      'is gone where an operator allows it',
      {},
      { reason: 'safe', riskScore: 0, state: 'not_asked', override: {} },
      [],
    ],
  ])('%s', async (_, facts, today, expected) => {
    const { rank } = world({ rows: [row(facts)], today: { 'spam.com': today } });
    const top = rank.top(undefined);
    await vi.advanceTimersByTimeAsync(300);
    expect((await top).rows.map(({ reason, riskScore }) => `${reason} ${riskScore}`)).toEqual(expected);
  });

  test.each<[string, object | undefined, number]>([
    ['is never shown where it is protected', undefined, 0],
    ['is shown where it is protected and an operator denies it', {}, 1],
  ])('%s', async (_, override, shown) => {
    const today = { 'spam.com': { reason: 'disposable', riskScore: 100, ...(override ? { override } : {}) } };
    const { rank } = world({ rows: [row()], today, isProtected: name => name === 'spam.com' });
    const top = rank.top(undefined);
    await vi.advanceTimersByTimeAsync(300);
    expect((await top).rows).toHaveLength(shown);
  });
});
