/** Writes answers: prepared header arrays and string bodies, the cheapest way that `node:http` has. */

import type { ServerResponse } from 'node:http';
import { type Allowance, secondsLeft } from '../core/quota.ts';
import { REFUSALS, type Refusal, refuse } from '../core/refusal.ts';
import { MOST_DRAINED } from './bytes.ts';
import type { Call, Headers } from './call.ts';
import { dateText } from './date.ts';
import type { Head } from './head.ts';
import { STATUS_CODES } from './node-http.ts';
import { OPERATORS } from './places.ts';
import { newRequestId } from './request-id.ts';
import { errorJson } from './wire.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';
const EXPOSED =
  'RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Risk-Degraded, X-Request-Id, ETag';
const MOST_ORIGIN = 512;
/** Browsers send nothing else; other bytes would come back in another encoding, or as a line of ours. */
const VISIBLE = /^[!-~]+$/;

const isEchoed = (origin = '') => origin.length <= MOST_ORIGIN && VISIBLE.test(origin);

/** What every answer has, whatever its status, and what comes on top. Loops: spreading cost 3 µs (2026-11-15). */
function headersOf(call: Call, extra: Headers): Headers {
  const headers = ['X-Request-Id', call.requestId, 'X-Content-Type-Options', 'nosniff'];
  if (call.head.traceparent !== undefined) headers.push('traceparent', call.head.traceparent);
  for (const part of call.quota) headers.push(part);
  for (const part of extra) headers.push(part);
  if (call.res.shouldKeepAlive) headers.push('Keep-Alive', `timeout=${call.connection.idleSeconds}`);
  if (call.isApi) {
    headers.push('Vary', 'Origin, Authorization');
    const { origin } = call.head;
    if (isEchoed(origin)) {
      headers.push('Access-Control-Allow-Origin', origin!, 'Access-Control-Expose-Headers', EXPOSED);
    }
  }
  return headers;
}

/** Fields of draft-ietf-httpapi-ratelimit-headers and the older ones that clients know; none for an unlimited key. */
export function quotaHeaders({ limit, remaining, month }: Allowance, now: number): Headers {
  if (limit === null) return [];
  const window = (month.end - month.start) / 1000;
  return [
    'RateLimit-Policy',
    `"monthly";q=${limit};w=${window}`,
    'RateLimit',
    `"monthly";r=${remaining};t=${secondsLeft(month, now)}`,
    'X-RateLimit-Limit',
    `${limit}`,
    'X-RateLimit-Remaining',
    `${remaining}`,
    'X-RateLimit-Reset',
    `${month.end / 1000}`,
  ];
}

/** `end`: a few letters behind a body of bytes, which others share. */
export function send(
  call: Call,
  status: number,
  type: string,
  body: string | Buffer,
  extra: Headers = [],
  end = '',
): void {
  const { res } = call;
  const length = Buffer.byteLength(body) + end.length;
  if (!sends(call, call.req.method === 'HEAD' ? 0 : length)) return sendRefusal(call, UNREAD);
  const headers = headersOf(call, extra);
  headers.push('Content-Type', type, 'Content-Length', `${length}`);
  res.writeHead(status, headers);
  if (call.req.method === 'HEAD') res.end();
  // Node's own: what the lane answers is text.
  else if (typeof body !== 'string') endInPieces(res as ServerResponse, { body, end }, 0);
  // One byte for each character: nothing needs to be encoded.
  else res.end(body, length === body.length ? 'latin1' : 'utf8');
  call.finished(call, status);
}

/** False where there is no room for a large answer. What was asked behind this one is still answered. */
function sends(call: Call, length: number): boolean {
  const { connection } = call;
  const hasRoom = connection.sends(length, call.isPaid ? (call.keyId ?? OPERATORS) : undefined);
  if (connection.isSpent && connection.last === call) endAfter(call);
  return hasRoom;
}

const UNREAD = refuse('overloaded', 'read the large answers that you asked for before you ask for more', 1);

/**
 * Each piece when the one before was taken: so it shows whether a peer reads at all, slowly or not. In a turn of its own:
 * the kernel may take megabytes at once, 5 ms of copying (2026-11-17).
 */
const PIECE = 64 * 1024;

function endInPieces(res: ServerResponse, bytes: { body: Buffer; end: string }, from: number): void {
  const { body, end } = bytes;
  const next = from + PIECE;
  const piece = body.subarray(from, next);
  if (next < body.length) res.write(piece, error => error ?? setImmediate(endInPieces, res, bytes, next));
  else if (end === '') res.end(piece);
  else {
    res.write(piece);
    res.end(end, 'latin1');
  }
}

export function sendJson(
  call: Call,
  status: number,
  body: string | Buffer,
  extra: Headers = [],
  end = '',
): void {
  send(call, status, JSON_TYPE, body, extra, end);
}

/** An answer without content: 204 and 304. */
export function sendEmpty(call: Call, status: number, extra: Headers): void {
  sends(call, 0);
  call.res.writeHead(status, headersOf(call, extra));
  call.res.end();
  call.finished(call, status);
}

/** One table of codes decides the status; only the details differ. */
export function sendRefusal(call: Call, refusal: Refusal, extra: Headers = [], allowance?: Allowance): void {
  const { head, requestId } = call;
  const { status } = REFUSALS[refusal.refused];
  const headers = ['Cache-Control', 'no-store', ...extra];
  if (refusal.retryAfter !== undefined) headers.push('Retry-After', `${refusal.retryAfter}`);
  if (refusal.refused === 'unauthorized') headers.push('WWW-Authenticate', challenge(head));
  const body = errorJson(refusal, requestId, head.wantsProblem, allowance);
  send(call, status, head.wantsProblem ? PROBLEM_TYPE : JSON_TYPE, body, headers);
}

/** Whoever sends such a request may disagree with us on where the next one begins (request smuggling, RFC 9112 11.2). */
export function refuseLast(call: Call, refusal: Refusal): void {
  endAfter(call);
  sendRefusal(call, refusal);
}

/** Whose body may not have come, or is not read. */
export function refuseUnread(call: Call, refusal: Refusal): void {
  if (!call.req.complete && call.head.bodyLength > MOST_DRAINED) endAfter(call);
  sendRefusal(call, refusal);
}

/** No request behind this one is answered. */
export function endAfter({ res, connection }: Call): void {
  res.shouldKeepAlive = false;
  connection.stop();
}

/** RFC 6750 3.1: an error code only where a bearer token was sent, be it badly spaced. */
function challenge(head: Head): string {
  const realm = 'Bearer realm="domain-risk"';
  return /^bearer[ \t]+\S/i.test(head.authorization ?? '') ? `${realm}, error="invalid_token"` : realm;
}

/** What can be told of a request that nobody has parsed. */
export interface Unparsed
  extends Partial<Pick<Head, 'origin' | 'requestId' | 'traceparent' | 'wantsProblem'>> {
  readonly isHead?: boolean;
}

/**
 * An answer below the HTTP server: for what its parser refused before there was a request. It may have been a call of the
 * API, and so it has what answers of that have.
 */
export function rawRefusal(refusal: Refusal, sent: Unparsed = {}): string {
  const { status } = REFUSALS[refusal.refused];
  const { origin, traceparent, wantsProblem = false, requestId = newRequestId() } = sent;
  const body = errorJson(refusal, requestId, wantsProblem);
  const cors = [`Access-Control-Allow-Origin: ${origin}`, `Access-Control-Expose-Headers: ${EXPOSED}`];
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'X-Content-Type-Options: nosniff',
    'Vary: Origin, Authorization',
    ...(isEchoed(origin) ? cors : []),
    `Content-Type: ${wantsProblem ? PROBLEM_TYPE : JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    ...(refusal.retryAfter === undefined ? [] : [`Retry-After: ${refusal.retryAfter}`]),
    `X-Request-Id: ${requestId}`,
    `Date: ${dateText()}`,
    ...(traceparent === undefined ? [] : [`traceparent: ${traceparent}`]),
    'Connection: close',
    '',
    sent.isHead ? '' : body,
  ].join('\r\n');
}
