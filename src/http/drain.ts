/** The end of the port (graceful shutdown): requests that are on their way when it is told to end are not lost. */

import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Fairness } from './fairness.ts';
import { Listeners } from './listeners.ts';
import type { Sockets } from './sockets.ts';

/** How long open connections may still bring requests after the port was told to end, and the hard limit. */
const LINGER_MS = 1_000;
const DRAIN_MS = 7_000;
const NEW_MS = 200;
const ACCEPT_MS = 1_000;
/** Nobody came for so long. */
const QUIET_MS = 50;
const HELD_MS = 500;
/** For other workers, which may have less of the processor. */
const OTHERS_MS = 1_000;
/** Some may just have read an answer that was under way. */
const QUIET_TURNS = 5;
/** What comes over the others meanwhile is read before it is their turn: of 4,000 at once 30 to 60 lost a request (2026-11-19). */
const ENDED_AT_ONCE = 16;
/** Each may take as long as a turn takes under load: 12,000 connections, 16 a turn, took 23 s to end (2026-11-20). */
const MOST_ENDING_TURNS = 64;
/** However long others had the processor meanwhile. */
const LEAST_TURNS = 20;

const turn = () => new Promise<void>(resolve => setImmediate(resolve));
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/**
 * Requests that are on their way over an open connection would be lost if it were closed under them. So for a
 * while each is still answered, with `Connection: close`; then the listener and idle connections go.
 */
export async function drainServer(
  server: Server,
  sockets: Sockets,
  fairness: Fairness,
  listeners = new Listeners(),
): Promise<void> {
  const begun = performance.now();
  const until = begun + DRAIN_MS;
  while (sockets.count > 0 && performance.now() < begun + LINGER_MS) {
    listeners.came(sockets.accepted);
    await pause(25);
  }
  const isHeld = await untilNobodyComes(begun + LINGER_MS + ACCEPT_MS, sockets, fairness, listeners);
  // The HTTP server's own would destroy connections whose requests were received and wait for their turn.
  NetServer.prototype.close.call(server);
  listeners.closed();
  // Whoever is answered here would come to one that still listens.
  if (isHeld) {
    await untilAll(() => listeners.areAllClosed);
    fairness.holds--;
  }
  for (let now = performance.now(); isAnybodyThere(sockets, now) && now < until; now = performance.now()) {
    let ended = 0;
    const atOnce = Math.max(ENDED_AT_ONCE, Math.ceil(sockets.count / MOST_ENDING_TURNS));
    for (const connection of sockets.all) {
      // One that was accepted just now may have sent a request that nobody has read.
      const isNew = connection.requests === 0 && now - connection.activeAt < NEW_MS;
      if (!connection.isIdle || isNew || connection.isUnread) continue;
      connection.end();
      if (++ended % atOnce === 0 && performance.now() < until) await turn();
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
 * come again and again, since each is told to, all are kept waiting until the loop has some turns in which nobody came: true
 * where they are.
 */
async function untilNobodyComes(
  until: number,
  sockets: Sockets,
  fairness: Fairness,
  listeners: Listeners,
): Promise<boolean> {
  const come = growing(() => listeners.came(sockets.accepted));
  // Whoever still waits for an answer may come again with it.
  const isAnybody = () => come() || fairness.waiting > 0;
  if (await isQuiet(isAnybody, 5, () => performance.now() >= until)) return false;
  fairness.holds++;
  listeners.wait();
  await untilAll(() => listeners.areAllWaiting);
  const heldUntil = performance.now() + HELD_MS;
  // On a busy machine turns are over before the kernel has brought what was sent: 11 of 30 callers were reset (2026-11-18).
  const isOver = (turns: number) => turns >= LEAST_TURNS && performance.now() > heldUntil;
  await isQuiet(
    growing(() => sockets.accepted),
    1,
    isOver,
  );
  return true;
}

/** Whether there is more of it than at the last look. */
function growing(count: () => number): () => boolean {
  let last = count();
  return () => {
    const before = last;
    last = count();
    return last !== before;
  };
}

/** Whether nobody is there for some turns and some time before it is over. */
async function isQuiet(
  isAnybody: () => boolean,
  restMs: number,
  isOver: (turns: number) => boolean,
): Promise<boolean> {
  let [quiet, since] = [0, performance.now()];
  for (let turns = 0; quiet < QUIET_TURNS || performance.now() - since < QUIET_MS; turns++) {
    if (isOver(turns)) return false;
    await pause(restMs);
    await turn();
    quiet = isAnybody() ? 0 : quiet + 1;
    if (quiet === 0) since = performance.now();
  }
  return true;
}

async function untilAll(areSo: () => boolean): Promise<void> {
  const until = performance.now() + OTHERS_MS;
  while (!areSo() && performance.now() < until) await pause(1);
}

/** Whoever only has not read its last answer yet gets it from the kernel. */
function isAnybodyThere(sockets: Sockets, now: number): boolean {
  for (const connection of sockets.all) if (!connection.hasLeft(now)) return true;
  return false;
}
