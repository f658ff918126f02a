/**
 * Refuses the plainest requests of the API without parsing them: when far more come than can be answered, each refusal
 * is paid for with an answer that somebody else does not get. Everything that is not exactly of this shape is left to
 * the parser, which has the last word on what a request is.
 */

import { refuse } from '../core/refusal.ts';
import { EMPTY_LINE } from './bytes.ts';
import { dateText } from './date.ts';
import { JSON_TYPE } from './reply.ts';
import { errorJson } from './wire.ts';

const BEGIN = 'GET ';
const END = ' HTTP/1.1';
const MOST_HEAD = 2_048;
const VISIBLE = /^[!-~]+$/;
const PRINTABLE = /^[\t -~]*$/;

/** Header lines that ask for nothing but the usual answer; a folded one (obs-fold, RFC 9112 5.2) has no such name. */
const PLAIN = new Map<string, (value: string) => boolean>([
  ['host', () => true],
  ['user-agent', () => true],
  ['authorization', () => true],
  ['accept-encoding', () => true],
  ['accept', value => !value.toLowerCase().includes('problem')],
  ['connection', value => value.toLowerCase() === 'keep-alive'],
]);

/** The whole answer, or undefined where the parser has to look. `isCall` knows the targets of the API. */
export function plainRefusal(
  bytes: Buffer,
  isCall: (target: string) => boolean,
  requestId: () => string,
): string | undefined {
  if (bytes.length > MOST_HEAD) return undefined;
  const text = bytes.toString('latin1');
  const lineEnd = text.indexOf('\r\n');
  const target = text.slice(BEGIN.length, lineEnd - END.length);
  if (!text.startsWith(BEGIN) || !text.startsWith(END, lineEnd - END.length)) return undefined;
  if (!isPlain(text.slice(lineEnd)) || !VISIBLE.test(target) || !isCall(target)) return undefined;
  const id = requestId();
  const body = errorJson(OVERLOADED, id, false);
  return `${HEAD}X-Request-Id: ${id}\r\nContent-Length: ${body.length}\r\nDate: ${dateText()}\r\n\r\n${body}`;
}

/** A client says the same with every request, the target apart: what was plain the last time is plain again. */
const plainBlocks = new Set<string>();
const MOST_BLOCKS = 64;

/** From the end of the request line to the end of all. */
function isPlain(block: string): boolean {
  if (plainBlocks.has(block)) return true;
  const end = block.length - EMPTY_LINE.length;
  if (block.indexOf(EMPTY_LINE) !== end || !arePlain(block.slice(2, end).split('\r\n'))) return false;
  if (plainBlocks.size >= MOST_BLOCKS) plainBlocks.clear();
  plainBlocks.add(block);
  return true;
}

function arePlain(fields: readonly string[]): boolean {
  let hosts = 0;
  for (const field of fields) {
    const colon = field.indexOf(':');
    const name = field.slice(0, Math.max(0, colon)).toLowerCase();
    const value = field.slice(colon + 1).trim();
    if (!PRINTABLE.test(value) || !PLAIN.get(name)?.(value)) return false;
    if (name === 'host') hosts++;
  }
  return hosts === 1;
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
