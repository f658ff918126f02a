/** What is refused before there is a route: by Node's parser, or because two readers could read it differently. */

import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../core/refusal.ts';
import type { Head } from './head.ts';
import { MOST_TARGET, NO_TARGET, type Target } from './target.ts';

export function transportRefusal(req: IncomingMessage, head: Head, target: Target): Refusal | undefined {
  if (req.httpVersionMajor !== 1) return refuse('bad_request', 'the request must be HTTP/1.0 or HTTP/1.1');
  // RFC 9112 3.2: exactly one Host; HTTP/1.0 may have none.
  if (head.hosts === 0 && req.httpVersionMinor > 0)
    return refuse('bad_request', 'the request has no Host header');
  if (head.hosts > 1) return refuse('bad_request', 'the request has more than one Host header');
  if (head.transferEncoding !== undefined && !isChunked(req, head.transferEncoding))
    return refuse('bad_request', 'Transfer-Encoding must be chunked, and needs HTTP/1.1');
  // Node's parser takes what follows such a body for the other protocol (RFC 9110 7.8), and drops it.
  if (head.hasUpgrade && head.bodyLength > 0)
    return refuse('bad_request', 'Upgrade is not supported: leave it out');
  if ((req.url ?? '').length > MOST_TARGET)
    return refuse('uri_too_long', `at most ${MOST_TARGET} characters`);
  if (target === NO_TARGET) return refuse('bad_request', 'the request target must be a path');
  return undefined;
}

/** Request smuggling, RFC 9112 6.1 and 11.2: a coding that two readers may understand differently hides a request. */
function isChunked({ httpVersionMinor }: IncomingMessage, coding: string): boolean {
  return httpVersionMinor > 0 && coding.toLowerCase() === 'chunked';
}

/** What Node's parser refuses, in the words of everything else. */
export function parserRefusal(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return refuse('headers_too_large', 'at most 8 KiB in all');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refuse('request_timeout');
  return refuse('bad_request');
}
