/** Many keys as one answer. */

import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { KEYS_AT_ONCE } from '../../src/core/key-store.ts';
import { NO_VERDICTS, type VerdictCounts } from '../../src/core/mix.ts';
import { WINDOW_DAYS } from '../../src/core/quota.ts';
import { keysBytes } from '../../src/http/keys-page.ts';
import { type KeyUse, newKey } from '../../src/operate.ts';

const DAYS = Array.from({ length: WINDOW_DAYS }, (_, at) => at);
const useOf = (name: string): KeyUse => ({
  key: newKey({ name }, 1).key,
  used: 5,
  lastUsedAt: null,
  days: DAYS,
});

async function* pagesOf(uses: readonly KeyUse[]) {
  for (let at = 0; at < uses.length; at += KEYS_AT_ONCE) yield uses.slice(at, at + KEYS_AT_ONCE);
}

const mix = {
  read: async (ids: readonly string[]): Promise<ReadonlyMap<string, VerdictCounts>> =>
    new Map(ids.map(id => [id, { ...NO_VERDICTS, safe: 7 }])),
};

async function read(uses: readonly KeyUse[], most: number) {
  return JSON.parse((await keysBytes(pagesOf(uses), most, mix)).toString());
}

test('no key, one key and several pages of them are one list, and it is told whether more may follow', async () => {
  expect(await read([], 5)).toEqual({ keys: [], next: null });
  for (const count of [1, KEYS_AT_ONCE, 2 * KEYS_AT_ONCE + 1]) {
    const uses = Array.from({ length: count }, (_, at) => useOf(`Schlüssel ${at}`));
    const { keys, next } = await read(uses, count + 1);
    expect(keys.map(({ name }: { name: string }) => name)).toEqual(uses.map(({ key }) => key.name));
    expect(keys.at(-1)).toMatchObject({ used: 5, days: DAYS, verdicts: { safe: 7 }, last_used_at: null });
    expect(next).toBeNull();
    expect((await read(uses, count)).next).toBe(uses.at(-1)!.key.id);
  }
});

test('while many are written everybody else has turns', async () => {
  const uses = Array.from({ length: 5_000 }, (_, at) => useOf(`key ${at}`));
  const shares: number[] = [];
  // A busy machine may hold one of them up, but not all.
  for (let tries = 0; tries < 3; tries++) {
    let longest = 0;
    let isOver = false;
    const began = performance.now();
    // One page: what comes from the store is apart.
    const one = async function* () {
      yield uses;
    };
    const written = keysBytes(one(), 5_000, mix).finally(() => {
      isOver = true;
    });
    for (let last = performance.now(); !isOver; last = performance.now()) {
      await turn();
      longest = Math.max(longest, performance.now() - last);
    }
    await written;
    shares.push(longest / (performance.now() - began));
  }
  // Nearly all of it where it is made in one go; 0.02 were measured (2026-11-19).
  expect(Math.min(...shares)).toBeLessThan(0.3);
});
