/** The end of the port: requests that are on their way when it is told to end are not lost. */

import type { Server } from 'node:http';

/** How long open connections may still bring requests after the port was told to end, and the hard limit. */
const LINGER_MS = 1_000;
const DRAIN_MS = 8_000;

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/**
 * Requests that are on their way over an open connection would be lost if it were closed under them. So for a
 * while each is still answered, with `Connection: close`; then the listener and idle connections go.
 */
export async function drainServer(server: Server, inFlight: () => number): Promise<void> {
  const until = performance.now() + DRAIN_MS;
  const linger = performance.now() + LINGER_MS;
  const connections = () =>
    new Promise<number>(resolve => server.getConnections((_error, count) => resolve(count ?? 0)));
  while ((await connections()) > 0 && performance.now() < linger) await pause(25);
  const closed = new Promise(resolve => server.close(resolve));
  while (((await connections()) > 0 || inFlight() > 0) && performance.now() < until) {
    server.closeIdleConnections();
    await pause(10);
  }
  server.closeAllConnections();
  await closed;
}
