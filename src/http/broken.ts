/** What never becomes a request: CONNECT, and what Node's parser refuses. Each gets its one answer. */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { REFUSALS, refuse } from '../core/refusal.ts';
import type { Metrics } from './metrics.ts';
import { endAfter, rawRefusal, refuseLast } from './reply.ts';
import { newRequestId } from './request-id.ts';
import type { Sockets } from './sockets.ts';
import { parserRefusal } from './transport.ts';

export function answerBroken(server: Server, sockets: Sockets, metrics: Metrics): void {
  server.on('connect', (_req, socket) => {
    sockets
      .of(socket as Socket)
      ?.end(rawRefusal(refuse('bad_request', 'CONNECT is not supported'), newRequestId()));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const connection = sockets.of(socket);
    if (!connection || connection.isEnding) return;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    // Node counts the time for a head from the first moment on, and knows nothing of one that waits for its turn.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection.isAheadOfParser) return;
    const refusal = parserRefusal(error.code);
    const { last } = connection;
    // The one whose body was coming when its connection broke the rules or the time was over.
    if (last && !last.req.complete) {
      if (last.isFinished) return connection.end();
      if (last.isReading) return refuseLast(last, refusal);
      // Nobody waits for its body: it gets the answer that is being made, and that is the last one.
      return endAfter(last);
    }
    metrics.request('none', REFUSALS[refusal.refused].status, 0);
    connection.end(rawRefusal(refusal, newRequestId()));
  });
}
