import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { callMany, type Seen, tally } from '../support/load.ts';
import { countOf, hasTool, type Running, read, startServer } from '../support/process.ts';
import { eventually, pause, sized } from '../support/scale.ts';

const BROKEN_MS = sized(2_500, 10_000);

/** Breaks the store under load, repairs it, and holds what callers and probes saw against the promise. */
async function breakAndRepair(server: Running, breakIt: () => void, repair: () => void): Promise<void> {
  const secret = server.firstKey!;
  const state = { going: true };
  const seen: Seen[] = [];
  const load = callMany({
    bases: [server.base],
    secret,
    callers: 6,
    calls: 1e9,
    goOn: () => state.going,
    onSeen: one => seen.push(one),
  });
  const lively: { status: number; ms: number }[] = [];
  const watch = (async () => {
    while (state.going) {
      const started = performance.now();
      const { status } = await server.get('/livez');
      lively.push({ status, ms: performance.now() - started });
      await pause(10);
    }
  })();
  await eventually('calls are answered', () => seen.length > 50);

  breakIt();
  const broken = performance.now();
  await eventually('calls fail', () => seen.some(one => one.status === 500), 10_000);
  await pause(BROKEN_MS / 2);
  const readiness = (await server.get('/readyz')).status;
  await pause(BROKEN_MS / 2);
  repair();
  const repaired = performance.now();
  const good = (since: number) => seen.some(one => one.startedAt > since && one.status === 200);
  await eventually('calls are answered again', () => good(repaired), 5_000);
  await eventually('ready again', async () => (await server.get('/readyz')).status === 200, 5_000);
  state.going = false;
  await load;
  await watch;

  expect(Object.keys(tally(seen)).sort()).toEqual(['200', '500']);
  // Answered while it was broken, and not with the repair: 0.9 s at most were measured (November 2026).
  const during = seen.filter(one => one.startedAt > broken && one.endedAt < repaired);
  expect(tally(during)).toEqual({ 500: expect.any(Number) });
  const failed = seen.filter(one => one.status === 500);
  expect(Math.max(...failed.map(one => one.endedAt - one.startedAt))).toBeLessThan(9_000);
  expect(JSON.parse(failed[0]!.body)).toMatchObject({ error: 'internal_error', detail: null });
  expect(lively.every(one => one.status === 200)).toBe(true);
  // The loop was never held: 40 ms were measured beside the load (November 2026).
  expect(Math.max(...lively.map(one => one.ms))).toBeLessThan(600);
  const id = String(read(join(server.folder, 'domain-risk.db'), 'SELECT id FROM key')[0]?.id);
  const counted = countOf(server.folder, id);
  expect(counted).toBeGreaterThanOrEqual(tally(seen)[200]!);
  expect(counted).toBeLessThanOrEqual(seen.length);
  expect(readiness).toBe(503);
}

test('a store that another process has locked: 500 within a second, alive, not ready, and well again by itself', async () => {
  const server = await startServer();
  const other = new DatabaseSync(join(server.folder, 'domain-risk.db'), { timeout: 5_000 });
  onTestFinished(() => other.close());
  await breakAndRepair(
    server,
    () => other.exec('BEGIN IMMEDIATE'),
    () => other.exec('ROLLBACK'),
  );
});

test('a disk that takes no more: 500 within a second, alive, not ready, and well again by itself', async () => {
  if (!hasTool('prlimit')) return;
  const server = await startServer();
  const limit = (size: string) => {
    const { status, stderr } = spawnSync('prlimit', ['--pid', `${server.pid}`, `--fsize=${size}:`], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
  };
  await breakAndRepair(
    server,
    () => limit('1'),
    () => limit('unlimited'),
  );
});
