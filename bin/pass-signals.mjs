/** Signals that a launcher gets are for the program that it will have started. */

/** A server has loaded long before: 1 s where two cores are busy (2026-11-17). */
const LOADING_MS = 10_000;

/**
 * Others ask programs by these to open their logs again. Where nobody listens the first opens Node's debugger to all local
 * users, who then read every secret, and the second ends the program at once (2026-11-19).
 */
const UNUSED = ['SIGUSR1', 'SIGUSR2'];

/**
 * To be called first of all. A server without a terminal reloads by SIGHUP, but only once it has loaded: before, it would
 * end by it, as this process would. One that comes early is passed on later. `from` is the process that gets them.
 */
export function takeSignals(isServer, from = process, loadingMs = LOADING_MS) {
  const isAttended = [from.stdin, from.stdout, from.stderr].some(stream => stream.isTTY);
  const isHeld = isServer && !isAttended;
  let child;
  let loadedAt = Number.POSITIVE_INFINITY;
  let isDue = false;
  let waiting;
  const hangUp = () => child.kill('SIGHUP');
  const hangUpLater = () => {
    isDue = true;
    if (child === undefined) return;
    clearTimeout(waiting);
    waiting = setTimeout(hangUp, Math.max(0, loadedAt - performance.now())).unref();
  };
  if (isHeld) from.on('SIGHUP', hangUpLater);
  for (const signal of UNUSED) from.on(signal, () => {});
  return {
    passTo(started) {
      child = started;
      loadedAt = performance.now() + loadingMs;
      for (const signal of ['SIGINT', 'SIGTERM']) from.on(signal, () => child.kill(signal));
      if (!isHeld) from.on('SIGHUP', hangUp);
      else if (isDue) hangUpLater();
    },
  };
}
