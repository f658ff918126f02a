/**
 * Refuses the plainest requests of the API without parsing them: when far more come than can be answered, each refusal
 * is paid for with an answer that somebody else does not get. Everything that is not exactly of this shape is left to
 * the parser, which has the last word on what a request is.
 */

import { refuse } from '../core/refusal.ts';
import { JSON_TYPE } from './reply.ts';
import { errorJson } from './wire.ts';

/** One head that ends with the bytes: a GET below `/v1/` with Host, and nothing that asks for another answer. */
const PLAIN =
  /^GET \/v1\/[!-~]{1,300} HTTP\/1\.1\r\n(?:(?:Host|User-Agent|Authorization|Accept|Accept-Encoding|Connection):[\t -~]*\r\n){1,8}\r\n$/i;
const OTHER = /\r\n(?:connection: *(?!keep-alive\r)|accept:[^\r]*problem)/i;
const HOST = /\r\nhost:/gi;

/** The whole answer, or undefined where the parser has to look. */
export function plainRefusal(bytes: Buffer, requestId: string): string | undefined {
  const text = bytes.toString('latin1');
  if (!PLAIN.test(text) || OTHER.test(text) || text.match(HOST)?.length !== 1) return undefined;
  const body = errorJson(OVERLOADED, requestId, false);
  return `${HEAD}X-Request-Id: ${requestId}\r\nContent-Length: ${body.length}\r\nDate: ${date()}\r\n\r\n${body}`;
}

const OVERLOADED = refuse('overloaded', null, 1);
const HEAD = [
  'HTTP/1.1 503 Service Unavailable',
  'X-Content-Type-Options: nosniff',
  'Cache-Control: no-store',
  'Retry-After: 1',
  'Vary: Origin, Authorization',
  `Content-Type: ${JSON_TYPE}`,
  'Connection: keep-alive',
  // Shorter than for others: nobody has seen that it is a client at all.
  'Keep-Alive: timeout=5',
  '',
].join('\r\n');

let dateText = '';
let dateUntil = 0;

/** Written once a second. */
function date(): string {
  const now = performance.now();
  if (now >= dateUntil) {
    dateText = new Date().toUTCString();
    dateUntil = now + 1_000;
  }
  return dateText;
}
