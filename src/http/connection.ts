/**
 * One connection, from its first byte to its last: it reads no faster than it is answered and served in turn, has an
 * error listener whatever becomes of it, and ends so that its last answer arrives.
 */

import { Socket } from 'node:net';
import { newMemory } from '../admit.ts';
import { networkOf } from '../core/address.ts';
import { plainAddress } from '../core/origin.ts';
import type { Caller, Job } from './accounts.ts';
import {
  authorizationIn,
  hasHead,
  hasSameFields,
  headEnd,
  isBlank,
  isProbe,
  joined,
  linesIn,
} from './bytes.ts';
import type { Call, Line } from './call.ts';
import type { Fairness } from './fairness.ts';

/** Answers to pipelined requests that are made before the first of them has been written. */
const MOST_AHEAD = 2;
/** Longer than the 60 s of common load balancers, which must be the ones to close an idle connection. */
export const KEEP_ALIVE_SECONDS = 65;
/** Without a byte taken by the peer for so long, an answer is dropped and its connection with it. */
const UNREAD_MS = 10_000;
/** After its end a connection is read for so long, so that what is still on its way does not reset it. */
const LINGER_MS = 1_000;
const MOST_LINGERING = 1024 * 1024;
/** Node makes objects of each line of a head: 8 KB of short ones took 75 KB (2026-11-15). Shorter heads are not counted. */
const MOST_HEAD_LINES = 128;
const FEW_LINES = 1_024;
/**
 * A request that comes in more pieces than this is read when it is tended from then on: thousands of peers that sent byte
 * by byte kept the event loop reading for a second at a time (2026-11-15). A head in whole packets has six at the most.
 */
const MOST_PIECES = 8;
/** A head that is not whole after so long makes room for others where that is scarce. */
const SLOW_HEAD_MS = 1_000;
/** Of received bytes that wait, for one connection (it is paused long before) and for all of them. */
const MOST_HELD = 256 * 1024;
const MOST_HELD_IN_ALL = 32 * 1024 * 1024;
/** Who holds no more than this is not the one who uses up the room for all. */
const LITTLE_HELD = 4 * 1024;

export interface ConnectionParts {
  readonly fairness: Fairness;
  /** The id of the key that an Authorization header holds, where it is known from before. */
  readonly keyOf: (authorization: string) => string | undefined;
  readonly isProxy: boolean;
  /** Bytes that all connections together have received and not read. */
  readonly held: { bytes: number };
  /** What is said to one that cannot be kept, and to one whose head never ends. */
  readonly noRoom: () => string;
  readonly tooManyLines: () => string;
  /** The 503 for bytes that are one plain request of the API, written without parsing them; undefined for others. */
  readonly plainRefusal: (bytes: Buffer) => string | undefined;
}

export class Connection implements Job, Line {
  readonly socket: Socket;
  /** Of the peer, which is a proxy where those are trusted. */
  readonly address: string;
  readonly memory = newMemory();
  readonly #network: string;
  readonly #parts: ConnectionParts;
  /** Node's own reader of requests. */
  readonly #feed: (bytes: Buffer) => void;
  #held: Buffer | undefined;
  /** Tells Node that the peer has sent all, where that is so and Node does not know it yet. */
  #passEnd: (() => void) | undefined;
  #isPaused = false;
  #isPausedByNode = false;
  #isWorking = false;
  #isWaiting = false;
  /** It is not read before it is tended again. */
  #isSlowed = false;
  /** The last request that waited, where it was a known key's. */
  #waited: { readonly bytes: Buffer; readonly caller: Caller } | undefined;
  /** Pieces that have come since the last request was whole. */
  #pieces = 0;
  #isEnding = false;
  #awaitsPeer = false;
  /** A part of a head has come, and not yet the rest. */
  #isInHead = false;
  #inHeadSince = 0;
  #headLines = 0;
  /** The parser is certainly between two requests: what comes next begins one. */
  #isBetween = true;
  /** The last request has come. */
  #isLast = false;
  #refusedUnread = false;
  /** How many bytes the peer has taken, and since when it is no more. */
  #taken = 0;
  #takenAt = performance.now();
  #endedAt = 0;
  /** Its share of what all hold. */
  #accounted = 0;
  #lingering = 0;
  /** Price of what is being worked off. */
  #price = 0;
  requests = 0;
  /** Requests that have no answer yet. */
  open = 0;
  /** The last that came. */
  last: Call | undefined;
  isShedding = false;
  /** Of its last answer. */
  activeAt = performance.now();

  constructor(socket: Socket, parts: ConnectionParts) {
    this.socket = socket;
    this.address = plainAddress(socket.remoteAddress ?? '');
    this.#network = networkOf(this.address);
    this.#parts = parts;
    // Node listens for errors only as long as the connection is its own: not after CONNECT, not after a refusal.
    socket.on('error', () => {});
    // A turn of Node's parser would take all requests of a chunk, thousands of them: here it gets one at a time.
    const [feed] = socket.listeners('data') as [(bytes: Buffer) => void];
    const [stops, starts] = [socket.listeners('pause'), socket.listeners('resume')] as (() => void)[][];
    this.#feed = feed;
    socket.removeListener('data', feed);
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    // Node takes these away with its own reading; without them a paused socket goes on filling its buffer.
    for (const stop of stops!) if (!socket.listeners('pause').includes(stop)) socket.on('pause', stop);
    for (const start of starts!) if (!socket.listeners('resume').includes(start)) socket.on('resume', start);
    // The end of what is sent, too, comes behind everything that was: Node would close under what still waits.
    const passEnd = socket.listeners('end').at(-1) as () => void;
    socket.removeListener('end', passEnd);
    socket.on('end', () => {
      this.#passEnd = passEnd;
      this.#goOn();
    });
    // A paused stream goes on reading until 64 KiB wait in it, and each byte may be an object of its own.
    socket._read = size => {
      if (!this.#isPaused && !this.#isPausedByNode) Socket.prototype._read.call(socket, size);
    };
    // What Node asks for stands beside what is asked for here: it must not be fed while it wants nothing.
    socket.pause = () => {
      this.#isPausedByNode = true;
      return Socket.prototype.pause.call(socket);
    };
    socket.resume = () => {
      const wasPaused = this.#isPausedByNode;
      this.#isPausedByNode = false;
      if (wasPaused && this.#held !== undefined) process.nextTick(() => this.#goOn());
      return this.#isPaused ? socket : Socket.prototype.resume.call(socket);
    };
    // Node ends a connection by destroying it, and what the peer had sent meanwhile resets it under its last answers.
    socket.destroySoon = () => this.end();
  }

  /** No request is on its way over it. */
  get isIdle(): boolean {
    const isQuiet = this.open === 0 && this.#held === undefined && !this.#isInHead;
    return isQuiet && this.#isWritten() && !this.#isEnding;
  }

  /** All of the last answer is on its way. */
  #isWritten(): boolean {
    const res = this.last?.res;
    return res === undefined || res.writableFinished || res.destroyed;
  }

  /** It may go where others need its place: nothing was asked over it, or a head is late. */
  isDispensable(now: number): boolean {
    const isNew = this.requests === 0 && now - this.activeAt < SLOW_HEAD_MS;
    return (
      (this.isIdle && !isNew) ||
      (this.#isInHead && this.open === 0 && this.#isWritten() && now - this.#inHeadSince > SLOW_HEAD_MS)
    );
  }

  /** Something came in time that the parser has not seen: it waits here, or was refused without parsing. */
  get isAheadOfParser(): boolean {
    if (this.#held !== undefined) return this.#isBetween;
    return this.#refusedUnread && this.requests === 0 && !this.#isInHead;
  }

  /** It has its last answer, or gets it by `end`. */
  get isEnding(): boolean {
    return this.#isEnding || (this.#isLast && this.last?.isFinished === true);
  }

  /** Looked after once a second: Node's own timers would be set anew for every request. */
  tend(now: number): void {
    const { socket } = this;
    if (this.#endedAt > 0 && now - this.#endedAt > LINGER_MS) return void socket.destroy();
    const taken = socket.bytesWritten - socket.writableLength;
    if (taken !== this.#taken || socket.writableLength === 0) {
      this.#taken = taken;
      this.#takenAt = now;
    } else if (now - this.#takenAt > UNREAD_MS) return void socket.destroy();
    if (this.#isSlowed || this.#held !== undefined) {
      this.#isSlowed = false;
      this.#goOn(true);
    }
    if (this.isIdle && now - this.activeAt > KEEP_ALIVE_SECONDS * 1_000) this.end();
    // What was answered long ago is not kept for the sake of a connection that idles.
    if (this.open === 0 && this.last?.res.writableFinished && this.last.req.complete) this.last = undefined;
  }

  /** With last words, where there are any; in their order behind the answers that are still to come. */
  end(words?: string): void {
    if (this.#isEnding) return;
    const { last } = this;
    this.#isEnding = true;
    this.#held = undefined;
    this.#account();
    if (words !== undefined && last && !this.#isWritten()) {
      last.res.once('close', () => this.#finish(words));
      return;
    }
    this.#finish(words);
  }

  #finish(words: string | undefined): void {
    const { socket } = this;
    this.#endedAt = performance.now();
    if (socket.destroyed) return;
    if (words === undefined) socket.end();
    else socket.end(words);
    this.#isPaused = false;
    this.#isPausedByNode = false;
    this.#isSlowed = false;
    this.#pieces = 0;
    Socket.prototype.resume.call(socket);
  }

  /** Makes room: nothing is on its way over it, so nothing is lost, and its descriptor is free at once. */
  evict(): void {
    this.#isEnding = true;
    this.socket.end(() => this.socket.destroy());
  }

  stop(): void {
    this.#isLast = true;
  }

  begin(call: Call, price: number): void {
    this.requests++;
    this.open++;
    this.#pieces = 0;
    this.last = call;
    this.#price += price;
  }

  answered(now: number): void {
    this.open--;
    this.activeAt = now;
    if (this.#held !== undefined) this.#goOn();
  }

  get isProxy(): boolean {
    return this.#parts.isProxy;
  }

  caller(): Caller {
    const begins = this.#isBetween ? this.#held : undefined;
    if (begins && isProbe(begins)) return { name: `probe ${this.#network}`, kind: 'probe' };
    // What belongs to a request that has begun is its caller's; what begins one tells by itself whose it is.
    if (begins && this.#waited && hasSameFields(begins, this.#waited.bytes)) return this.#waited.caller;
    const { authorization, keyId } = this.memory;
    const sent = begins ? authorizationIn(begins) : authorization;
    const known = sent === authorization ? keyId : sent && this.#parts.keyOf(sent);
    if (known === undefined) return { name: this.#network, kind: 'stranger' };
    const caller: Caller = { name: known, kind: 'key' };
    if (begins && begins.length < FEW_LINES) this.#waited = { bytes: begins, caller };
    return caller;
  }

  work(until: number): number {
    this.#isWaiting = false;
    this.#isWorking = true;
    this.#price = 0;
    while (this.#held !== undefined && !this.#isBlocked()) {
      this.#feedOne(this.#held);
      if (this.#held !== undefined && performance.now() >= until) break;
    }
    this.#isWorking = false;
    this.#goOn();
    return this.#price;
  }

  shed(): void {
    this.#isWaiting = false;
    const bytes = this.#held;
    if (bytes === undefined) return;
    const isAlone = this.open === 0 && this.#isBetween && this.#isWritten();
    const refusal = isAlone ? this.#parts.plainRefusal(bytes) : undefined;
    if (refusal === undefined) {
      this.isShedding = true;
      this.#isWorking = true;
      this.#feedOne(bytes);
      this.#isWorking = false;
      this.isShedding = false;
    } else {
      this.#held = undefined;
      this.#refusedUnread = true;
      this.#pieces = 0;
      this.activeAt = performance.now();
      this.socket.write(refusal, 'latin1');
    }
    this.#goOn();
  }

  #take(bytes: Buffer): void {
    if (++this.#pieces > MOST_PIECES) {
      this.#isSlowed = true;
      this.#pause();
    }
    if (this.#isEnding) {
      this.#lingering += bytes.length;
      if (this.#lingering > MOST_LINGERING) this.socket.destroy();
      return;
    }
    if (this.#isDone()) return this.#pause();
    if (this.#held === undefined) this.#held = bytes;
    else if (this.#held.length > MOST_HELD) this.socket.destroy();
    else this.#hold(bytes);
    this.#goOn();
  }

  /** More than a head waits already: from here on it is not read. Before that, pausing costs more than reading does. */
  #hold(bytes: Buffer): void {
    this.#held = joined(this.#held!, bytes);
    if (hasHead(this.#held)) this.#pause();
    this.#account();
  }

  /** Up to the end of one head, so that at most one request comes of it. */
  #feedOne(bytes: Buffer): void {
    const end = headEnd(bytes);
    const isLast = end === bytes.length;
    const piece = isLast ? bytes : bytes.subarray(0, end);
    const before = this.requests;
    const wasInBody = this.last?.req.complete === false;
    this.#held = isLast ? undefined : bytes.subarray(end);
    if (!wasInBody && (this.#isInHead || piece.length > FEW_LINES)) this.#headLines += linesIn(piece);
    if (this.#headLines > MOST_HEAD_LINES) return this.end(this.#parts.tooManyLines());
    this.#feed(piece);
    const isWhole = this.last?.req.complete !== false;
    const isEmpty = isBlank(piece);
    if (!isEmpty) this.#isBetween = this.requests > before && isWhole;
    const isInHead = this.requests === before && isWhole && !wasInBody && !isEmpty;
    if (isInHead && !this.#isInHead) this.#inHeadSince = performance.now();
    this.#isInHead = isInHead;
    if (!isInHead) this.#headLines = 0;
    if (this.#isDone()) this.#held = undefined;
  }

  /** Answers wait to be made, or to be taken by the peer. */
  #isBlocked(): boolean {
    const { last } = this;
    if (this.open >= MOST_AHEAD || this.socket.writableNeedDrain || this.#isPausedByNode) return true;
    return last?.isFinished === true && !this.#isWritten();
  }

  /** Reads what was received, now or in its turn, and receives more only when that is done. */
  #goOn(isTended = false): void {
    if (this.#isEnding || this.#isWaiting || this.#isWorking) return;
    if (this.#isDone()) {
      this.#pause();
    } else if (this.#held === undefined) {
      this.#resume();
      if (this.#accounted > 0) this.#account();
      const passEnd = this.#passEnd;
      this.#passEnd = undefined;
      passEnd?.();
    } else if (this.#isBlocked()) {
      this.#pause();
      this.#account();
      this.#awaitPeer();
    } else if (this.#isBetween && !hasHead(this.#held) && this.#parts.fairness.isPressed() && !isTended) {
      // Whose turn it takes is known when the head is whole.
      this.#account();
    } else if (!this.#parts.fairness.arrive(this)) {
      this.#isWaiting = true;
      // libuv would read up to 32 times in a row where there is so much.
      if (this.#held.length > LITTLE_HELD) this.#pause();
      this.#account();
    }
  }

  /** Goes on when the last answer was written, or the peer has taken enough of what was. */
  #awaitPeer(): void {
    const { socket, last } = this;
    if (this.#awaitsPeer || this.open >= MOST_AHEAD || this.#isPausedByNode) return;
    this.#awaitsPeer = true;
    const goOn = () => {
      this.#awaitsPeer = false;
      this.#goOn();
    };
    if (socket.writableNeedDrain) socket.once('drain', goOn);
    else last?.res.once('close', goOn);
  }

  /** The last request has come, whole. */
  #isDone(): boolean {
    return this.#isLast && this.last?.req.complete === true;
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    Socket.prototype.pause.call(this.socket);
  }

  #resume(): void {
    if (!this.#isPaused || this.#isSlowed) return;
    this.#isPaused = false;
    if (!this.#isPausedByNode) Socket.prototype.resume.call(this.socket);
  }

  /** A part of a chunk keeps the whole of it in memory. */
  #account(): void {
    const { held } = this.#parts;
    const bytes = this.#held?.buffer.byteLength ?? 0;
    held.bytes += bytes - this.#accounted;
    this.#accounted = bytes;
    if (held.bytes > MOST_HELD_IN_ALL && bytes > LITTLE_HELD) this.end(this.#parts.noRoom());
  }

  /** It is gone: whatever it held is, too. */
  closed(): void {
    this.#held = undefined;
    this.#account();
  }
}
