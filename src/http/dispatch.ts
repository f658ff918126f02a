/**
 * From a request to its answer: which route it is for, who may have it, and what becomes of it when something goes wrong.
 * Routes are few, and found by the raw path: decoding is the business of whoever parses a segment.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { REFUSALS, type Refusal, refuse } from '../core/refusal.ts';
import { type AccessLog, createAccessLog } from './access.ts';
import { MOST_DRAINED } from './bytes.ts';
import type { Asked, Call, Reply } from './call.ts';
import { createFailureLog } from './failures.ts';
import { type Head, readHead } from './head.ts';
import { LaneReply } from './lane.ts';
import type { OpenLine } from './line.ts';
import type { Metrics } from './metrics.ts';
import { OPERATORS } from './places.ts';
import { plainRefusal } from './plain.ts';
import { PRICES, priceOf } from './prices.ts';
import { Receiving, type ReceivingParts } from './receiving.ts';
import { endAfter, refuseLast, refuseUnread, sendEmpty, sendRefusal } from './reply.ts';
import { newRequestId } from './request-id.ts';
import { createRouter, type Found } from './router.ts';
import type { Route } from './routes.ts';
import { createShedLog } from './shed.ts';
import { MOST_TARGET, NO_TARGET, readTarget, type Target } from './target.ts';
import { transportRefusal } from './transport.ts';

const STARTING = refuse('not_ready', 'the service is starting', 1);
/** Node's own limit answers what comes after it without a body. */
const MOST_REQUESTS_PER_SOCKET = 1_000;

export interface DispatchParts extends ReceivingParts {
  readonly log: Logger;
  readonly accessLog: AccessLog;
  readonly metrics: Metrics;
  /** Why a call does not come from an operator. */
  readonly operatorRefusal: (call: Call) => Refusal | undefined | Promise<Refusal | undefined>;
}

interface Begun {
  readonly req: Asked;
  readonly res: Reply;
  readonly head: Head;
  readonly target: Target;
  readonly connection: OpenLine;
}

export class Dispatch {
  readonly #parts: DispatchParts;
  readonly #logFailure: ReturnType<typeof createFailureLog>;
  readonly #access: ReturnType<typeof createAccessLog>;
  readonly #shedLog: ReturnType<typeof createShedLog>;
  readonly #receiving: Receiving;
  readonly #routes: Route[] = [];
  #find = createRouter([]);
  /** Requests that have no answer yet. */
  inFlight = 0;
  /** Every answer is the last of its connection. */
  isDraining = false;
  /** All routes are there: until then who asks for one that is not is told to come again. */
  isOpen = false;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
    this.#logFailure = createFailureLog(parts.log);
    this.#access = createAccessLog(parts.log, parts.accessLog);
    this.#shedLog = createShedLog(parts.log);
    this.#receiving = new Receiving(parts);
  }

  add(routes: readonly Route[]): void {
    this.#routes.push(...routes);
    this.#find = createRouter(this.#routes);
  }

  close(): void {
    this.#shedLog.close();
  }

  /** One that Node's parser has read. */
  parsed(req: IncomingMessage, res: ServerResponse, connection: OpenLine): void {
    const { call, found } = this.#beginParsed(req, res, connection);
    this.#handle(req, call, found);
  }

  /** Expect, RFC 9110 10.1.1: a final status in place of `100 Continue`. */
  expecting(req: IncomingMessage, res: ServerResponse, connection: OpenLine): void {
    refuseLast(this.#beginParsed(req, res, connection).call, refuse('expectation_failed'));
  }

  /** Begins a call where the bytes are one of the lane; false for others. */
  takesLane(connection: OpenLine, piece: Buffer): boolean {
    const target = connection.lane.targetIn(piece);
    const found = target && this.#find(target.path);
    const route = found?.resource.routes.get('GET');
    if (!target || !route) return false;
    const { asked: req, head, isLast } = connection.lane;
    const res = new LaneReply(connection.socket, isLast);
    try {
      this.#run(this.#begin({ req, res, head, target, connection }, found), route);
    } catch (error) {
      // There is no call to answer: a fault of ours ends this connection, and not the process.
      this.#logFailure(error, newRequestId());
      connection.socket.destroy();
    }
    return true;
  }

  /** The 503 for bytes that are one plain request of the API; undefined for others. */
  plainRefusal(bytes: Buffer): string | undefined {
    // Whoever is told that the connection stays sends again over it.
    if (this.isDraining) return undefined;
    const refusal = plainRefusal(bytes, raw => this.#isCall(raw), newRequestId);
    if (refusal !== undefined) this.#noteShed();
    return refusal;
  }

  #isCall(raw: string): boolean {
    const target = raw.length <= MOST_TARGET ? readTarget(raw) : undefined;
    const resource = target && this.#find(target.path)?.resource;
    return resource?.isApi === true && resource.routes.has('GET');
  }

  #begin(begun: Begun, found: Found | undefined): Call {
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
      finished: this.#finish,
      failed: this.#fail,
    };
    this.inFlight++;
    connection.begin(call, priceOf(found?.resource.price ?? PRICES.bytes, target.segment));
    const isLast = this.isDraining || connection.isSpent || connection.requests >= MOST_REQUESTS_PER_SOCKET;
    const isUnread = head.bodyLength > MOST_DRAINED && !found?.resource.routes.get(req.method!)?.body;
    if (isLast || isUnread || !res.shouldKeepAlive) endAfter(call);
    return call;
  }

  #beginParsed(req: IncomingMessage, res: ServerResponse, connection: OpenLine) {
    const sent = readTarget(req.url ?? '') ?? NO_TARGET;
    const found = this.#find(sent.path);
    const target = found && found.segment !== '' ? { ...sent, segment: found.segment } : sent;
    const begun = { req, res, head: readHead(req.rawHeaders), target, connection };
    return { call: this.#begin(begun, found), found };
  }

  #handle(req: IncomingMessage, call: Call, found: Found | undefined): void {
    const refusal = transportRefusal(req, call.head, call.target);
    if (refusal) return refuseLast(call, refusal);
    if (!found) return sendRefusal(call, this.isOpen ? refuse('not_found') : STARTING);
    const { resource } = found;
    const route = resource.routes.get(req.method!);
    if (!route) {
      if (resource.preflight && req.method === 'OPTIONS') return sendEmpty(call, 204, resource.preflight);
      return sendRefusal(call, refuse('method_not_allowed'), ['Allow', resource.allow]);
    }
    const judged = route.door === 'operator' ? this.#parts.operatorRefusal(call) : undefined;
    if (!(judged instanceof Promise)) return this.#enter(req, call, route, judged);
    // Whoever breaks off meanwhile is told so at once: nobody waits for the rest of its body.
    call.isReading = route.body !== undefined;
    judged
      .then(stranger => {
        call.isReading = false;
        if (!call.isFinished) this.#enter(req, call, route, stranger);
      })
      .catch(error => this.#fail(call, error));
  }

  #enter(req: IncomingMessage, call: Call, route: Route, stranger: Refusal | undefined): void {
    // Operators are never shed: whoever comes in may be about to revoke the key that causes it.
    const isOperator = route.door === 'operator' && !stranger;
    if (route.door === 'operator') call.connection.knownAs(isOperator ? OPERATORS : undefined);
    if (call.connection.isShedding && !route.isProbe && !isOperator) {
      this.#noteShed();
      return refuseUnread(call, refuse('overloaded', null, 1));
    }
    if (stranger) return refuseUnread(call, stranger);
    if (route.door === 'operator') call.isPaid = true;
    if (!route.body) return this.#run(call, route);
    this.#readThenHandle(req, call, route).catch(error => this.#fail(call, error));
  }

  #run(call: Call, route: Route): void {
    call.connection.received();
    try {
      route.handle(call, undefined)?.catch(error => this.#fail(call, error));
    } catch (error) {
      this.#fail(call, error);
    }
  }

  async #readThenHandle(req: IncomingMessage, call: Call, route: Route): Promise<void> {
    call.isReading = true;
    const body = await this.#receiving.body(req, call, route);
    call.isReading = false;
    // Whoever sent it broke off, or was refused by the parser: nobody is there to be answered.
    if (!body || call.isFinished) return call.finished(call, REFUSALS.bad_request.status);
    if ('refused' in body) return refuseUnread(call, body);
    call.connection.received();
    return route.handle(call, body.sent);
  }

  #noteShed(): void {
    this.#parts.metrics.shed();
    this.#shedLog.note();
  }

  readonly #finish = (call: Call, status: number): void => {
    if (call.isFinished) return;
    call.isFinished = true;
    this.inFlight--;
    const now = performance.now();
    const seconds = (now - call.startedAt) / 1000;
    this.#parts.metrics.request(call.route, status, seconds);
    this.#access(call, status, seconds);
    call.connection.answered(now);
  };

  /** Anything that is not a Refusal is our fault, and opaque to the caller. */
  readonly #fail = (call: Call, error: unknown): void => {
    this.#logFailure(error, call.requestId);
    if (!call.res.headersSent) return sendRefusal(call, refuse('internal_error'));
    call.res.destroy();
    call.finished(call, REFUSALS.internal_error.status);
  };
}
