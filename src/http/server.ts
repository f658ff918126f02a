/**
 * The port: bounded sizes and waits, JSON for every error, and an end that loses no request. Our own routes are
 * few and exact, so they are found by the raw path; the pages below are Fastify's.
 */

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { StoreUnavailable } from '../core/ports.ts';
import { REFUSALS, type Refusal, refuse } from '../core/refusal.ts';
import { drainServer } from './drain.ts';
import { readHead } from './head.ts';
import type { Metrics } from './metrics.ts';
import { type Call, rawRefusal, sendEmpty, sendRefusal } from './reply.ts';
import type { Route } from './routes.ts';
import { NO_TARGET, readTarget, type Target } from './target.ts';
import { refuseSocket, transportRefusal } from './transport.ts';

export interface PortParts {
  readonly log: Logger;
  readonly accessLog: 'errors' | 'all' | 'off';
  readonly metrics: Metrics;
}

export interface Port {
  readonly server: Server;
  /** For pages: everything at or below `PAGES`. */
  readonly app: FastifyInstance<Server>;
  add(routes: readonly Route[]): void;
  readonly isDraining: () => boolean;
  readonly inFlight: () => number;
  /** Not ready at once; every accepted request is answered; then the port closes. */
  drain(): Promise<void>;
}

export const PAGES = '/docs';

/** The API is shed, before anything is counted, when this many requests wait for their answer. */
const MOST_IN_FLIGHT = 2_000;
const MOST_CONNECTIONS = 20_000;
const SLOW_SECONDS = 0.5;
/** Per second; `more` in the next line tells how many were left out. */
const MOST_FAILURES_LOGGED = 50;

const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // Longer than the 60 s of common load balancers, which must be the ones to close an idle connection.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 8 * 1024,
  // Node's own check of Host answers without a body: ours is in transportRefusal.
  requireHostHeader: false,
};
/** Node's own limit answers what comes after it without a body. */
const MOST_REQUESTS_PER_SOCKET = 1_000;

const ALLOW = 'GET, HEAD';
const ALLOW_API = 'GET, HEAD, OPTIONS';
const PREFLIGHT = [
  ...[
    'Access-Control-Allow-Methods',
    ALLOW_API,
    'Access-Control-Allow-Headers',
    'Authorization, If-None-Match',
  ],
  ...['Access-Control-Max-Age', '86400', 'Allow', ALLOW_API],
];

export function createPort(parts: PortParts): Port {
  const { log, metrics } = parts;
  const routes = new Map<string, Route>();
  const requestsOn = new WeakMap<Socket, number>();
  const boot = randomBytes(6).toString('hex');
  let requests = 0;
  let inFlight = 0;
  let draining = false;
  let failures = { second: 0, logged: 0, more: 0 };
  const nextId = () => `${boot}-${(requests++).toString(36)}`;

  function begin(req: IncomingMessage, res: ServerResponse, target: Target, route: Route | undefined): Call {
    inFlight++;
    const served = (requestsOn.get(req.socket) ?? 0) + 1;
    requestsOn.set(req.socket, served);
    if (draining || served >= MOST_REQUESTS_PER_SOCKET) res.shouldKeepAlive = false;
    return {
      req,
      res,
      head: readHead(req),
      target,
      requestId: nextId(),
      startedAt: performance.now(),
      route: route?.name ?? (isPage(target.path) ? 'docs' : 'none'),
      isApi: route?.isApi ?? target.path.startsWith('/v1/'),
      keyId: undefined,
      domain: undefined,
      degraded: false,
      quota: [],
      isFinished: false,
      finished: finish,
    };
  }

  function finish(call: Call, status: number): void {
    if (call.isFinished) return;
    call.isFinished = true;
    inFlight--;
    const seconds = (performance.now() - call.startedAt) / 1000;
    metrics.request(call.route, status, seconds);
    const notable = status >= 500 || call.degraded || seconds > SLOW_SECONDS;
    if (parts.accessLog === 'off' || (parts.accessLog === 'errors' && !notable)) return;
    const { req, route, domain, degraded, keyId, requestId } = call;
    const ms = Math.round(seconds * 1e5) / 100;
    log.info(
      { method: req.method, route, domain, status, ms, degraded, key: keyId, request_id: requestId },
      'request',
    );
  }

  /** While the store is away every call fails, and the log would outgrow its reader: the first few a second do. */
  function logFailure(error: unknown, requestId: string): void {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== failures.second) failures = { second, logged: 0, more: failures.more };
    if (failures.logged === MOST_FAILURES_LOGGED) {
      failures.more++;
      return;
    }
    const what = error instanceof StoreUnavailable ? 'the store is unavailable' : 'a request failed';
    log.error({ err: error, request_id: requestId, more: failures.more }, what);
    failures = { second, logged: failures.logged + 1, more: 0 };
  }

  /** Anything that is not a Refusal is our fault, and opaque to the caller. */
  function fail(call: Call, error: unknown): void {
    logFailure(error, call.requestId);
    if (!call.res.headersSent) return sendRefusal(call, refuse('internal_error'));
    call.res.destroy();
    finish(call, REFUSALS.internal_error.status);
  }

  function handle(call: Call, route: Route | undefined): void {
    const { req, target } = call;
    const refusal = transportRefusal(req, call.head, target);
    if (refusal) return refuseTransport(call, refusal);
    if (req.method !== 'GET' && req.method !== 'HEAD' && (route || isPage(target.path))) {
      if (route?.isApi && req.method === 'OPTIONS') return sendEmpty(call, 204, PREFLIGHT);
      const allow = route?.isApi ? ALLOW_API : ALLOW;
      return sendRefusal(call, refuse('method_not_allowed'), ['Allow', allow]);
    }
    if (!route) return sendRefusal(call, refuse('not_found'));
    const isAfterLast = (requestsOn.get(req.socket) ?? 0) > MOST_REQUESTS_PER_SOCKET;
    if (isAfterLast || (route.isApi && inFlight > MOST_IN_FLIGHT)) {
      metrics.shed();
      return sendRefusal(call, refuse('overloaded', null, 1));
    }
    route.handle(call).catch(error => fail(call, error));
  }

  let pages: (req: IncomingMessage, res: ServerResponse) => void;
  const pageCalls = new WeakMap<IncomingMessage, Call>();
  function showPage(call: Call): void {
    const { req, res } = call;
    pageCalls.set(req, call);
    res.setHeader('X-Request-Id', call.requestId);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.once('close', () => finish(call, res.statusCode));
    pages(req, res);
  }
  const server = createServer(LIMITS, (req, res) => {
    const target = readTarget(req.url ?? '') ?? NO_TARGET;
    const route = routes.get(target.path);
    const call = begin(req, res, target, route);
    if (route === undefined && isPage(target.path) && !transportRefusal(req, call.head, target))
      showPage(call);
    else handle(call, route);
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connect', (_req, socket) => {
    socket.end(rawRefusal(refuse('bad_request', 'CONNECT is not supported'), nextId()));
  });
  for (const event of ['checkContinue', 'checkExpectation'] as const) {
    server.on(event, (req: IncomingMessage, res: ServerResponse) => {
      const target = readTarget(req.url ?? '') ?? NO_TARGET;
      refuseTransport(begin(req, res, target, routes.get(target.path)), refuse('expectation_failed'));
    });
  }

  const app: FastifyInstance<Server> = fastify({
    serverFactory(handler) {
      pages = handler;
      return server;
    },
    rewriteUrl: req => readTarget(req.url ?? '')?.path ?? '/',
    return503OnClosing: false,
    forceCloseConnections: false,
    clientErrorHandler(error, socket) {
      const status = refuseSocket(error, socket, nextId());
      if (status !== undefined) metrics.request('none', status, 0);
    },
    frameworkErrors: (_error, request, reply) => refusePage(request, reply),
  });
  // Whatever a page's own framework refuses ends in the same table of codes, and before any body is read.
  function refusePage({ raw }: FastifyRequest, reply: FastifyReply, failure?: unknown): void {
    reply.hijack();
    const call = pageCalls.get(raw)!;
    if (failure === undefined) handle(call, undefined);
    else fail(call, failure);
  }
  app.addHook('onRequest', (request, reply, done) => (request.is404 ? refusePage(request, reply) : done()));
  app.setNotFoundHandler((request, reply) => refusePage(request, reply));
  app.setErrorHandler((error: { statusCode?: number }, request, reply) =>
    refusePage(request, reply, (error.statusCode ?? 500) < 500 ? undefined : error),
  );

  return {
    server,
    app,
    add(list) {
      for (const route of list) routes.set(route.path, route);
    },
    isDraining: () => draining,
    inFlight: () => inFlight,
    async drain() {
      draining = true;
      await drainServer(app, server, () => inFlight);
    },
  };
}

/** The reference's folders would answer too, and its index redirects: here a page has one path. */
function isPage(path: string): boolean {
  if (path === PAGES) return true;
  return path.startsWith(`${PAGES}/`) && !path.endsWith('/') && path !== `${PAGES}/static/index.html`;
}

/** Whoever sends such a request may disagree with us on where the next one begins. */
function refuseTransport(call: Call, refusal: Refusal): void {
  call.res.shouldKeepAlive = false;
  sendRefusal(call, refusal);
}
