import { expect, test } from 'vitest';
import type { ResolverHealth } from '../src/core/ports.ts';
import { healthOf } from '../src/workers/whole.ts';

const healthWith = (facts: Partial<ResolverHealth> = {}): ResolverHealth => ({
  servers: [{ address: '192.0.2.1', healthy: true, problem: null }],
  degraded: false,
  inFlight: 1,
  slow: 2,
  waiting: 3,
  cached: 4,
  ...facts,
});

test('what workers ask DNS is added up', () => {
  expect(healthOf([healthWith(), healthWith({ cached: 10 })])).toEqual(
    healthWith({ inFlight: 2, slow: 4, waiting: 6, cached: 14 }),
  );
});

test('trouble that one worker has with a DNS server is told of all', () => {
  const problem = 'denies names that exist';
  const bad = { servers: [{ address: '192.0.2.1', healthy: false, problem }], degraded: true };
  for (const all of [
    [healthWith(), healthWith(bad)],
    [healthWith(bad), healthWith()],
  ])
    expect(healthOf(all)).toMatchObject(bad);
});
