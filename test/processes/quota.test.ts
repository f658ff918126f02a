import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../src/core/ports.ts';
import { newKey } from '../../src/operate.ts';
import { LOCK_WAIT_MS } from '../../src/store/sqlite/lock.ts';
import { ACT } from '../support/act.ts';
import { callMany, type Seen, tally } from '../support/load.ts';
import { countOf, openBeside, type Running, read, startServer } from '../support/process.ts';
import { sized } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';
import { isStarved } from '../support/vitals.ts';

/** The most servers disagree most easily: fewer of them are for the full form. */
const SERVERS = sized(3, 4);
const TOGETHER = sized([SERVERS], [1, 2, SERVERS]);
const QUOTAS = sized([0, 1, 150], [0, 1, 100, 1003]);
const CALLERS = sized(48, 200);

/** What the store took longer for than a call waits. */
const late = ({ startedAt, endedAt }: Seen) => endedAt - startedAt >= LOCK_WAIT_MS;

let servers: Running[] = [];
let folder = '';
let store: Store;
const ends: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  const cleanup = (end: () => void | Promise<void>) => void ends.push(end);
  folder = temporaryFolder(cleanup);
  const first = await startServer({ folder, cleanup });
  const others = await Promise.all(
    Array.from({ length: SERVERS - 1 }, () => startServer({ folder, cleanup })),
  );
  servers = [first, ...others];
  store = await openBeside(folder, cleanup);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function makeKey(quota: number | null) {
  const made = newKey({ name: 'quota', quota }, Date.now());
  await store.createKey(made.key, ACT);
  return made;
}

test('several servers that share a store made one first key between them', async () => {
  expect(servers.filter(server => server.firstKey !== undefined)).toHaveLength(1);
  expect(read(join(folder, 'domain-risk.db'), "SELECT name FROM key WHERE name = 'first'")).toHaveLength(1);
});

describe.each(TOGETHER)('with %i servers on one store', processes => {
  test.each(QUOTAS)('a quota of %i admits exactly that many calls', async quota => {
    const { key, secret } = await makeKey(quota);
    const bases = servers.slice(0, processes).map(server => server.base);
    const seen = await callMany({ bases, secret, callers: CALLERS, calls: 4 * quota + 8 });
    const of = (status: number) => seen.filter(one => one.status === status);
    const left = of(200).map(one => one.remaining!);
    const inDoubt = of(500);
    expect(tally(seen)).toEqual(tally([...of(200), ...of(429), ...inDoubt]));
    expect(new Set(left).size).toBe(left.length);
    expect(left.every(count => count < quota)).toBe(true);
    expect(of(429).every(one => one.remaining === 0)).toBe(true);
    // On a machine so busy that the store is late: its call may be counted, and is one of the quota then.
    if (!servers.some(({ pid }) => isStarved(pid))) expect(inDoubt).toEqual([]);
    expect(inDoubt.every(late)).toBe(true);
    expect(left.length).toBeLessThanOrEqual(quota);
    expect(left.length + inDoubt.length).toBeGreaterThanOrEqual(quota);
    expect(countOf(folder, key.id)).toBe(quota);
  });
});

test('a HEAD is counted as a GET is, and so is a call that answers 422', async () => {
  const { key, secret } = await makeKey(6);
  const [base] = servers.map(server => server.base);
  const load = { bases: [base!], secret, callers: 1, calls: 3 };
  expect(tally(await callMany({ ...load, method: 'HEAD' }))).toEqual({ 200: 3 });
  expect(tally(await callMany({ ...load, path: '/v1/public/domain/nodot' }))).toEqual({ 422: 3 });
  expect(countOf(folder, key.id)).toBe(6);
  expect(tally(await callMany({ ...load, path: '/v1/public/domain/nodot' }))).toEqual({ 429: 3 });
  expect(countOf(folder, key.id)).toBe(6);
});
