/**
 * The port: bounded sizes and waits, JSON for every error, and an end that loses no request. Routes are few, and found
 * by the raw path: decoding is the business of whoever parses a segment.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Type } from 'typebox';
import { REFUSALS, type Refusal, refuse } from '../core/refusal.ts';
import { type AccessLog, createAccessLog } from './access.ts';
import { readJson } from './body.ts';
import { answerBroken } from './broken.ts';
import type { Asked, Call, Reply } from './call.ts';
import type { Connection } from './connection.ts';
import { drainServer } from './drain.ts';
import { createFailureLog } from './failures.ts';
import { createFairness } from './fairness.ts';
import { type Head, readHead } from './head.ts';
import { LaneReply } from './lane.ts';
import type { Metrics } from './metrics.ts';
import { plainRefusal } from './plain.ts';
import { PRICES } from './prices.ts';
import { endAfter, rawRefusal, refuseLast, sendEmpty, sendRefusal } from './reply.ts';
import { newRequestId } from './request-id.ts';
import { createRouter, type Found } from './router.ts';
import type { Route } from './routes.ts';
import { createShedLog } from './shed.ts';
import { type Sockets, watchSockets } from './sockets.ts';
import { DOMAIN_PATH, MOST_TARGET, NO_TARGET, readTarget, type Target } from './target.ts';
import { transportRefusal } from './transport.ts';
import type { RowOf } from './whose.ts';

export interface PortParts {
  readonly log: Logger;
  readonly accessLog: AccessLog;
  readonly metrics: Metrics;
  /** Why a call does not come from an operator. */
  readonly operatorRefusal: (call: Call) => Refusal | undefined;
  readonly rowOf: RowOf;
  /** The store has as many calls as it can take. */
  readonly isFull: () => boolean;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly mostConnections: number;
  readonly connectionsPerAddress: number;
  readonly hasLane: boolean;
}

export interface Port {
  readonly server: Server;
  readonly sockets: Sockets;
  add(routes: readonly Route[]): void;
  /** All routes are there: until then who asks for one that is not is told to come again. */
  open(): void;
  listen(options: { readonly host: string; readonly port: number }): Promise<void>;
  readonly isDraining: () => boolean;
  readonly inFlight: () => number;
  /** Connections whose requests wait for their turn. */
  readonly waiting: () => number;
  /** Not ready at once; every accepted request is answered; then the port closes. */
  drain(): Promise<void>;
}

const STARTING = refuse('not_ready', 'the service is starting', 1);
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
/** Node's own limit answers what comes after it without a body. */
const MOST_REQUESTS_PER_SOCKET = 1_000;
const MOST_DRAINED = 1024;

export function createPort(parts: PortParts): Port {
  const { log, metrics } = parts;
  const routes: Route[] = [];
  let find = createRouter(routes);
  let inFlight = 0;
  let draining = false;
  let isOpen = false;
  const logFailure = createFailureLog(log);
  const access = createAccessLog(log, parts.accessLog);
  const shedLog = createShedLog(log);
  const fairness = createFairness(parts.isFull);

  interface Begun {
    readonly req: Asked;
    readonly res: Reply;
    readonly head: Head;
    readonly target: Target;
    readonly connection: Connection;
  }

  function begin(begun: Begun, found: Found | undefined): Call {
    const { req, res, head, target, connection } = begun;
    const call: Call = {
      req,
      res,
      head,
      target,
      requestId: head.requestId ?? newRequestId(),
      startedAt: performance.now(),
      route: found?.resource.name ?? 'none',
      isApi: found?.resource.isApi ?? target.path.startsWith('/v1/'),
      connection,
      isPaid: false,
      keyId: undefined,
      domain: undefined,
      degraded: false,
      quota: [],
      isReading: false,
      isFinished: false,
      finished: finish,
      failed: fail,
    };
    inFlight++;
    connection.begin(call, found?.resource.price ?? PRICES.bytes);
    const isLast = draining || connection.isSpent || connection.requests >= MOST_REQUESTS_PER_SOCKET;
    // A large body that nobody reads is not worth draining for the sake of the connection.
    if (isLast || head.bodyLength > MOST_DRAINED || !res.shouldKeepAlive) endAfter(call);
    return call;
  }

  /** One that Node's parser has read. */
  function beginParsed(req: IncomingMessage, res: ServerResponse): { call: Call; found: Found | undefined } {
    const sent = readTarget(req.url ?? '') ?? NO_TARGET;
    const found = find(sent.path);
    const target = found && found.segment !== '' ? { ...sent, segment: found.segment } : sent;
    const connection = sockets.of(req.socket)!;
    return { call: begin({ req, res, head: readHead(req.rawHeaders), target, connection }, found), found };
  }

  function takeLane(connection: Connection, piece: Buffer): boolean {
    const found = parts.hasLane ? find(DOMAIN_PATH) : undefined;
    const route = found?.resource.routes.get('GET');
    const segment = route && connection.lane.segmentIn(piece);
    if (segment === undefined) return false;
    const { asked: req, head } = connection.lane;
    const target = { path: DOMAIN_PATH, segment, query: '' };
    const res = new LaneReply(connection.socket);
    try {
      run(begin({ req, res, head, target, connection }, found), route!);
    } catch (error) {
      // There is no call to answer: a fault of ours ends this connection, and not the process.
      logFailure(error, newRequestId());
      connection.socket.destroy();
    }
    return true;
  }

  function finish(call: Call, status: number): void {
    if (call.isFinished) return;
    call.isFinished = true;
    inFlight--;
    const now = performance.now();
    const seconds = (now - call.startedAt) / 1000;
    metrics.request(call.route, status, seconds);
    access(call, status, seconds);
    call.connection.answered(now);
  }

  /** Anything that is not a Refusal is our fault, and opaque to the caller. */
  function fail(call: Call, error: unknown): void {
    logFailure(error, call.requestId);
    if (!call.res.headersSent) return sendRefusal(call, refuse('internal_error'));
    call.res.destroy();
    finish(call, REFUSALS.internal_error.status);
  }

  function handle(req: IncomingMessage, call: Call, found: Found | undefined): void {
    const { connection } = call;
    const refusal = transportRefusal(req, call.head, call.target);
    if (refusal) return refuseLast(call, refusal);
    if (!found) return sendRefusal(call, isOpen ? refuse('not_found') : STARTING);
    const { resource } = found;
    const route = resource.routes.get(req.method!);
    if (!route) {
      if (resource.preflight && req.method === 'OPTIONS') return sendEmpty(call, 204, resource.preflight);
      return sendRefusal(call, refuse('method_not_allowed'), ['Allow', resource.allow]);
    }
    const stranger = route.door === 'operator' ? parts.operatorRefusal(call) : undefined;
    // Operators are never shed: whoever comes in may be about to revoke the key that causes it.
    const isExempt = route.isProbe || (route.door === 'operator' && !stranger);
    if (connection.isShedding && !isExempt) return shed(call);
    if (stranger) return sendRefusal(call, stranger);
    if (!route.body) return run(call, route);
    readThenHandle(req, call, route, route.body).catch(error => fail(call, error));
  }

  function run(call: Call, route: Route): void {
    try {
      route.handle(call, undefined)?.catch(error => fail(call, error));
    } catch (error) {
      fail(call, error);
    }
  }

  async function readThenHandle(
    req: IncomingMessage,
    call: Call,
    route: Route,
    schema: Type.TObject,
  ): Promise<void> {
    call.isReading = true;
    const body = await readJson(req, call.head, schema);
    call.isReading = false;
    // Whoever sent it broke off, or was refused by the parser: nobody is there to be answered.
    if (!body || call.isFinished) return finish(call, REFUSALS.bad_request.status);
    if ('refused' in body) return sendRefusal(call, body);
    return route.handle(call, body.sent);
  }

  function shed(call: Call): void {
    noteShed();
    sendRefusal(call, refuse('overloaded', null, 1));
  }

  function isCall(raw: string): boolean {
    const target = raw.length <= MOST_TARGET ? readTarget(raw) : undefined;
    const resource = target && find(target.path)?.resource;
    return resource?.isApi === true && resource.routes.has('GET');
  }

  function noteShed(): void {
    metrics.shed();
    shedLog.note();
  }

  /** Nothing is carried out behind the last request (RFC 9112 9.6), though the parser may see it before the end. */
  const isBehindLast = (req: IncomingMessage) => sockets.of(req.socket)!.isStopped;

  const server = createServer(LIMITS, (req, res) => {
    if (isBehindLast(req)) return;
    const { call, found } = beginParsed(req, res);
    handle(req, call, found);
  });
  // A client may close its side of the connection (half-close) as soon as it has sent its request: it still waits for
  // the answer.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  const sockets = watchSockets(server, {
    ...parts,
    mostPerAddress: parts.connectionsPerAddress,
    fairness,
    takeLane,
    tooManyLines: () => rawRefusal(refuse('headers_too_large', 'at most 128 lines'), newRequestId()),
    noRoom: () => rawRefusal(refuse('overloaded', 'too many connections', 1), newRequestId()),
    plainRefusal(bytes) {
      // Whoever is told that the connection stays sends again over it.
      if (draining) return undefined;
      const refusal = plainRefusal(bytes, isCall, newRequestId);
      if (refusal !== undefined) noteShed();
      return refusal;
    },
  });
  answerBroken(server, sockets, metrics);
  // Expect, RFC 9110 10.1.1: a final status in place of `100 Continue`.
  for (const event of ['checkContinue', 'checkExpectation'] as const) {
    server.on(event, (req: IncomingMessage, res: ServerResponse) => {
      if (!isBehindLast(req)) refuseLast(beginParsed(req, res).call, refuse('expectation_failed'));
    });
  }

  return {
    server,
    sockets,
    add(list) {
      routes.push(...list);
      find = createRouter(routes);
    },
    open() {
      isOpen = true;
    },
    async listen({ host, port }) {
      server.listen({ host, port, backlog: BACKLOG });
      await once(server, 'listening');
    },
    isDraining: () => draining,
    inFlight: () => inFlight,
    waiting: fairness.waiting,
    async drain() {
      draining = true;
      for (const connection of sockets.all()) connection.retire();
      await drainServer(server, sockets);
      fairness.close();
      sockets.close();
      shedLog.close();
    },
  };
}
