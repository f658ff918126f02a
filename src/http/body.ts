/** The body of a request: JSON of a bounded size and of the shape that its route names, or why it is not. */

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Type } from 'typebox';
import { type Refusal, refuse } from '../core/refusal.ts';
import { readBody } from './bodies.ts';
import type { Head } from './head.ts';
import { Pieces } from './pieces.ts';

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
export interface Taking {
  readonly pieces: Pieces;
  take(piece: Buffer): void;
}

function newTaking(): Taking {
  const pieces = new Pieces();
  return { pieces, take: piece => pieces.add(piece) };
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

/** When it is done in the caller's turn. */
export type InTurn = <T>(work: () => T) => Promise<T>;

/** How a body is taken, where not all of it is there. */
export interface TakenIn {
  /** Before the first byte. */
  readonly begin: () => void;
  readonly into: Taking;
  readonly inTurn: InTurn;
}

type Read = { readonly sent: unknown } | Refusal;

/** The checked value: `{}` where nothing was sent. Undefined where the sender broke off: nobody is there to answer. */
export async function readJson(
  req: IncomingMessage,
  head: Head,
  schema: Type.TObject,
  limits: BodyLimits,
  { begin = () => {}, into = newTaking(), inTurn = async work => work() }: Partial<TakenIn> = {},
): Promise<Read | undefined> {
  const bytes = await readBytes(req, head, limits.bytes, begin, into);
  if (bytes === undefined || 'refused' in bytes) return bytes;
  if (bytes.length <= MOST_BODY)
    return inTurn(() => refusalOf(bytes, limits) ?? shaped(schema, parsed(bytes)));
  // Each part of a large one takes a millisecond (255 kB, 2026-11-17): others are answered between.
  const refusal = await inTurn(() => refusalOf(bytes, limits));
  if (refusal) return refusal;
  const read = await inTurn(() => parsed(bytes));
  return inTurn(() => shaped(schema, read));
}

function refusalOf(bytes: Buffer, { values }: BodyLimits): Refusal | undefined {
  if (!isUtf8(bytes)) return refuse('validation_error', NOT_UTF8);
  return values && hasMore(bytes, values.most) ? refuse('validation_error', values.problem) : undefined;
}

/** A function that is called for each value takes ten times as long: only where a name may be that one, as it is or escaped. */
function parsed(bytes: Buffer): Read {
  if (bytes.length === 0) return { sent: {} };
  const mayHaveProto = bytes.includes('__proto__') || bytes.includes('\\u');
  try {
    return { sent: JSON.parse(bytes.toString('utf8'), mayHaveProto ? refuseProto : undefined) };
  } catch {
    return refuse('validation_error', 'the body is not valid JSON');
  }
}

function shaped(schema: Type.TObject, read: Read): Read {
  if ('refused' in read) return read;
  const checked = readBody(schema, read.sent);
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
  begin: () => void,
  into: Taking,
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
  begin();
  try {
    // Not destroyed where it is left early: the refusal still has to go out over its connection.
    for await (const piece of req.iterator({ destroyOnReturn: false })) {
      size += piece.length;
      if (size > most) return tooLarge;
      into.take(piece);
    }
  } catch {
    return undefined;
  }
  return into.pieces.take();
}
