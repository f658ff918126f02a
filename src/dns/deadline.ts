/** A time limit that is judged on what has arrived: whatever waits to be read is read before a peer is given up on. */

export interface Deadline {
  cancel(): void;
}

/**
 * After a stalled event loop timers fire before sockets are read, so that an answer which came in time would be thrown
 * away. Between a timer and what it sets as immediate the loop polls once; whoever is answered there cancels.
 */
export function startDeadline(ms: number, giveUp: () => void): Deadline {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(giveUp);
  }, ms);
  return {
    cancel: () => {
      clearTimeout(timer);
      clearImmediate(immediate);
    },
  };
}
