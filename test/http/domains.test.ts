import { expect, onTestFinished, test, vi } from 'vitest';
import type { Call } from '../../src/http/call.ts';
import { domainsEndpoint } from '../../src/http/endpoints/domains.ts';
import { PRICES } from '../../src/http/prices.ts';
import type { LongWork } from '../../src/http/turns.ts';

test('names are worked off a millisecond at a time, each at the price of a call, and no more when the caller has left', () => {
  let now = 0;
  // Each name takes 10 µs.
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 0.01;
    return now;
  });
  onTestFinished(() => clock.mockRestore());
  const verdict = { domain: 'a.com', riskScore: 5, reason: 'safe', mxProviderLabel: null };
  const looked: string[] = [];
  const finished: number[] = [];
  let work: LongWork | undefined;
  const call = {
    target: { query: '' },
    res: { destroyed: false },
    connection: {
      takeTurns(long: LongWork) {
        work = long;
      },
    },
    finished: (_: Call, status: number) => finished.push(status),
  };
  const endpoint = domainsEndpoint({
    doors: {
      spend(_: Call, serve: (admission: unknown) => void, names: number) {
        expect(names).toBe(1_000);
        serve({ key: { id: 'k' } });
      },
    },
    lookup: {
      lookup(domain: string) {
        looked.push(domain);
        return { verdict, degraded: false };
      },
    },
    rank: { note() {} },
    metrics: { verdict() {} },
  } as never);
  endpoint(call as never, { domains: Array.from({ length: 1_000 }, (_, at) => `a${at}.com`) });
  const prices = Array.from({ length: 5 }, () => work!.step());
  for (const price of prices) {
    expect(price).toBeGreaterThan(90 * PRICES.call);
    expect(price).toBeLessThan(110 * PRICES.call);
  }
  expect(prices.reduce((sum, price) => sum + price)).toBe(looked.length * PRICES.call);
  expect([work!.isDone, finished]).toEqual([false, []]);
  call.res.destroyed = true;
  const before = looked.length;
  work!.step();
  expect([work!.isDone, finished, looked.length]).toEqual([true, [200], before]);
});
