/** Breaks a store under load, repairs it, and holds what callers and probes saw against the promise. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'vitest';
import { callMany, type Seen, tally } from './load.ts';
import type { Running } from './process.ts';
import { eventually, pause, sized } from './scale.ts';

/** Of each caller between two calls, and between two looks whether it lives. */
const REST = sized({ callMs: 40, lookMs: 30 }, { callMs: 0, lookMs: 10 });

export interface Breaking {
  readonly server: Running;
  readonly secret: string;
  /** What a separate reader finds counted for this key. */
  readonly counted: () => number | Promise<number>;
  /** How long it stays broken after all have noticed. */
  readonly ms: number;
  readonly breakIt: () => void | Promise<void>;
  readonly repair: () => void | Promise<void>;
}

export async function breakAndRepair(breaking: Breaking): Promise<void> {
  const { server, secret, counted, ms, breakIt, repair } = breaking;
  const before = await counted();
  const state = { going: true };
  const seen: Seen[] = [];
  const load = callMany({
    bases: [server.base],
    secret,
    callers: 6,
    restMs: REST.callMs,
    calls: 1e9,
    goOn: () => state.going,
    onSeen: one => seen.push(one),
  });
  // What the tester's own event loop was late is no fault of the server's.
  const own = monitorEventLoopDelay({ resolution: 10 });
  own.enable();
  const lively: { status: number; ms: number }[] = [];
  const watch = (async () => {
    while (state.going) {
      const started = performance.now();
      const { status } = await server.get('/livez');
      lively.push({ status, ms: performance.now() - started });
      await pause(REST.lookMs);
    }
  })();
  await eventually('calls are answered', () => seen.length > 50);

  await breakIt();
  const broken = performance.now();
  await eventually('calls fail', () => seen.some(one => one.status === 500), 10_000);
  // Being ready is proved once a second.
  await eventually('not ready', async () => (await server.get('/readyz')).status === 503, 10_000);
  await pause(ms);
  const repairing = performance.now();
  await repair();
  const repaired = performance.now();
  const good = (since: number) => seen.some(one => one.startedAt > since && one.status === 200);
  await eventually('calls are answered again', () => good(repaired), 5_000);
  await eventually('ready again', async () => (await server.get('/readyz')).status === 200, 5_000);
  state.going = false;
  await load;
  await watch;
  own.disable();

  expect(Object.keys(tally(seen)).sort()).toEqual(['200', '500']);
  // Answered while it was broken, and not with the repair: 0.9 s at most were measured (November 2026).
  const during = seen.filter(one => one.startedAt > broken && one.endedAt < repairing);
  expect(tally(during)).toEqual({ 500: expect.any(Number) });
  const failed = seen.filter(one => one.status === 500);
  expect(Math.max(...failed.map(one => one.endedAt - one.startedAt))).toBeLessThan(9_000);
  expect(JSON.parse(failed[0]!.body)).toMatchObject({ error: 'internal_error', detail: null });
  expect(lively.every(one => one.status === 200)).toBe(true);
  // The loop was never held: 40 ms were measured beside the load (November 2026).
  expect(Math.max(...lively.map(one => one.ms))).toBeLessThan(600 + own.max / 1e6);
  const grown = (await counted()) - before;
  expect(grown).toBeGreaterThanOrEqual(tally(seen)[200]!);
  expect(grown).toBeLessThanOrEqual(seen.length);
}
