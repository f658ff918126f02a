/** Long work beside the answers to calls. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Steps } from '../core/steps.ts';

/** With the step that goes beyond it still no wait that anybody notices; a catalog takes no longer for it (2026-11-15). */
const TURN_MS = 1;

/** Lets everybody else have a turn between steps (cooperative multitasking). */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const until = performance.now() + TURN_MS;
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() < until);
    await turn();
  }
}
