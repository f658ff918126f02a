/** The port: bounded sizes and waits, JSON for every error, and an end that loses no request. */

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { refuse } from '../core/refusal.ts';
import type { Load } from './accounts.ts';
import { answerBroken, breakOff, makeWay, unparsed } from './broken.ts';
import type { Connection } from './connection.ts';
import { Dispatch, type DispatchParts } from './dispatch.ts';
import { drainServer } from './drain.ts';
import { Fairness } from './fairness.ts';
import type { Listeners } from './listeners.ts';
import { createServer } from './node-http.ts';
import { rawRefusal } from './reply.ts';
import type { Route } from './routes.ts';
import { Sockets } from './sockets.ts';
import type { RowOf } from './whose.ts';

export interface PortParts extends DispatchParts, Load {
  readonly hasLane: boolean;
  readonly rowOf: RowOf;
  /** Of all ports of one event loop. */
  readonly fairness?: Fairness;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly mostConnections: number;
  readonly mostTold?: number;
  readonly connectionsPerAddress: number;
  /** Keys are nothing to it: its places are for operators. */
  readonly isForOperators?: boolean;
  /** Of the memory that the process may keep for its peers: it may have other ports, and workers with theirs. */
  readonly share?: number;
}

/**
 * Connections that wait to be taken. Where strangers are more than there are places it is always full, and a longer one only
 * has everybody wait for all of it: with 4,096, 4,500 strangers and 537 places half of others' took 1.2 to 1.8 s in place of
 * 0.4 to 0.8, and one in a hundred 2 to 3 s with both (2026-11-18).
 */
const BACKLOG = 1024;

/** Whoever sends slowly (slow loris) or without end is refused: every head and body has its time and its size. */
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // Idle and unread connections are looked after in connection.ts.
  keepAliveTimeout: 0,
  maxHeaderSize: 8 * 1024,
  // Node's own check of Host answers without a body: ours is in transportRefusal.
  requireHostHeader: false,
};

const NO_ROOM = refuse('overloaded', 'too many connections', 1);

export class Port {
  readonly server: Server;
  readonly sockets: Sockets;
  readonly #dispatch: Dispatch;
  readonly #fairness: Fairness;
  readonly #isAlone: boolean;

  constructor(parts: PortParts) {
    const dispatch = new Dispatch(parts);
    this.#dispatch = dispatch;
    this.#isAlone = parts.fairness === undefined;
    this.#fairness = parts.fairness ?? new Fairness(parts);
    this.server = createServer(LIMITS, (req, res) => {
      const connection = this.#connectionOf(req);
      if (connection) dispatch.parsed(req, res, connection);
    });
    // A client may close its side of the connection (half-close) as soon as it has sent its request: it still waits for
    // the answer.
    (this.server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
    this.sockets = new Sockets(this.server, {
      ...parts,
      mostPerAddress: parts.connectionsPerAddress,
      fairness: this.#fairness,
      endOver: (line, head, refusal) => line.end(rawRefusal(refusal, unparsed(head))),
      noRoom: line => void breakOff(line, NO_ROOM),
      makeWay: line => makeWay(line, NO_ROOM),
      takeLane: parts.hasLane ? (connection, piece) => dispatch.takesLane(connection, piece) : undefined,
      plainRefusal: bytes => dispatch.plainRefusal(bytes),
    });
    answerBroken(this.server, this.sockets, parts.metrics);
    for (const event of ['checkContinue', 'checkExpectation'] as const) {
      this.server.on(event, (req: IncomingMessage, res: ServerResponse) => {
        const connection = this.#connectionOf(req);
        if (connection) dispatch.expecting(req, res, connection);
      });
    }
  }

  /** Nothing is carried out behind the last request (RFC 9112 9.6), though the parser may see it before the end. */
  #connectionOf(req: IncomingMessage): Connection | undefined {
    const connection = this.sockets.of(req.socket)!;
    return connection.isStopped ? undefined : connection;
  }

  add(routes: readonly Route[]): void {
    this.#dispatch.add(routes);
  }

  /** All routes are there: until then who asks for one that is not is told to come again. */
  open(): void {
    this.#dispatch.isOpen = true;
  }

  /** Where it is shared, the system deals connections out to all that listen there. */
  async listen(at: {
    readonly host: string;
    readonly port: number;
    readonly isShared?: boolean;
  }): Promise<void> {
    const { host, port, isShared = false } = at;
    this.server.listen({ host, port, backlog: BACKLOG, reusePort: isShared });
    await once(this.server, 'listening');
  }

  get isDraining(): boolean {
    return this.#dispatch.isDraining;
  }

  get inFlight(): number {
    return this.#dispatch.inFlight;
  }

  /** Not ready at once; every accepted request is answered; then the port closes. */
  async drain(listeners?: Listeners): Promise<void> {
    this.#dispatch.isDraining = true;
    for (const connection of this.sockets.all) connection.retire();
    await drainServer(this.server, this.sockets, this.#fairness, listeners);
    if (this.#isAlone) this.#fairness.close();
    this.sockets.close();
    this.#dispatch.close();
  }
}
