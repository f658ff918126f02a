/** The body of a request: JSON of a bounded size and of the shape that its route names, or why it is not. */

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Type } from 'typebox';
import { type Refusal, refuse } from '../core/refusal.ts';
import { readBody } from './bodies.ts';
import type { Head } from './head.ts';

export const MOST_BODY = 64 * 1024;
const JSON_TYPE = 'application/json';
/** RFC 8259 8.1 knows no other for JSON: read as UTF-8 it would be another text. */
const CHARSET = /;\s*charset="?([^\s";]*)/i;
const CHARSETS = ['utf-8', 'utf8', 'us-ascii', ''];
const NOT_UTF8 = 'send JSON as UTF-8';
const UNCOMPRESSED = 'send the body without a Content-Encoding';

export interface BodyLimits {
  readonly bytes: number;
  /** Signs between values, and what is said of more: what it takes to read JSON depends on these more than on its length. */
  readonly values?: { readonly most: number; readonly problem: string } | undefined;
}

/** Where it is kept while it comes. */
export interface Chunks {
  readonly chunks: Buffer[];
  take(chunk: Buffer): void;
}

function newChunks(): Chunks {
  const chunks: Buffer[] = [];
  return { chunks, take: chunk => void chunks.push(chunk) };
}

const [QUOTE, BACKSLASH, COMMA, COLON, BRACKET, BRACE] = [...'"\\,:[{'].map(sign => sign.charCodeAt(0));

/**
 * Looked at before it is parsed: of 300 kB of brackets or of members the parser makes 30 to 100 ms of work, which nobody
 * else can be answered in (2026-11-16).
 */
export function hasMore(json: Buffer, values: number): boolean {
  let signs = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) at = endOfText(json, at + 1);
    else if (byte === COMMA || byte === COLON || byte === BRACKET || byte === BRACE) signs++;
    if (signs > values) return true;
  }
  return false;
}

/** Where the quote stands that ends it. */
function endOfText(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Reading a large body takes 0.7, 1.1 and 1.1 ms for its three parts (255 kB, 2026-11-17): others are answered between. */
async function letOthersIn(bytes: Buffer): Promise<void> {
  if (bytes.length > MOST_BODY) await nextTurn();
}

/** The checked value: `{}` where nothing was sent. Undefined where the sender broke off: nobody is there to answer. */
export async function readJson(
  req: IncomingMessage,
  head: Head,
  schema: Type.TObject,
  limits: BodyLimits,
  into = newChunks(),
): Promise<{ readonly sent: unknown } | Refusal | undefined> {
  const bytes = await readBytes(req, head, limits.bytes, into);
  if (bytes === undefined || 'refused' in bytes) return bytes;
  if (!isUtf8(bytes)) return refuse('validation_error', NOT_UTF8);
  const { values } = limits;
  if (values && hasMore(bytes, values.most)) return refuse('validation_error', values.problem);
  await letOthersIn(bytes);
  let sent: unknown = {};
  try {
    if (bytes.length > 0) sent = JSON.parse(bytes.toString('utf8'), refuseProto);
  } catch {
    return refuse('validation_error', 'the body is not valid JSON');
  }
  await letOthersIn(bytes);
  const checked = readBody(schema, sent);
  return checked.ok ? { sent: checked.value } : refuse('validation_error', checked.problem);
}

/** Against prototype pollution: what would become the prototype of an object has no place in a body. */
function refuseProto(name: string, value: unknown): unknown {
  if (name === '__proto__') throw new SyntaxError('__proto__');
  return value;
}

async function readBytes(
  req: IncomingMessage,
  head: Head,
  most: number,
  into: Chunks,
): Promise<Buffer | Refusal | undefined> {
  const length = Number(req.headers['content-length'] ?? 0);
  if (head.transferEncoding === undefined && length === 0) return Buffer.alloc(0);
  const type = (head.contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type !== JSON_TYPE) return refuse('unsupported_media_type');
  const charset = CHARSET.exec(head.contentType ?? '')?.[1] ?? 'utf-8';
  if (!CHARSETS.includes(charset.toLowerCase())) return refuse('unsupported_media_type', NOT_UTF8);
  // RFC 9110 8.4: what is not undone is not understood, and "not valid JSON" would send its sender looking elsewhere.
  const coding = req.headers['content-encoding'] ?? 'identity';
  if (coding.toLowerCase() !== 'identity') return refuse('unsupported_media_type', UNCOMPRESSED);
  const tooLarge = refuse('content_too_large', `at most ${most} bytes`);
  if (length > most) return tooLarge;
  let size = 0;
  try {
    // Not destroyed where it is left early: the refusal still has to go out over its connection.
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > most) return tooLarge;
      into.take(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(into.chunks.splice(0));
}
