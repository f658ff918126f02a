/** Every socket that the port has: how many there may be, of whom, and which go when they run short. */

import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../core/address.ts';
import { plainAddress } from '../core/origin.ts';
import { Connection, type ConnectionParts } from './connection.ts';
import { watchFlood } from './flood.ts';
import { LargeAnswers } from './large.ts';

export interface SocketParts extends Omit<ConnectionParts, 'isProxy' | 'held' | 'lingering' | 'large'> {
  readonly mostConnections: number;
  /** Connections that one address may have; a trusted proxy may have all. */
  readonly mostPerAddress: number;
}

export interface Sockets {
  of(socket: Socket): Connection | undefined;
  readonly all: () => Iterable<Connection>;
  readonly count: () => number;
  /** Since the start. */
  readonly accepted: () => number;
  /** Idle ones that were closed to make room for others, and new ones that found none. */
  readonly evicted: () => number;
  readonly refused: () => number;
  close(): void;
}

const TEND_MS = 1_000;
const TEND_PARTS = 10;
/**
 * Descriptors for everything else: the store, files, and DNS questions, of which a flood of slow names has 1,000.
 * Where there are few, callers have most of them: a question that gets none is one more that is not answered.
 */
const OTHER_DESCRIPTORS = { fewest: 192, share: 0.2, most: 1_200 };
const MOST_CONNECTIONS = 20_000;
const OPEN_FILES = 'Max open files';
/** Where the system does not say. */
const LIKELY_DESCRIPTORS = 1_024;
/** Looking for the longest idle has its price, so of so many that are looked at several go at once. */
const MOST_LOOKED_AT = 2_000;
const MOST_EVICTED = 16;
const EVICTED_SHARE = 0.02;
const SCAN_MS = 100;
const MOST_TOLD = 64;

/** How many descriptors this process may have. */
function descriptors(): number {
  try {
    const lines = readFileSync('/proc/self/limits', 'latin1').split('\n');
    const soft = lines
      .find(line => line.startsWith(OPEN_FILES))
      ?.slice(OPEN_FILES.length)
      .trim()
      .split(' ', 1)[0];
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft ?? LIKELY_DESCRIPTORS);
  } catch {
    return LIKELY_DESCRIPTORS;
  }
}

/** How many connections this process may have. */
export function mostConnections(): number {
  const limit = descriptors();
  const { fewest, share, most } = OTHER_DESCRIPTORS;
  const others = Math.max(fewest, Math.min(most, Math.ceil(limit * share)));
  return Math.min(MOST_CONNECTIONS, Math.max(64, limit - others));
}

export function watchSockets(server: Server, parts: SocketParts): Sockets {
  /** All that have a descriptor. */
  const connections = new Map<Socket, Connection>();
  const all = new Set<Connection>();
  const byNetwork = new Map<string, Set<Connection>>();
  const most = parts.mostConnections;
  const mostPerAddress = Math.min(parts.mostPerAddress, Math.ceil(most / 2));
  const held = { bytes: 0 };
  const lingering = { bytes: 0, since: 0 };
  const large = new LargeAnswers();
  let accepted = 0;
  let evicted = 0;
  let refused = 0;
  /** Until when nobody of them is idle, as far as is known: looking at all of them has its price. */
  const noneIdleUntil = new WeakMap<object, number>();
  /** Where looking goes on: the same ones would be looked at again and again. */
  const lookedUpTo = new WeakMap<object, Iterator<Connection>>();
  /** Those that make room already, and are gone in a moment. */
  const leaving = new Set<Connection>();

  /** Closes those that were idle longest, a few at once. False where none was idle. */
  function evict(those: Set<Connection>): boolean {
    const now = performance.now();
    if (now < (noneIdleUntil.get(those) ?? 0)) return false;
    const some = next(those);
    const idle = some
      .filter(one => !leaving.has(one) && one.isDispensable(now))
      .sort((a, b) => a.activeAt - b.activeAt);
    const gone = idle.slice(0, Math.min(MOST_EVICTED, Math.ceil(those.size * EVICTED_SHARE)));
    if (gone.length === 0) noneIdleUntil.set(those, now + (SCAN_MS * some.length) / those.size);
    evicted += gone.length;
    for (const connection of gone) {
      leaving.add(connection);
      connection.evict();
    }
    return gone.length > 0;
  }

  /** Some of them, all in turn. */
  function next(those: Set<Connection>): Connection[] {
    const some: Connection[] = [];
    let from = lookedUpTo.get(those) ?? those.values();
    for (let left = Math.min(those.size, MOST_LOOKED_AT); left > 0; left--) {
      let one = from.next();
      if (one.done) {
        from = those.values();
        one = from.next();
      }
      if (!one.done) some.push(one.value);
    }
    lookedUpTo.set(those, from);
    return some;
  }

  function leave(connection: Connection): void {
    all.delete(connection);
    leaving.delete(connection);
    const network = networkOf(connection.address);
    const ofNetwork = byNetwork.get(network);
    ofNetwork?.delete(connection);
    if (ofNetwork?.size === 0) byNetwork.delete(network);
  }

  function hasRoom(isProxy: boolean, network: string): boolean {
    const ofNetwork = byNetwork.get(network);
    if (!isProxy && ofNetwork && ofNetwork.size >= mostPerAddress) return evict(ofNetwork);
    return all.size - leaving.size < most || evict(all);
  }

  server.on('connection', (socket: Socket) => {
    accepted++;
    parts.fairness.accepted();
    const isProxy = parts.isTrustedProxy(plainAddress(socket.remoteAddress ?? ''));
    const connection = new Connection(socket, { ...parts, isProxy, held, lingering, large });
    const network = networkOf(connection.address);
    const isWelcome = hasRoom(isProxy, network);
    connections.set(socket, connection);
    all.add(connection);
    socket.once('close', () => {
      connections.delete(socket);
      connection.closed();
      leave(connection);
      parts.fairness.polled();
    });
    byNetwork.set(network, (byNetwork.get(network) ?? new Set()).add(connection));
    if (isWelcome) return;
    refused++;
    // Whoever opens them faster than they can be told gets no word. Who is told is as good as gone: counted among the rest
    // those of one address pushed out the idle ones of all others.
    if (leaving.size >= MOST_TOLD) return void socket.destroy();
    leaving.add(connection);
    connection.end(parts.noRoom());
  });

  // A tenth of them at a time: thousands at once would hold everybody up. Whoever comes meanwhile waits for the next
  // round, or those who come and go all the time would put it off for the others.
  let round: Connection[] = [];
  let tended = 0;
  const flood = watchFlood();
  const tending = setInterval(() => {
    const now = performance.now();
    flood(all.size, now);
    if (tended === round.length) {
      round = [...all];
      tended = 0;
    }
    const until = Math.min(round.length, tended + Math.ceil(round.length / TEND_PARTS));
    for (; tended < until; tended++) if (all.has(round[tended]!)) round[tended]!.tend(now);
  }, TEND_MS / TEND_PARTS).unref();

  return {
    of: socket => connections.get(socket),
    all: () => all,
    count: () => connections.size,
    accepted: () => accepted,
    evicted: () => evicted,
    refused: () => refused,
    close: () => clearInterval(tending),
  };
}
