/** What a server keeps of the names that it is asked for, to try updates on. */

import { expect, onTestFinished, test, vi } from 'vitest';
import { sampleAsked } from '../src/asked.ts';
import { inTurns } from '../src/assemble.ts';
import { type AskedNames, askedIn, MOST_NAMES, orderOf } from '../src/core/asked.ts';
import { allAtOnce } from '../src/core/steps.ts';
import { Memory } from '../src/dns/memory.ts';
import type { Lookup } from '../src/lookup.ts';

const VERDICTS: Readonly<Record<string, object>> = {
  'safe.com': { verdict: { reason: 'safe' }, degraded: false },
  'listed.com': { verdict: { reason: 'disposable' }, degraded: false },
  'dead.com': { verdict: { reason: 'undeliverable' }, degraded: false },
  'unknown.com': { verdict: { reason: 'safe' }, degraded: true },
};

/** By their places. */
const NAMES = ['safe.com', '!listed.com']
  .toSorted((a, b) => orderOf(a.replace('!', '')) - orderOf(b.replace('!', '')))
  .join(' ');

test('safe and disposable ones of the day, as many as are wanted; what nobody knows is left out', async () => {
  const kept: [AskedNames, string][] = [];
  let names = Object.keys(VERDICTS);
  const sampling = sampleAsked({
    store: { keepAsked: async (...asked) => void kept.push(asked) },
    resolver: {
      // biome-ignore lint/correctness/useYield: nothing to wait for.
      *recent(most, ms) {
        expect([most, ms]).toEqual([MOST_NAMES, 86_399_000]);
        return names;
      },
    },
    lookup: { last: (name => VERDICTS[name]) as Lookup['last'] },
    clock: () => Date.parse('2026-11-16T23:59:59Z'),
    inTurns,
    onError(error) {
      throw error;
    },
  });
  await sampling.keep();
  const server = expect.any(String);
  expect(kept).toEqual([[{ day: '2026-11-16', server, names: NAMES }, '2026-11-03']]);
  names = [];
  await sampling.keep();
  expect(kept).toHaveLength(1);
  names = ['safe.com'];
  await sampling.close();
  expect(kept).toHaveLength(2);
});

test('a name counts on the days on which it was asked for, to the last minute, and on no other', async () => {
  const HOUR = 3_600_000;
  vi.useFakeTimers({ now: Date.parse('2026-11-01T00:20:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const caps = { cacheEntries: 100, cacheBytes: 1e6, failureMemoMs: 30_000, staleMs: 72 * HOUR };
  const memory = new Memory(caps, Date.now);
  const found = { mail: { state: 'mx', exchanges: [], stale: false }, ttl: 9 * 86_400 } as const;
  const rows = new Map<string, AskedNames>();
  const sampling = sampleAsked({
    store: { keepAsked: async row => void rows.set(row.day, row) },
    resolver: { recent: (most, ms) => memory.names(most, ms) },
    lookup: { last: (() => VERDICTS['safe.com']) as unknown as Lookup['last'] },
    clock: Date.now,
    inTurns: async steps => allAtOnce(steps),
    onError(error) {
      throw error;
    },
  });
  const days: Readonly<Record<string, readonly number[]>> = {
    'twice.com': [1, 5],
    'again.com': [1, 2, 3, 4, 5, 6, 7],
  };
  const until = (text: string) => vi.advanceTimersByTimeAsync(Date.parse(text) - Date.now());
  for (let day = 1; day <= 9; day++) {
    await until(`2026-11-0${day}T23:30:00Z`);
    for (const [name, on] of Object.entries(days)) {
      // As a lookup does.
      if (on.includes(day) && !memory.recall(name, () => true)) memory.keep(name, found, 0, 'k');
    }
    // A refresh is nobody's question.
    await until(`2026-11-0${day}T23:40:00Z`);
    memory.keep('twice.com', found, 0);
  }
  await sampling.close();
  const dated = (name: string) =>
    [...rows.values()]
      .filter(row => row.names.split(' ').includes(name))
      .map(({ day }) => Number(day.slice(8)));
  expect(dated('twice.com')).toEqual(days['twice.com']);
  expect(dated('again.com')).toEqual(days['again.com']);
  expect(askedIn([...rows.values()]).get('again.com')?.isEstablished).toBe(true);
});
