/** Taking the write lock of the embedded store beside other processes and threads that want it too. */

import { codeOf, SQLITE } from './codes.ts';

/** How long one statement waits for another process's lock. Two waits in a row stay below a second. */
export const LOCK_WAIT_MS = 400;

/**
 * How long a process that opens the file waits for another one that makes it, changes its tables or, as the last to
 * leave, empties the journal into it. A copy of 364 MB before a change takes 2 s (November 2026).
 */
export const OPEN_WAIT_MS = 30_000;

const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * `begin` runs BEGIN IMMEDIATE on a connection whose busy_timeout is 0. SQLite's own busy handler sleeps up to 100 ms
 * between tries and starves beside a busy neighbour; this tries every millisecond or so. The whole wait is the same.
 */
export function takeLock(begin: () => void, withinMs = LOCK_WAIT_MS): void {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      begin();
      return;
    } catch (error) {
      if (codeOf(error) !== SQLITE.busy || performance.now() > deadline) throw error;
      Atomics.wait(pause, 0, 0, 0.5 + Math.random());
    }
  }
}

/** Longer than the pause between two tries of whoever waits, so that the lock is not taken back under its nose. */
export function letOthersIn(): void {
  Atomics.wait(pause, 0, 0, 2);
}
