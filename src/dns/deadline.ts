/** A time limit that is judged on what has arrived: whatever waits to be read is read before a peer is given up on. */

import { inOrder } from './inbox.ts';

export interface Deadline {
  cancel(): void;
}

/**
 * After a stalled event loop timers fire before sockets are read, so that an answer which came in time would be thrown
 * away. Between a timer and what it sets as immediate the loop polls once; whoever is answered there, or by what waits to
 * be worked on since, cancels.
 */
export function startDeadline(ms: number, giveUp: () => void): Deadline {
  let isCancelled = false;
  const end = () => {
    if (!isCancelled) giveUp();
  };
  const timer = setTimeout(() => setImmediate(() => inOrder(end)), ms);
  return {
    cancel: () => {
      isCancelled = true;
      clearTimeout(timer);
    },
  };
}
