/** Long work beside the answers to calls. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Steps } from '../core/steps.ts';

/** With the step that goes beyond it still no wait that anybody notices; a catalog takes no longer for it (2026-11-17). */
const TURN_MS = 0.5;

let row: Promise<unknown> = Promise.resolve();

/** All long work of a thread stands in one row: three at once held calls for three turns, 4.7 ms (2026-11-17). */
function nextTurn(): Promise<unknown> {
  row = row.then(() => turn());
  return row;
}

/** Lets everybody else have a turn between steps (cooperative multitasking), and before what is done with the result. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (let result: IteratorResult<undefined, T>; ; ) {
    await nextTurn();
    const until = performance.now() + TURN_MS;
    do result = steps.next();
    while (!result.done && performance.now() < until);
    if (!result.done) continue;
    await nextTurn();
    return result.value;
  }
}
