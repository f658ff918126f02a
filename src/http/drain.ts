/** The end of the port (graceful shutdown): requests that are on their way when it is told to end are not lost. */

import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Sockets } from './sockets.ts';

/** How long open connections may still bring requests after the port was told to end, and the hard limit. */
const LINGER_MS = 1_000;
const DRAIN_MS = 8_000;
const NEW_MS = 200;
const ACCEPT_MS = 1_000;

const turn = () => new Promise<void>(resolve => setImmediate(resolve));
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/**
 * Requests that are on their way over an open connection would be lost if it were closed under them. So for a
 * while each is still answered, with `Connection: close`; then the listener and idle connections go.
 */
export async function drainServer(server: Server, sockets: Sockets): Promise<void> {
  const until = performance.now() + DRAIN_MS;
  const linger = performance.now() + LINGER_MS;
  while (sockets.count() > 0 && performance.now() < linger) await pause(25);
  // Whoever waits in the kernel to be accepted would be reset: the listener goes when a turn of the loop brings nobody.
  const accepting = performance.now() + ACCEPT_MS;
  for (let before = -1; before !== sockets.accepted() && performance.now() < accepting; ) {
    before = sockets.accepted();
    await turn();
  }
  // The HTTP server's own would destroy connections whose requests were received and wait for their turn.
  NetServer.prototype.close.call(server);
  for (let now = performance.now(); isAnybodyThere(sockets, now) && now < until; now = performance.now()) {
    for (const connection of sockets.all()) {
      // One that was accepted just now may have sent a request that nobody has read.
      const isNew = connection.requests === 0 && now - connection.activeAt < NEW_MS;
      if (connection.isIdle && !isNew) connection.end();
    }
    await pause(10);
  }
  server.closeAllConnections();
  server.close();
}

/** Whoever only has not read its last answer yet gets it from the kernel. */
function isAnybodyThere(sockets: Sockets, now: number): boolean {
  for (const connection of sockets.all()) if (!connection.hasLeft(now)) return true;
  return false;
}
