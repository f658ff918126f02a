/**
 * Gives memory back after a flood of connections. V8 sweeps its heap (garbage collection) when that grows, and when a
 * flood is over it does not grow: 70 to 90 MiB stayed taken for as long as anybody looked (2026-11-15).
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const FLOOD = 500;
/** So much of a flood has to be gone, and for so long. */
const GONE_SHARE = 0.9;
const CALM_MS = 3_000;
/** A sweep took 50 ms: nobody shall be able to ask for one again and again. */
const SELDOM_MS = 60_000;

/** The only way to V8's own sweeping: nothing else asks for memory back. */
function sweepHeap(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as (options: object) => void)({ type: 'major', execution: 'async' });
}

/** To be told now and then how many connections there are. */
export function watchFlood(sweep: () => void = sweepHeap): (connections: number, now: number) => void {
  let most = 0;
  let calmSince = 0;
  let sweptAt = Number.NEGATIVE_INFINITY;
  return (connections, now) => {
    most = Math.max(most, connections);
    if (most < FLOOD || connections > most * (1 - GONE_SHARE)) {
      calmSince = now;
      return;
    }
    if (now - calmSince < CALM_MS || now - sweptAt < SELDOM_MS) return;
    most = connections;
    sweptAt = now;
    sweep();
  };
}
