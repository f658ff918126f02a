/** What is refused before there is a route: by Node's parser, or because two readers could read it differently. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { REFUSALS, type Refusal, refuse } from '../core/refusal.ts';
import type { Head } from './head.ts';
import { rawRefusal } from './reply.ts';
import { MOST_TARGET, NO_TARGET, type Target } from './target.ts';

export function transportRefusal(req: IncomingMessage, head: Head, target: Target): Refusal | undefined {
  if (req.httpVersionMajor !== 1) return refuse('bad_request', 'the request must be HTTP/1.0 or HTTP/1.1');
  if (head.hosts === 0 && req.httpVersionMinor > 0)
    return refuse('bad_request', 'the request has no Host header');
  if (head.hosts > 1) return refuse('bad_request', 'the request has more than one Host header');
  if ((req.url ?? '').length > MOST_TARGET)
    return refuse('uri_too_long', `at most ${MOST_TARGET} characters`);
  if (target === NO_TARGET) return refuse('bad_request', 'the request target must be a path');
  return undefined;
}

/** What Node's parser refuses, in the same shape as everything else; gives the status, if there is an answer. */
export function refuseSocket(
  error: NodeJS.ErrnoException,
  socket: Socket,
  requestId: string,
): number | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const refusal = parserRefusal(error.code);
  // The answer to the request before comes first: whoever sent that one would take the refusal for it.
  const pending = (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
  if (pending && !pending.writableFinished) {
    pending.once('close', () => void refuseSocket(error, socket, requestId));
  } else {
    socket.end(rawRefusal(refusal, requestId));
  }
  return REFUSALS[refusal.refused].status;
}

export function parserRefusal(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return refuse('headers_too_large', 'at most 8 KiB in all');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refuse('request_timeout');
  return refuse('bad_request');
}
