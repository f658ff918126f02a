/** Long work beside the answers to calls. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Steps } from '../core/steps.ts';

/** With the step that goes beyond it still no wait that anybody notices; a catalog takes no longer for it (2026-11-17). */
const TURN_MS = 0.5;
/**
 * Where everybody else took long since the last one it is half of that, up to so much: beside lists of new names the most
 * flagged took a second, in a thousand turns (2026-11-19).
 */
const SHARE = 1 / 2;
const LONGEST_TURN_MS = 2;

let row: Promise<unknown> = Promise.resolve();

/** All long work of a thread stands in one row: three at once held calls for three turns, 4.7 ms (2026-11-17). */
function nextTurn(): Promise<unknown> {
  row = row.then(() => turn());
  return row;
}

/** Lets everybody else have a turn between steps (cooperative multitasking), and before what is done with the result. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (let result: IteratorResult<undefined, T>; ; ) {
    const ended = performance.now();
    await nextTurn();
    const begun = performance.now();
    const until = begun + Math.min(LONGEST_TURN_MS, Math.max(TURN_MS, (begun - ended) * SHARE));
    do result = steps.next();
    while (!result.done && performance.now() < until);
    if (!result.done) continue;
    await nextTurn();
    return result.value;
  }
}
