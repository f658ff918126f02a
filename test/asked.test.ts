/** What a server keeps of the names that it is asked for, to try updates on. */

import { expect, test } from 'vitest';
import { sampleAsked } from '../src/asked.ts';
import { inTurns } from '../src/assemble.ts';
import { type AskedNames, MOST_NAMES, orderOf } from '../src/core/asked.ts';
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
      *recent(most) {
        expect(most).toBe(MOST_NAMES);
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
