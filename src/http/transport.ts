/** What is refused before there is a route: by Node's parser, or because two readers could read it differently. */

import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../core/refusal.ts';
import { MOST_HEAD } from './bytes.ts';
import type { Head } from './head.ts';
import { MOST_TARGET, NO_TARGET, type Target } from './target.ts';

export function transportRefusal(req: IncomingMessage, head: Head, target: Target): Refusal | undefined {
  if (req.httpVersionMajor !== 1) return refuse('bad_request', OLD_VERSIONS);
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

const OLD_VERSIONS = 'the request must be HTTP/1.0 or HTTP/1.1';
const LINE_ENDS = 'each line of the head must end with CR LF';
const FOLDED = 'a header line begins with a space: write each header in one line';
const CHUNKS = 'the chunks of the body are not as long as they say';
const CHUNK_LINES = 'the length of a chunk must be hexadecimal digits in a line that ends with CR LF';

/** What is wrong, by what the parser (llhttp) gives as the reason, … */
const BY_REASON: Readonly<Record<string, string>> = {
  'Expected CRLF after version': LINE_ENDS,
  'Expected LF after headers': LINE_ENDS,
  'Missing expected CR after chunk size': CHUNK_LINES,
  'Unexpected whitespace after header value': FOLDED,
  'Invalid header value char': 'a header value holds a control character',
};
/** … else by its code. */
const BY_CODE: Readonly<Record<string, string>> = {
  HPE_INVALID_TRANSFER_ENCODING: 'send Content-Length or Transfer-Encoding: chunked, and not both',
  HPE_INVALID_CONTENT_LENGTH: 'Content-Length must be one whole number, without Transfer-Encoding',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'send Content-Length once',
  HPE_CR_EXPECTED: LINE_ENDS,
  HPE_LF_EXPECTED: LINE_ENDS,
  HPE_UNEXPECTED_SPACE: FOLDED,
  HPE_INVALID_HEADER_TOKEN: 'a header line must be a name, a colon without a space before it, and a value',
  HPE_INVALID_METHOD: 'the request must begin with a method of HTTP; this port does not speak TLS',
  HPE_INVALID_URL: 'the request target must be a path in ASCII: percent-encode other characters',
  HPE_INVALID_CONSTANT: 'the first line must be a method, a path and HTTP/1.1, with one space between them',
  HPE_INVALID_VERSION: OLD_VERSIONS,
  HPE_PAUSED_H2_UPGRADE: OLD_VERSIONS,
  HPE_INVALID_CHUNK_SIZE: CHUNK_LINES,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'the extensions of chunks have more than 16 KiB: leave them out',
  HPE_STRICT: CHUNKS,
};

export const TOO_MANY_LINES = refuse('headers_too_large', 'at most 128 lines');
export const TOO_LONG = refuse('headers_too_large', 'at most 8 KiB in all');
const PREFACE = 'PRI * HTTP/2.0\r\n';

/** Of a head that became no request, and that Node's parser gives no reason for. */
export function lostRefusal(head: Buffer): Refusal {
  if (head.length > MOST_HEAD) return TOO_LONG;
  return refuse('bad_request', head.toString('latin1', 0, PREFACE.length) === PREFACE ? OLD_VERSIONS : null);
}

/** What Node's parser refuses, in the words of everything else. */
export function parserRefusal(code = '', reason = ''): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return TOO_LONG;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refuse('request_timeout');
  return refuse('bad_request', BY_REASON[reason] ?? BY_CODE[code] ?? null);
}
