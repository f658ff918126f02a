/**
 * Gives memory back after a flood of connections. V8 collects its garbage when the heap grows, and when a
 * flood is over it does not grow: 70 to 90 MiB stayed taken for as long as anybody looked (2026-11-15).
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const FLOOD = 500;
/** So much of a flood has to be gone, and for so long. */
const GONE_SHARE = 0.9;
const CALM_MS = 3_000;
/** A collection took 50 ms: nobody shall be able to ask for one again and again. */
const SELDOM_MS = 60_000;

/** The only way to V8's own collection: nothing else asks for memory back. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as (options: object) => void)({ type: 'major', execution: 'async' });
}

/** To be told now and then how many connections there are. */
export function watchFlood(collect: () => void = collectGarbage): (connections: number, now: number) => void {
  let most = 0;
  let calmSince = 0;
  let collectedAt = Number.NEGATIVE_INFINITY;
  return (connections, now) => {
    most = Math.max(most, connections);
    if (most < FLOOD || connections > most * (1 - GONE_SHARE)) {
      calmSince = now;
      return;
    }
    if (now - calmSince < CALM_MS || now - collectedAt < SELDOM_MS) return;
    most = connections;
    collectedAt = now;
    collect();
  };
}
