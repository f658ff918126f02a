import { afterAll, beforeAll, expect, test } from 'vitest';
import { CALM, callMany, tally } from '../support/load.ts';
import { countOf, makeKey, type Running, run, runJson, startServer } from '../support/process.ts';
import { eventually } from '../support/scale.ts';

let server: Running;
const ends: (() => void | Promise<void>)[] = [];
beforeAll(async () => {
  server = await startServer({ cleanup: end => void ends.push(end) });
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function underLoad(limits: string[]) {
  const { folder } = server;
  const made = await makeKey(folder, ...limits);
  const state = { going: true, answered: 0 };
  const load = callMany({
    bases: [server.base],
    secret: made.key,
    callers: 8,
    restMs: CALM,
    calls: 1e9,
    goOn: () => state.going,
    onSeen: () => state.answered++,
  });
  await eventually('calls are answered', () => state.answered > 100);
  return { folder, made, load, state };
}

test('a key that is revoked by the command under load is refused from the next call on', async () => {
  const { folder, made, load, state } = await underLoad([]);
  expect((await run(['keys', 'revoke', made.id], { folder })).code).toBe(0);
  const revoked = performance.now();
  const before = state.answered;
  await eventually('calls after the revocation', () => state.answered > before + 100);
  state.going = false;
  const seen = await load;
  const later = seen.filter(one => one.startedAt > revoked);
  expect(tally(later)).toEqual({ 401: later.length });
  expect(Object.keys(tally(seen)).sort()).toEqual(['200', '401']);
  expect(countOf(folder, made.id)).toBe(tally(seen)[200]);
});

test('a quota that the command lowers and raises under load keeps what was used', async () => {
  const { folder, made, load, state } = await underLoad(['--quota', '1000000']);
  await runJson(['keys', 'update', made.id, '--quota', '10'], { folder });
  const lowered = performance.now();
  const used = countOf(folder, made.id);
  const before = state.answered;
  await eventually('calls with the lower quota', () => state.answered > before + 50);
  expect(countOf(folder, made.id)).toBe(used);
  await runJson(['keys', 'update', made.id, '--quota', `${used + 20}`], { folder });
  const raised = performance.now();
  await eventually('calls with the higher quota', () => countOf(folder, made.id) === used + 20);
  state.going = false;
  const seen = await load;
  const between = seen.filter(one => one.startedAt > lowered && one.endedAt < raised && one.status === 429);
  expect(between.length).toBeGreaterThan(0);
  expect(between.every(one => one.remaining === 0)).toBe(true);
  // A call that a busy machine did not count in time is a 500, and may be counted all the same.
  const { 200: answered = 0, 500: late = 0, ...others } = tally(seen);
  expect(Object.keys(others)).toEqual(['429']);
  expect(late).toBeLessThan(0.1 * seen.length);
  expect(answered).toBeLessThanOrEqual(used + 20);
  expect(answered + late).toBeGreaterThanOrEqual(used + 20);
  expect(countOf(folder, made.id)).toBe(used + 20);
});
