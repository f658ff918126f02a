/** What never becomes a request: CONNECT, and what Node's parser refuses. Each gets its one answer. */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { REFUSALS, type Refusal, refuse } from '../core/refusal.ts';
import { fieldIn } from './bytes.ts';
import type { OpenLine } from './line.ts';
import type { Metrics } from './metrics.ts';
import { endAfter, rawRefusal, refuseLast, type Unparsed } from './reply.ts';
import { newRequestId } from './request-id.ts';
import type { Sockets } from './sockets.ts';
import { parserRefusal } from './transport.ts';

/** What Node tells of it. */
interface ParserError extends NodeJS.ErrnoException {
  readonly reason?: string;
  /** What it was given last. */
  readonly rawPacket?: Buffer;
}

const HEAD = 'HEAD ';
/** Nothing else goes into a header of an answer. */
const VISIBLE = /^[!-~]+$/;

function unparsed(bytes: Buffer): Unparsed {
  const origin = fieldIn(bytes, 'origin');
  return {
    isHead: bytes.toString('latin1', 0, HEAD.length) === HEAD,
    origin: origin !== undefined && VISIBLE.test(origin) ? origin : undefined,
  };
}

export function answerBroken(server: Server, sockets: Sockets, metrics: Metrics): void {
  server.on('connect', (_req, socket) => {
    sockets
      .of(socket as Socket)
      ?.end(rawRefusal(refuse('bad_request', 'CONNECT is not supported'), newRequestId()));
  });
  server.on('clientError', (error: ParserError, socket: Socket) => {
    const connection = sockets.of(socket);
    if (!connection || connection.isEnding) return;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    // Node counts the time for a head from the first moment on, and knows nothing of one that waits for its turn.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection.isAheadOfParser) return;
    const refusal = parserRefusal(error.code, error.reason);
    const sent = error.rawPacket && unparsed(error.rawPacket);
    if (breakOff(connection, refusal, sent)) metrics.request('none', REFUSALS[refusal.refused].status, 0);
  });
}

/**
 * Ends a connection over what was coming: the body of the last request, or whatever follows it. True where that has an
 * answer of its own.
 */
export function breakOff(line: OpenLine, refusal: Refusal, sent?: Unparsed): boolean {
  const { last } = line;
  if (!last || last.req.complete) {
    line.end(rawRefusal(refusal, newRequestId(), sent));
    return true;
  }
  if (last.isFinished) line.end();
  else if (last.isReading) refuseLast(last, refusal);
  // Nobody waits for its body: it gets the answer that is being made, and that is the last one.
  else endAfter(last);
  return false;
}

/** Ends a connection whose place is needed: the answer that is being made is its last one, or it is told so. */
export function makeWay(line: OpenLine, refusal: Refusal): void {
  if (line.open > 0 && line.last?.req.complete) endAfter(line.last);
  else breakOff(line, refusal);
}
