import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import type { DnsThreadData } from '../support/dns-thread.ts';
import { domain, resolverFor, serveZones } from '../support/resolving.ts';
import { hold } from '../support/scale.ts';

const BUDGET_MS = 600;
const NAME = 'stalled.com';

type Stalled = Awaited<ReturnType<typeof resolveOnce>>;

/** On a busy machine the budget may be over before the question has arrived: then it is asked anew. */
async function resolveWhileStalled(...given: Parameters<typeof resolveOnce>): Promise<Stalled> {
  for (let tries = 1; ; tries++) {
    const stalled = await resolveOnce(...given);
    if (stalled.beforeMs < BUDGET_MS / 4 || tries === 20) return stalled;
  }
}

/** The loop stands still from the moment that the question has arrived, and the answer is sent while it does. */
async function resolveOnce(over: 'udp' | 'tcp', stallMs: number, others: readonly string[] = []) {
  const shared = new SharedArrayBuffer(8);
  const flags = new Int32Array(shared);
  const workerData: DnsThreadData = { name: NAME, over, shared };
  const thread = new Worker(new URL('../support/dns-thread.ts', import.meta.url), { workerData });
  onTestFinished(async () => void (await thread.terminate()));
  const [address] = (await once(thread, 'message')) as [string];
  const { resolver } = resolverFor([address, ...others], { budgetMs: BUDGET_MS });
  const begun = performance.now();
  const mail = resolver.resolve(domain(NAME), 'key');
  while (Atomics.load(flags, 0) === 0) await turn();
  const beforeMs = performance.now() - begun;
  Atomics.store(flags, 1, 1);
  Atomics.notify(flags, 1);
  Atomics.wait(flags, 1, 1);
  hold(stallMs);
  return { mail: await mail, health: resolver.health(), beforeMs };
}

test.each(['udp', 'tcp'] as const)(
  'an answer over %s that came while the event loop stood still for longer than the budget counts',
  async over => {
    const { mail, health } = await resolveWhileStalled(over, 2 * BUDGET_MS);
    expect(mail).toMatchObject({ state: 'mx', stale: false });
    expect(health.degraded).toBe(false);
  },
);

test('nobody else is asked when the answer came while the loop stood still for longer than the patience', async () => {
  const second = await serveZones();
  const { mail } = await resolveWhileStalled('udp', BUDGET_MS / 2, [second.address]);
  expect(mail.state).toBe('mx');
  // Time enough for a question to arrive.
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(second.questions).toEqual([]);
});
