/**
 * The port: bounded sizes and waits, JSON for every error, and an end that loses no request. Our own routes are
 * few and exact, so they are found by the raw path; the pages below are Fastify's.
 */

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { REFUSALS, type Refusal, refuse } from '../core/refusal.ts';
import { drainServer } from './drain.ts';
import { createFailureLog } from './failures.ts';
import { readHead } from './head.ts';
import type { Metrics } from './metrics.ts';
import { type Call, rawRefusal, sendEmpty, sendRefusal } from './reply.ts';
import type { Route } from './routes.ts';
import { MOST_TARGET, NO_TARGET, readTarget, type Target } from './target.ts';
import { parserRefusal, refuseSocket, transportRefusal } from './transport.ts';

export interface PortParts {
  readonly log: Logger;
  readonly accessLog: 'errors' | 'all' | 'off';
  readonly metrics: Metrics;
}

/** Paths behind a door of their own, which the framework answers, bodies included, once a request has passed it. */
export interface Guarded {
  /** What the logs and metrics call it. */
  readonly name: string;
  /** What may be done at a path; undefined where there is nothing. */
  methodsAt(path: string): readonly string[] | undefined;
  refusalOf(call: Call): Refusal | undefined;
}

export interface Port {
  readonly server: Server;
  /** For pages, everything at or below `PAGES`, and for what is guarded. */
  readonly app: FastifyInstance<Server>;
  add(routes: readonly Route[]): void;
  guard(paths: Guarded): void;
  /** Of a request that the framework has. */
  callOf(req: IncomingMessage): Call;
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
  let guarded: Guarded | undefined;
  const requestsOn = new WeakMap<Socket, number>();
  const boot = randomBytes(6).toString('hex');
  let requests = 0;
  let inFlight = 0;
  let draining = false;
  const logFailure = createFailureLog(log);
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
      route: route?.name ?? nameOf(target.path),
      isApi: route?.isApi ?? target.path.startsWith('/v1/'),
      keyId: undefined,
      domain: undefined,
      degraded: false,
      quota: [],
      isFinished: false,
      finished: finish,
    };
  }

  function nameOf(path: string): string {
    if (isPage(path)) return 'docs';
    return guarded?.methodsAt(path) ? guarded.name : 'none';
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
    if (isAfterLast(req) || (route.isApi && inFlight > MOST_IN_FLIGHT)) return shed(call);
    route.handle(call).catch(error => fail(call, error));
  }

  const isAfterLast = ({ socket }: IncomingMessage) =>
    (requestsOn.get(socket) ?? 0) > MOST_REQUESTS_PER_SOCKET;

  function shed(call: Call): void {
    metrics.shed();
    sendRefusal(call, refuse('overloaded', null, 1));
  }

  /** Not shed under load: whoever comes in may be about to revoke the key that causes it. */
  function guard(call: Call, methods: readonly string[]): void {
    const { req } = call;
    if (!methods.includes(req.method!))
      return sendRefusal(call, refuse('method_not_allowed'), ['Allow', methods.join(', ')]);
    if (isAfterLast(req)) return shed(call);
    const refusal = guarded?.refusalOf(call);
    if (refusal) return sendRefusal(call, refusal);
    passOn(call);
  }

  let framework: (req: IncomingMessage, res: ServerResponse) => void;
  const passedOn = new WeakMap<IncomingMessage, Call>();
  function passOn(call: Call): void {
    const { req, res } = call;
    passedOn.set(req, call);
    res.setHeader('X-Request-Id', call.requestId);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    // Without an answer there is no status: whoever sent it broke off.
    res.once('close', () => finish(call, res.headersSent ? res.statusCode : REFUSALS.bad_request.status));
    framework(req, res);
  }
  const server = createServer(LIMITS, (req, res) => {
    const target = readTarget(req.url ?? '') ?? NO_TARGET;
    const route = routes.get(target.path);
    const call = begin(req, res, target, route);
    if (route === undefined && !transportRefusal(req, call.head, target)) {
      if (isPage(target.path)) return passOn(call);
      const methods = guarded?.methodsAt(target.path);
      if (methods) return guard(call, methods);
    }
    handle(call, route);
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
      framework = handler;
      return server;
    },
    rewriteUrl: req => frameworkPath(readTarget(req.url ?? '')?.path ?? '/'),
    routerOptions: { maxParamLength: 3 * MOST_TARGET },
    return503OnClosing: false,
    forceCloseConnections: false,
    clientErrorHandler(error, socket) {
      const waiting = socket.writable ? callWithoutBody(socket) : undefined;
      if (waiting) return refuseTransport(waiting, parserRefusal(error.code));
      const status = refuseSocket(error, socket, nextId());
      if (status !== undefined) metrics.request('none', status, 0);
    },
    frameworkErrors: (_error, request, reply) => refusePage(request, reply),
  });
  /** The one whose body was being read when its connection broke the rules or the time was over. */
  function callWithoutBody(socket: Socket): Call | undefined {
    const { req } = (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? {};
    const call = req && passedOn.get(req);
    return call?.isFinished === false && !call.req.complete ? call : undefined;
  }

  // Whatever a page's own framework refuses ends in the same table of codes, and before any body is read.
  function refusePage({ raw }: FastifyRequest, reply: FastifyReply, failure?: unknown): void {
    reply.hijack();
    const call = passedOn.get(raw)!;
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
    guard(paths) {
      guarded = paths;
    },
    callOf: req => passedOn.get(req)!,
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

/** The framework decodes what it is given; of guarded paths it gets back what was sent, decoded by nobody. */
function frameworkPath(path: string): string {
  return isPage(path) ? path : path.replaceAll(/[%#]/g, encodeURIComponent);
}

/** Whoever sends such a request may disagree with us on where the next one begins. */
function refuseTransport(call: Call, refusal: Refusal): void {
  call.res.shouldKeepAlive = false;
  sendRefusal(call, refusal);
}
