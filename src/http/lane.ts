/**
 * The lane: the plainest lookups, and probes, are read and answered on the bare socket, without Node's parser and its
 * objects. It takes one shape of request only, and everything behind it (doors, limits, metrics, log, errors) is the same.
 */

import type { Socket } from 'node:net';
import { EMPTY_LINE, MOST_PLAIN } from './bytes.ts';
import type { Asked, Headers, Reply } from './call.ts';
import { dateText } from './date.ts';
import { type Head, readHead } from './head.ts';
import { STATUS_CODES } from './node-http.ts';
import { LINE_END, plainFields } from './plain-fields.ts';
import { DOMAIN_PATH, DOMAIN_PREFIX, PROBE_PATHS, type Target } from './target.ts';

const BEGIN = `GET ${DOMAIN_PREFIX}`;
/** A probe took three times as long as a counted call, and anybody may ask for it (2026-11-18). */
const PROBES: ReadonlyMap<string, Target> = new Map(
  PROBE_PATHS.map(path => [`GET ${path}`, { path, segment: '', query: '' }]),
);
/** What no decoding changes. */
const SEGMENT = /^[A-Za-z0-9._-]{1,253}$/;

/** For one connection: a client says the same with every request, the target apart. */
export class Lane {
  /** Of the last request that was read here. */
  head!: Head;
  asked!: Asked;
  /** It says so itself (`Connection: close`). */
  isLast = false;
  #fields: string | undefined;

  /** What is asked for; undefined where Node's parser has to look. */
  targetIn(piece: Buffer): Target | undefined {
    if (piece.length > MOST_PLAIN) return undefined;
    const text = piece.toString('latin1');
    const end = text.indexOf(LINE_END);
    if (end < 0) return undefined;
    const target = text.startsWith(BEGIN)
      ? lookupOf(text.slice(BEGIN.length, end))
      : PROBES.get(text.slice(0, end));
    if (!target) return undefined;
    const fields = text.slice(end + LINE_END.length);
    return fields === this.#fields || this.#read(fields) ? target : undefined;
  }

  #read(fields: string): boolean {
    const end = fields.length - EMPTY_LINE.length;
    if (end <= 0 || fields.indexOf(EMPTY_LINE) !== end) return false;
    // A copy, of which all that is kept is cut out: what is cut out of a text keeps the whole of it in memory.
    const own = Buffer.from(fields, 'latin1').toString('latin1');
    const plain = plainFields(own.slice(0, end));
    if (!plain) return false;
    this.head = readHead(plain.lines);
    this.asked = { method: 'GET', rawHeaders: plain.lines, complete: true };
    this.isLast = plain.isLast;
    this.#fields = own;
    return true;
  }
}

function lookupOf(segment: string): Target | undefined {
  return SEGMENT.test(segment) ? { path: DOMAIN_PATH, segment, query: '' } : undefined;
}

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
    statusLines.set(status, line);
  }
  return line;
}

/** Of each name of ours what stands between two values: put together for each answer it took 0.2 µs and 1 KB (2026-11-19). */
const fieldNames = new Map<string, string>();

function fieldName(name: string): string {
  let text = fieldNames.get(name);
  if (text === undefined) {
    text = `\r\n${name}: `;
    fieldNames.set(name, text);
  }
  return text;
}

/** The same bytes as Node's, in one write. */
export class LaneReply implements Reply {
  readonly #socket: Socket;
  #head = '';
  #closed: (() => void) | undefined;
  shouldKeepAlive: boolean;
  headersSent = false;
  writableFinished = false;

  constructor(socket: Socket, isLast: boolean) {
    this.#socket = socket;
    this.shouldKeepAlive = !isLast;
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  writeHead(status: number, headers: Headers): void {
    let text = statusLine(status);
    for (let at = 0; at < headers.length; at += 2) text += fieldName(headers[at]!) + headers[at + 1]!;
    const connection = this.shouldKeepAlive ? 'keep-alive' : 'close';
    this.#head = `${text}\r\nDate: ${dateText()}\r\nConnection: ${connection}\r\n\r\n`;
    this.headersSent = true;
  }

  end(body = '', encoding: BufferEncoding = 'latin1'): void {
    const socket = this.#socket;
    if (socket.writable) socket.write(this.#head + body, encoding);
    this.writableFinished = true;
    this.#closed?.();
    if (!this.shouldKeepAlive) socket.destroySoon();
  }

  once(_event: 'close', then: () => void): void {
    this.#closed = then;
  }

  destroy(): void {
    this.#socket.destroy();
    this.#closed?.();
  }
}
