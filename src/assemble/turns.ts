/** Long work beside the answers to calls. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Steps } from '../core/steps.ts';

/** With the step that goes beyond it still no wait that anybody notices; a catalog takes no longer for it (2026-11-15). */
const TURN_MS = 1;

/** Lets everybody else have a turn between steps (cooperative multitasking), and before what is done with the result. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (let result: IteratorResult<undefined, T>; ; ) {
    const until = performance.now() + TURN_MS;
    do result = steps.next();
    while (!result.done && performance.now() < until);
    await turn();
    if (result.done) return result.value;
  }
}
