/** Watches how long the event loop is held (event loop lag): whoever holds it keeps every other caller waiting. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { Metrics } from './metrics.ts';

const RESOLUTION_MS = 10;
const LOOK_MS = 1_000;
/** Worth a line in the log, once in ten seconds at the most. */
const TOLD_MS = 250;
const QUIET_MS = 10_000;

export function watchLoop(metrics: Metrics, log: Logger): { close(): void } {
  const recent = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  recent.enable();
  let longest = 0;
  let quietUntil = 0;
  const shown = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3);
  metrics.gauges(
    'domain_risk_loop_delay_seconds',
    'How long the event loop was held, over the last second; max: since the start.',
    'quantile',
    () => [
      ['0.5', shown(recent.percentile(50))],
      ['0.99', shown(recent.percentile(99))],
      ['max', longest],
    ],
    'max',
  );
  function look(): void {
    const held = shown(recent.max);
    recent.reset();
    longest = Math.max(longest, held);
    const now = performance.now();
    if (held * 1_000 < TOLD_MS || now < quietUntil) return;
    quietUntil = now + QUIET_MS;
    log.warn({ ms: Math.round(held * 1_000) }, 'the event loop was held: calls had to wait for so long');
  }

  // Behind all timers: the one that measures may be due at the same moment, and resetting it would lose what it saw.
  const timer = setInterval(() => setImmediate(look), LOOK_MS).unref();
  return {
    close() {
      clearInterval(timer);
      recent.disable();
    },
  };
}
