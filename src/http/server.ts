/** The port: Fastify with bounded sizes and waits, JSON for every error, and an end that loses no request. */

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifySchema } from 'fastify';
import type { Logger } from 'pino';
import { StoreUnavailable } from '../core/ports.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import type { Handler } from './api.ts';
import { readHead } from './head.ts';
import type { Metrics } from './metrics.ts';
import { type Exchange, rawRefusal, sendEmpty, sendRefusal } from './reply.ts';
import { MOST_TARGET, readTarget, routedUrl } from './target.ts';

export interface Route {
  readonly path: string;
  /** What the logs and metrics call it. */
  readonly name: string;
  readonly isApi: boolean;
  readonly schema?: FastifySchema;
  readonly handle: Handler;
}

export interface PortParts {
  readonly log: Logger;
  readonly accessLog: 'errors' | 'all' | 'off';
  readonly metrics: Metrics;
}

export interface Port {
  readonly app: FastifyInstance<Server>;
  add(routes: readonly Route[]): void;
  readonly isDraining: () => boolean;
  readonly inFlight: () => number;
  /** Not ready at once; every accepted request is answered; then the port closes. */
  drain(): Promise<void>;
}

/** The API is shed, before anything is counted, when this many requests wait for their answer. */
const MOST_IN_FLIGHT = 2_000;
const MOST_CONNECTIONS = 20_000;
const SLOW_SECONDS = 0.5;
/** How long open connections may still bring requests after the port was told to end, and the hard limit. */
const LINGER_MS = 1_000;
const DRAIN_MS = 8_000;

const TIMEOUTS = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };

/** Values that Fastify's schema compilers never see: every handler checks and writes by itself. */
const NO_COMPILER = () => () => true;

export function createPort(parts: PortParts): Port {
  const { log, metrics } = parts;
  const boot = randomBytes(6).toString('hex');
  let requests = 0;
  let inFlight = 0;
  let draining = false;
  const nextId = () => `${boot}-${(requests++).toString(36)}`;

  const app: FastifyInstance<Server> = fastify({
    logger: false,
    rewriteUrl: req => routedUrl(req.url ?? ''),
    http: { ...TIMEOUTS, maxHeaderSize: 8 * 1024, requireHostHeader: true, keepAliveTimeoutBuffer: 1_000 },
    requestTimeout: TIMEOUTS.requestTimeout,
    keepAliveTimeout: 65_000,
    maxRequestsPerSocket: 1_000,
    return503OnClosing: false,
    forceCloseConnections: false,
    exposeHeadRoutes: true,
    bodyLimit: 1024,
    clientErrorHandler: (error, socket) => refuseSocket(error, socket, nextId()),
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      sendRefusal(begin(request.raw, reply.raw, 'none', false), refuse('not_found'));
    },
  });
  app.setValidatorCompiler(NO_COMPILER);
  app.server.maxConnections = MOST_CONNECTIONS;
  app.server.on('connect', (_req, socket) =>
    socket.end(rawRefusal(refuse('bad_request', 'CONNECT is not supported'), nextId())),
  );
  for (const event of ['checkContinue', 'checkExpectation'] as const) {
    app.server.on(event, (req: IncomingMessage, res: ServerResponse) => {
      const exchange = begin(req, res, 'none', false);
      res.shouldKeepAlive = false;
      sendRefusal(exchange, refuse('expectation_failed'));
    });
  }

  function begin(req: IncomingMessage, res: ServerResponse, route: string, isApi: boolean): Exchange {
    const exchange: Exchange = {
      req,
      res,
      head: readHead(req),
      requestId: nextId(),
      startedAt: performance.now(),
      route,
      isApi,
      keyId: undefined,
      domain: undefined,
      degraded: false,
    };
    inFlight++;
    if (draining) res.shouldKeepAlive = false;
    res.once('close', () => finish(exchange));
    return exchange;
  }

  function finish(exchange: Exchange): void {
    inFlight--;
    const { res, req, route, keyId, domain, degraded, requestId } = exchange;
    const seconds = (performance.now() - exchange.startedAt) / 1000;
    const status = res.writableFinished ? res.statusCode : 499;
    metrics.request(route, status, seconds);
    const notable = status >= 500 || degraded || seconds > SLOW_SECONDS;
    if (parts.accessLog === 'off' || (parts.accessLog === 'errors' && !notable)) return;
    const ms = Math.round(seconds * 1e5) / 100;
    log.info(
      { method: req.method, route, domain, status, ms, degraded, key: keyId, request_id: requestId },
      'request',
    );
  }

  /** Anything that is not a Refusal is our fault, and opaque to the caller. */
  function fail(exchange: Exchange, error: unknown): void {
    const kind = error instanceof StoreUnavailable ? 'the store is unavailable' : 'a request failed';
    log.error({ err: error, request_id: exchange.requestId }, kind);
    if (exchange.res.headersSent) exchange.res.destroy();
    else sendRefusal(exchange, refuse('internal_error'));
  }

  function run(route: Route, req: IncomingMessage, res: ServerResponse): void {
    const exchange = begin(req, res, route.name, route.isApi);
    const refusal = transportRefusal(exchange);
    if (refusal) return sendRefusal(exchange, refusal);
    if (route.isApi && inFlight > MOST_IN_FLIGHT) {
      metrics.shed();
      return sendRefusal(exchange, refuse('overloaded', null, 1));
    }
    route.handle(exchange).catch(error => fail(exchange, error));
  }

  const known = new Map<string, Route>();
  function add(routes: readonly Route[]): void {
    for (const route of routes) {
      known.set(routedUrl(route.path), route);
      app.get(route.path, { schema: route.schema ?? { hide: true } }, (request, reply) => {
        reply.hijack();
        run(route, request.raw, reply.raw);
      });
    }
  }
  // Before any body is looked at: what is at no route, or at one with another method, ends here.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    reply.hijack();
    const route = known.get(request.raw.url ?? '');
    const exchange = begin(
      request.raw,
      reply.raw,
      route?.name ?? 'none',
      route?.isApi ?? isBelowApi(request.raw.url),
    );
    const refusal = transportRefusal(exchange);
    if (refusal) sendRefusal(exchange, refusal);
    else if (!route) sendRefusal(exchange, refuse('not_found'));
    else if (route.isApi && request.method === 'OPTIONS') sendEmpty(exchange, 204, PREFLIGHT);
    else sendRefusal(exchange, refuse('method_not_allowed'), ['Allow', route.isApi ? ALLOW_API : ALLOW]);
  });

  return {
    app,
    add,
    isDraining: () => draining,
    inFlight: () => inFlight,
    async drain() {
      draining = true;
      await drainServer(app, () => inFlight);
    },
  };
}

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

function isBelowApi(url: string | undefined): boolean {
  return url?.startsWith('/v1/') ?? false;
}

function transportRefusal({ req, head }: Exchange): Refusal | undefined {
  const raw = (req as { originalUrl?: string }).originalUrl ?? req.url ?? '';
  if (head.hosts > 1) return refuse('bad_request', 'the request has more than one Host header');
  if (raw.length > MOST_TARGET) return refuse('uri_too_long', `at most ${MOST_TARGET} characters`);
  if (readTarget(raw) === undefined) return refuse('bad_request', 'the request target must be a path');
  return undefined;
}

/** What Node's parser refuses, in the same shape as everything else. */
function refuseSocket(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(rawRefusal(parserRefusal(error.code), requestId));
}

function parserRefusal(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return refuse('headers_too_large', 'at most 8 KiB in all');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refuse('request_timeout');
  return refuse('bad_request');
}

/**
 * Requests that are on their way over an open connection would be lost if it were closed under them. So for a
 * while each is still answered, with `Connection: close`; then the listener and idle connections go.
 */
async function drainServer(app: FastifyInstance<Server>, inFlight: () => number): Promise<void> {
  const until = performance.now() + DRAIN_MS;
  const connections = () =>
    new Promise<number>(resolve => app.server.getConnections((_error, count) => resolve(count ?? 0)));
  const linger = performance.now() + LINGER_MS;
  while ((await connections()) > 0 && performance.now() < linger) await pause(25);
  const closed = app.close();
  app.server.closeIdleConnections();
  while (inFlight() > 0 && performance.now() < until) await pause(10);
  app.server.closeIdleConnections();
  while ((await connections()) > 0 && performance.now() < until) {
    await pause(25);
    app.server.closeIdleConnections();
  }
  app.server.closeAllConnections();
  await closed;
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
