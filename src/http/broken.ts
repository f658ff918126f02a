/** What never becomes a request: CONNECT, and what Node's parser refuses. Each gets its one answer. */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { REFUSALS, type Refusal, refuse } from '../core/refusal.ts';
import { joined, MOST_HEAD } from './bytes.ts';
import type { Connection } from './connection.ts';
import { type Head, readHead } from './head.ts';
import { Late } from './late.ts';
import type { OpenLine } from './line.ts';
import type { Metrics } from './metrics.ts';
import { endAfter, rawRefusal, refuseLast, type Unparsed } from './reply.ts';
import type { Sockets } from './sockets.ts';
import { parserRefusal } from './transport.ts';

/** What Node tells of it. */
interface ParserError extends NodeJS.ErrnoException {
  readonly reason?: string;
  /** What it was given last. */
  readonly rawPacket?: Buffer;
}

const TOO_LATE = 'ERR_HTTP_REQUEST_TIMEOUT';
const LOOK_MS = 1_000;
const HEAD = 'HEAD ';
/** Of a head that has more the rest is not looked at. */
const MOST_LINES = 256;

function answerable(head: Head, isHead: boolean): Unparsed {
  const { origin, requestId, traceparent, wantsProblem } = head;
  return { isHead, origin, requestId, traceparent, wantsProblem };
}

/** By the lines that have come whole: part of a name or an address is that of somebody else. */
export function unparsed(bytes: Buffer): Unparsed {
  const text = bytes.toString('latin1', 0, MOST_HEAD).trimStart();
  const fields: string[] = [];
  for (const line of text.split('\r\n', MOST_LINES).slice(1, -1)) {
    if (line === '') break;
    const colon = line.indexOf(':');
    if (colon > 0) fields.push(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return answerable(readHead(fields), text.startsWith(HEAD));
}

export function answerBroken(server: Server, sockets: Sockets, metrics: Metrics): void {
  server.on('connect', (req, socket) => {
    const sent = answerable(readHead(req.rawHeaders), false);
    sockets.of(socket as Socket)?.end(rawRefusal(refuse('bad_request', 'CONNECT is not supported'), sent));
  });
  const late = new Late<Connection>(
    server.requestTimeout,
    one => void breakOff(one, parserRefusal(TOO_LATE)),
  );
  const looking = setInterval(() => late.tend(performance.now()), LOOK_MS).unref();
  server.on('close', () => clearInterval(looking));
  server.on('clientError', (error: ParserError, socket: Socket) => {
    const connection = sockets.of(socket);
    if (!connection || connection.isEnding) return;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    // Node counts the time for a head from the first moment on, and knows nothing of what waits for its turn.
    if (error.code === TOO_LATE && (connection.isAheadOfParser || late.adds(connection))) return;
    const refusal = parserRefusal(error.code, error.reason);
    if (breakOff(connection, refusal, error.rawPacket))
      metrics.request('none', REFUSALS[refusal.refused].status, 0);
  });
}

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Ends a connection over what was coming: the body of the last request, or whatever follows it. True where that has an
 * answer of its own. `packet` is what the parser was given last, and did not take.
 */
export function breakOff(line: OpenLine, refusal: Refusal, packet = NOTHING): boolean {
  const { last } = line;
  if (!last || last.req.complete) {
    line.end(rawRefusal(refusal, unparsed(joined(line.headSoFar ?? NOTHING, packet))));
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
