import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { OpenedStore } from '../src/compose.ts';
import type { ResolverHealth } from '../src/core/ports.ts';
import { Supervisor } from '../src/workers/supervisor.ts';
import { healthOf, Whole } from '../src/workers/whole.ts';

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

const TROUBLE = {
  servers: [{ address: '192.0.2.1', healthy: false, problem: 'denies names that exist' }],
  degraded: true,
};

test('trouble that one worker has with a DNS server is told of all', () => {
  for (const all of [
    [healthWith(), healthWith(TROUBLE)],
    [healthWith(TROUBLE), healthWith()],
  ])
    expect(healthOf(all)).toMatchObject(TROUBLE);
});

test('trouble of a worker that died is not told any more, before there is another in its place', async () => {
  const whole = new Whole({ askEach: async () => {}, own: async () => [] });
  whole.came(0, healthWith());
  whole.came(1, healthWith(TROUBLE));
  expect(await whole.tell('health')).toMatchObject(TROUBLE);
  await whole.ended(1);
  expect(await whole.tell('health')).toEqual(healthWith());
});

test('a worker that waits for its share of the store when all are to end is not started', async () => {
  const shared = Promise.withResolvers<undefined>();
  const supervisor = new Supervisor({
    ...{
      workers: 1,
      port: 0,
      metricsPort: undefined,
      hasOperators: false,
      catalog: {} as never,
      log: pino({ enabled: false }),
    },
    ...{
      pass() {},
      giveUp() {},
      ownMetrics: async () => [],
      alone: new Int32Array(new SharedArrayBuffer(4)),
    },
    store: { share: () => shared.promise } as unknown as OpenedStore,
  });
  const started = supervisor.start();
  await supervisor.drain();
  shared.resolve(undefined);
  await expect(started).rejects.toThrow('the service ends');
});
