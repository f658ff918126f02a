import { expect, test, vi } from 'vitest';
import { referenceRoutes } from '../scripts/reference.ts';
import { NO_TRAFFIC, type TrafficSlot } from '../src/core/traffic.ts';
import { createTally } from '../src/http/tally.ts';
import { watchTraffic } from '../src/traffic.ts';
import { sharedService } from './support/service.ts';

const TOKEN = 'token-of-the-tests-0123456789abcdef';
const service = sharedService({ env: { ADMIN_TOKEN: TOKEN } });

test('operators see what was called, flagged and refused, and how long answers took', async () => {
  const { key } = service();
  const { secret } = await key();
  const once = await key({ quota: 1 });
  for (const name of ['gmail.com', 'mailinator.com', 'not valid', 'unknown-name.com'])
    await service().get(`/v1/public/domain/${encodeURIComponent(name)}`, secret);
  await service().get('/v1/public/domain/gmail.com', once.secret);
  await service().get('/v1/public/domain/gmail.com', once.secret);
  await service().get('/v1/public/domain/gmail.com');
  await service().get('/v1/usage', secret);
  await service().get('/livez');
  await fetch(`${service().base}/v1/public/domain/gmail.com`, { method: 'OPTIONS' });
  for (const [range, slots] of Object.entries({ hour: 60, day: 24, week: 28, month: 30 })) {
    const { total, ...answer } = (await (
      await service().get(`/admin/traffic?range=${range}`, TOKEN)
    ).json()) as Record<string, unknown> & { total: Record<string, number>; slots: { calls: number }[] };
    expect(total).toMatchObject({ calls: 7, verdicts: 4, flagged: 2, degraded: 0, refused: 3, failed: 0 });
    expect(total.p50_ms).toBeGreaterThan(0);
    expect(total.p99_ms).toBeGreaterThanOrEqual(total.p50_ms!);
    expect(answer.range).toBe(range);
    expect(answer.slots).toHaveLength(slots);
    expect(answer.slots.at(-1)!.calls + answer.slots.at(-2)!.calls).toBe(7);
  }
});

test.each(['year', '', 'constructor'])('a range of "%s" is refused', async range => {
  const response = await service().get(`/admin/traffic?range=${range}`, TOKEN);
  expect([response.status, await response.text()]).toEqual([422, expect.stringContaining('hour, day')]);
});

test('an API key does not show the traffic', async () => {
  const { secret } = await service().key();
  expect((await service().get('/admin/traffic', secret)).status).toBe(401);
});

test('what the store did not take is written with the next, once; nothing new is not written', async () => {
  const added: TrafficSlot[] = [];
  const calls: (readonly TrafficSlot[])[] = [];
  let isAway = true;
  const store = {
    async addTraffic(slots: readonly TrafficSlot[]) {
      calls.push(slots);
      if (isAway) throw new Error('away');
      added.push(...slots);
    },
    traffic: async (span: number) => added.filter(slot => slot.span === span),
  };
  let totals = { ...NO_TRAFFIC, calls: 3 };
  const onError = vi.fn();
  const watch = watchTraffic({ store, clock: () => 90_000, totals: () => totals, onError, everyMs: 1 });
  await vi.waitFor(() => expect(onError).toHaveBeenCalled());
  isAway = false;
  totals = { ...NO_TRAFFIC, calls: 5 };
  const { total } = await watch.read('hour');
  expect(total.calls).toBe(5);
  const written = calls.length;
  await watch.read('hour');
  await watch.close();
  expect(calls).toHaveLength(written);
  expect(added.map(({ span, at, calls: count }) => [span, at, count])).toEqual([
    [60_000, 60_000, 5],
    [3_600_000, 0, 5],
  ]);
});

test('every endpoint that uses quota counts as traffic, and no other', () => {
  for (const { name, path, reference } of referenceRoutes()) {
    const tally = createTally();
    tally.count(name, 200, 0.001);
    expect([path, tally.calls().calls]).toEqual([path, reference?.isCounted ? 1 : 0]);
  }
});
