/** The end of the port (graceful shutdown): requests that are on their way when it is told to end are not lost. */

import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Fairness } from './fairness.ts';
import type { Sockets } from './sockets.ts';

/** How long open connections may still bring requests after the port was told to end, and the hard limit. */
const LINGER_MS = 1_000;
const DRAIN_MS = 8_000;
const NEW_MS = 200;
const ACCEPT_MS = 1_000;
/** Nobody came for so long. */
const QUIET_MS = 50;
const HELD_MS = 500;
/** Some may just have read an answer that was under way. */
const QUIET_TURNS = 5;
/** However long others had the processor meanwhile. */
const LEAST_TURNS = 20;

const turn = () => new Promise<void>(resolve => setImmediate(resolve));
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/**
 * Requests that are on their way over an open connection would be lost if it were closed under them. So for a
 * while each is still answered, with `Connection: close`; then the listener and idle connections go.
 */
export async function drainServer(server: Server, sockets: Sockets, fairness: Fairness): Promise<void> {
  const until = performance.now() + DRAIN_MS;
  const linger = performance.now() + LINGER_MS;
  while (sockets.count > 0 && performance.now() < linger) await pause(25);
  await untilNobodyComes(sockets, fairness);
  // The HTTP server's own would destroy connections whose requests were received and wait for their turn.
  NetServer.prototype.close.call(server);
  fairness.isHeld = false;
  for (let now = performance.now(); isAnybodyThere(sockets, now) && now < until; now = performance.now()) {
    for (const connection of sockets.all) {
      // One that was accepted just now may have sent a request that nobody has read.
      const isNew = connection.requests === 0 && now - connection.activeAt < NEW_MS;
      if (connection.isIdle && !isNew && !connection.isUnread) connection.end();
    }
    await pause(10);
    // Behind the poll phase: what the kernel has received of them was read.
    await turn();
  }
  server.closeAllConnections();
  server.close();
}

/**
 * Whoever waits in the kernel to be accepted would be reset: the listener goes when for a while nobody has come. Where they
 * come again and again, since each is told to, all are kept waiting until the loop has some turns in which nobody came.
 */
async function untilNobodyComes(sockets: Sockets, fairness: Fairness): Promise<void> {
  const until = performance.now() + ACCEPT_MS;
  let quietSince = performance.now();
  for (let now = quietSince; now < until && now - quietSince < QUIET_MS; now = performance.now()) {
    const before = sockets.accepted;
    await pause(5);
    await turn();
    if (before !== sockets.accepted) quietSince = performance.now();
  }
  if (performance.now() - quietSince >= QUIET_MS) return;
  fairness.isHeld = true;
  const heldUntil = performance.now() + HELD_MS;
  for (let quiet = 0, turns = 0; quiet < QUIET_TURNS; turns++) {
    if (turns >= LEAST_TURNS && performance.now() > heldUntil) return;
    const before = sockets.accepted;
    await turn();
    quiet = before === sockets.accepted ? quiet + 1 : 0;
  }
}

/** Whoever only has not read its last answer yet gets it from the kernel. */
function isAnybodyThere(sockets: Sockets, now: number): boolean {
  for (const connection of sockets.all) if (!connection.hasLeft(now)) return true;
  return false;
}
