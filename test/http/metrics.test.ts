import { expect, onTestFinished, test, vi } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';

test('what a process tells of itself is watched once, however many services it has', async () => {
  createMetrics();
  const timers = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => timers.mockRestore());
  const { text } = createMetrics();
  expect(timers).not.toHaveBeenCalled();
  const { body } = await text();
  for (const name of ['process_open_fds', 'nodejs_gc_duration_seconds', 'domain_risk_degraded_total'])
    expect(body.split('\n').filter(line => line.startsWith(`# TYPE ${name} `))).toHaveLength(1);
});
