/** Every socket that the port has: how many there may be, of whom, and which go when they run short. */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { plainAddress } from '../core/origin.ts';
import { MOST_HEAD } from './bytes.ts';
import { Connection, type ConnectionParts } from './connection.ts';
import { Eviction } from './eviction.ts';
import { watchFlood } from './flood.ts';
import { LargeAnswers } from './large.ts';
import type { OpenLine } from './line.ts';
import { Places } from './places.ts';
import { Room } from './room.ts';

export interface SocketParts
  extends Omit<ConnectionParts, 'isProxy' | 'held' | 'lingering' | 'large' | 'moved'> {
  /** Ends one that cannot be kept. */
  readonly noRoom: (line: OpenLine) => void;
  /** Ends one whose place is needed, behind the answer that is being made for it where there is one. */
  readonly makeWay: (line: OpenLine) => void;
  readonly mostConnections: number;
  /** Those beside them that were told to go. */
  readonly mostTold?: number;
  /** Connections that one address may have; a trusted proxy may have all. */
  readonly mostPerAddress: number;
  /** Keys are nothing to it: places are for operators. */
  readonly isForOperators?: boolean;
  /** Of the memory that the process may keep for its peers. */
  readonly share?: number;
}

const TEND_MS = 1_000;
const TEND_PARTS = 10;
/** Bytes that were received and not read, of all connections: enough for 5,000 who send no body (2026-11-16). */
const MOST_HELD = 24 * 1024 * 1024;

export class Sockets {
  readonly #parts: SocketParts;
  /** All that have a descriptor. */
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #all = new Set<Connection>();
  readonly #places: Places;
  readonly #mostPerAddress: number;
  /** What all connections have, made once. */
  readonly #ofOthers: ConnectionParts;
  readonly #ofProxies: ConnectionParts;
  readonly #eviction: Eviction;
  readonly #flood = watchFlood();
  readonly #tending: NodeJS.Timeout;
  /** One function for all sockets, as in intake.ts. */
  readonly #closed: (this: Socket) => void;
  /** Node ends a connection by destroying it, and what the peer had sent meanwhile resets it under its last answers. */
  readonly #endSoon: (this: Socket) => void;
  #round: Connection[] = [];
  #tended = 0;
  /** Since the start: those that came, and those that found no room. */
  accepted = 0;
  refused = 0;

  constructor(server: Server, parts: SocketParts) {
    this.#parts = parts;
    this.#places = new Places(parts.mostConnections, parts.isForOperators);
    this.#eviction = new Eviction(this.#places, parts.makeWay, parts.mostTold);
    const { share = 1 } = parts;
    this.#ofOthers = {
      ...parts,
      isProxy: false,
      held: new Room<OpenLine>(MOST_HELD * share, {
        giveWay(line) {
          line.release();
          parts.noRoom(line);
        },
        much: MOST_HEAD,
        mayGoFirst: line => line.isStranger,
      }),
      lingering: { bytes: 0, since: 0 },
      large: new LargeAnswers(share),
      moved: one => this.#places.moved(one),
    };
    this.#ofProxies = { ...this.#ofOthers, isProxy: true };
    this.#mostPerAddress = Math.min(parts.mostPerAddress, Math.ceil(parts.mostConnections / 2));
    const sockets = this;
    this.#closed = function () {
      sockets.#leave(sockets.of(this)!);
      parts.fairness.polled();
    };
    this.#endSoon = function () {
      sockets.of(this)?.end();
    };
    server.on('connection', (socket: Socket) => this.#accept(socket));
    this.#tending = setInterval(() => this.#tend(), TEND_MS / TEND_PARTS).unref();
  }

  of(socket: Socket): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  get all(): Iterable<Connection> {
    return this.#all;
  }

  /** Without those that both sides have ended. */
  get count(): number {
    return this.#bySocket.size - this.#ofOthers.large.ended;
  }

  /** Those that were closed to make room for others. */
  get evicted(): number {
    return this.#eviction.count;
  }

  close(): void {
    clearInterval(this.#tending);
  }

  #accept(socket: Socket): void {
    this.accepted++;
    const parts = this.#parts;
    parts.fairness.accepted();
    const isProxy = parts.isTrustedProxy(plainAddress(socket.remoteAddress ?? ''));
    const connection = new Connection(socket, isProxy ? this.#ofProxies : this.#ofOthers);
    const isWelcome = this.#hasRoom(connection);
    this.#bySocket.set(socket, connection);
    this.#all.add(connection);
    socket.on('close', this.#closed);
    socket.destroySoon = this.#endSoon;
    if (isWelcome) this.#places.take(connection);
    else this.#refuse(connection);
  }

  #hasRoom({ isProxy, network }: Connection): boolean {
    const own = this.#places.ofNetwork(network)?.size ?? 0;
    if (!isProxy && own >= this.#mostPerAddress) return this.#eviction.fromOwn(network);
    if (this.#places.isFull) this.#eviction.fromAll();
    return true;
  }

  /** Whoever opens them faster than they can be told gets no word. */
  #refuse(connection: Connection): void {
    this.refused++;
    if (this.#eviction.refuses(connection)) this.#parts.noRoom(connection);
    else connection.socket.destroy();
  }

  #leave(connection: Connection): void {
    this.#bySocket.delete(connection.socket);
    connection.closed();
    this.#all.delete(connection);
    this.#eviction.leaving.delete(connection);
    this.#places.leave(connection);
  }

  /**
   * A tenth of them at a time: thousands at once would hold everybody up. Whoever comes meanwhile waits for the next
   * round, or those who come and go all the time would put it off for the others.
   */
  #tend(): void {
    const now = performance.now();
    this.#flood(this.#all.size, now);
    this.#eviction.tend(now);
    if (this.#tended === this.#round.length) {
      this.#round = [...this.#all];
      this.#tended = 0;
    }
    const round = this.#round;
    const until = Math.min(round.length, this.#tended + Math.ceil(round.length / TEND_PARTS));
    for (; this.#tended < until; this.#tended++) {
      const one = round[this.#tended]!;
      if (this.#all.has(one)) one.tend(now);
    }
  }
}
