/**
 * One connection, from its first byte to its last: it reads no faster than it is answered (backpressure) and served in
 * turn, has an error listener whatever becomes of it, and ends so that its last answer arrives.
 */

import type { Socket } from 'node:net';
import { networkOf } from '../core/address.ts';
import { newLastSecret } from '../core/door.ts';
import { plainAddress } from '../core/origin.ts';
import type { Caller, Job } from './accounts.ts';
import { hasHead, headEnd } from './bytes.ts';
import type { Call, Line } from './call.ts';
import type { Fairness } from './fairness.ts';
import { dropNow, Farewell, type Lingering } from './farewell.ts';
import { Intake } from './intake.ts';
import { Lane } from './lane.ts';
import { LARGE_IDLE_MS, type LargeAnswers, Unread } from './large.ts';
import { type Made, Parsing } from './parsing.ts';
import { type RowOf, Whose } from './whose.ts';

/** Answers to pipelined requests (RFC 9112 9.3.2) that are made before the first of them has been written. */
const MOST_AHEAD = 2;
/** Longer than the 60 s of common load balancers, which must be the ones to close an idle connection. */
const KEEP_ALIVE_SECONDS = 65;
/** A head that is not whole after so long (slow loris) makes room for others where that is scarce. */
const SLOW_HEAD_MS = 1_000;

export interface ConnectionParts {
  readonly fairness: Fairness;
  readonly rowOf: RowOf;
  readonly isTrustedProxy: (address: string) => boolean;
  /** The peer is one. */
  readonly isProxy: boolean;
  /** Bytes that all connections together have received and not read. */
  readonly held: { bytes: number };
  readonly lingering: Lingering;
  readonly large: LargeAnswers;
  /** What is said to one that cannot be kept, and to one whose head never ends. */
  readonly noRoom: () => string;
  readonly tooManyLines: () => string;
  /** The 503 for bytes that are one plain request of the API, written without parsing them; undefined for others. */
  readonly plainRefusal: (bytes: Buffer) => string | undefined;
  /** Begins a call where the bytes are one of the lane; false for others, and where it is switched off. */
  readonly takeLane: (connection: Connection, piece: Buffer) => boolean;
}

export class Connection implements Job, Line {
  readonly socket: Socket;
  /** Of the peer, which is a proxy where those are trusted. */
  readonly address: string;
  readonly lastSecret = newLastSecret();
  readonly lane = new Lane();
  readonly #parts: ConnectionParts;
  readonly #whose: Whose;
  readonly #farewell: Farewell;
  readonly #intake: Intake;
  readonly #parsing = new Parsing();
  readonly #unread: Unread;
  #isWorking = false;
  #isWaiting = false;
  #isEnding = false;
  #awaitsPeer = false;
  /** The last request has come. */
  #isLast = false;
  /** The parser has got something. */
  #isParsed = false;
  /** A call of the lane has no answer yet. */
  #isInLane = false;
  /** A request was answered without the parser. */
  #hasPassedParser = false;
  #isRetired = false;
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
    this.#parts = parts;
    this.#unread = new Unread(parts.large, networkOf(this.address), this);
    this.#whose = new Whose(this.address, parts.rowOf, parts.isProxy ? parts.isTrustedProxy : undefined);
    this.#farewell = new Farewell(socket, parts.lingering);
    // Node listens for errors only as long as the connection is its own: not after CONNECT, not after a refusal.
    socket.on('error', () => {});
    this.#intake = new Intake(
      socket,
      parts.held,
      bytes => this.#take(bytes),
      () => this.#goOn(),
    );
    // Node ends a connection by destroying it, and what the peer had sent meanwhile resets it under its last answers.
    socket.destroySoon = () => this.end();
  }

  /** No request is on its way over it. */
  get isIdle(): boolean {
    const isQuiet = this.open === 0 && this.#intake.held === undefined && !this.#parsing.isInHead;
    return isQuiet && this.#isWritten() && this.socket.writableLength === 0 && !this.#isEnding;
  }

  /** All of the last answer is on its way. */
  #isWritten(): boolean {
    const res = this.last?.res;
    return res === undefined || res.writableFinished || res.destroyed;
  }

  /** It may go where others need its place: nothing was asked over it, or a head is late. */
  isDispensable(now: number): boolean {
    const isNew = this.requests === 0 && now - this.activeAt < SLOW_HEAD_MS;
    if (this.isIdle) return !isNew;
    const { isInHead, inHeadSince } = this.#parsing;
    return isInHead && this.open === 0 && this.#isWritten() && now - inHeadSince > SLOW_HEAD_MS;
  }

  /** Something came in time that the parser has not seen: it waits here, or was answered without parsing. */
  get isAheadOfParser(): boolean {
    return this.#parsing.isBetween && (this.#intake.held !== undefined || this.#hasPassedParser);
  }

  /** It has its last answer, or gets it by `end`. */
  get isEnding(): boolean {
    return this.#isEnding || (this.#isLast && this.last?.isFinished === true);
  }

  /** Looked after once a second: Node's own timers would be set anew for every request. */
  tend(now: number): void {
    if (!this.#farewell.tend(now)) return;
    if (this.#intake.tended()) this.#goOn(true);
    if (this.isIdle && now - this.activeAt > this.idleSeconds * 1_000) {
      this.#farewell.isIdle = true;
      this.end();
    }
    // What was answered long ago is not kept for the sake of a connection that idles.
    if (this.open === 0 && this.last?.res.writableFinished && this.last.req.complete) this.last = undefined;
  }

  /** It has ended, as far as that lies with us. */
  hasLeft(now: number): boolean {
    return this.#farewell.isLong(now);
  }

  /** With last words, where there are any; in their order behind the answers that are still to come. */
  end(words?: string): void {
    if (this.#isEnding) return;
    const { last } = this;
    this.#isEnding = true;
    this.#intake.forget();
    if (words !== undefined && last && !this.#isWritten()) {
      last.res.once('close', () => this.#finish(words));
      return;
    }
    this.#finish(words);
  }

  #finish(words: string | undefined): void {
    if (this.#farewell.say(words)) this.#intake.drain();
  }

  /** Makes room: nothing is on its way over it, so nothing is lost, and its descriptor is free at once. */
  evict(): void {
    this.#isEnding = true;
    this.socket.end(() => this.socket.destroy());
  }

  drop(): void {
    dropNow(this.socket);
  }

  stop(): void {
    this.#isLast = true;
  }

  sends(body: number, isPaid: boolean): boolean {
    // A trusted proxy reads; and where nobody is there any more, nobody would give the place back.
    if (this.#parts.isProxy || this.socket.destroyed) return true;
    const hasRoom = this.#unread.sends(body, isPaid);
    this.#farewell.isLarge = this.#unread.isLarge;
    return hasRoom;
  }

  get isSpent(): boolean {
    return this.#isRetired || this.#unread.isSpent;
  }

  /** The service ends: whoever waits for an answer is told so with it. */
  retire(): void {
    this.#isRetired = true;
  }

  get idleSeconds(): number {
    return this.#unread.isLarge ? LARGE_IDLE_MS / 1_000 : KEEP_ALIVE_SECONDS;
  }

  get isStopped(): boolean {
    return this.#isLast;
  }

  begin(call: Call, price: number): void {
    this.requests++;
    this.open++;
    this.#intake.begun();
    this.last = call;
    this.#price += price;
  }

  answered(now: number): void {
    this.open--;
    this.activeAt = now;
    const wasInLane = this.#isInLane;
    this.#isInLane = false;
    if (wasInLane || this.#intake.held !== undefined) this.#goOn();
  }

  get isProxy(): boolean {
    return this.#parts.isProxy;
  }

  caller(): Caller {
    return this.#whose.of(this.#parsing.isBetween ? this.#intake.held : undefined, this.lastSecret);
  }

  work(until: number): number {
    this.#isWaiting = false;
    this.#isWorking = true;
    this.#price = 0;
    const intake = this.#intake;
    while (intake.held !== undefined && !this.#isBlocked()) {
      this.#feedOne(intake.held);
      if (intake.held !== undefined && performance.now() >= until) break;
    }
    this.#isWorking = false;
    this.#goOn();
    return this.#price;
  }

  shed(): void {
    this.#isWaiting = false;
    const bytes = this.#intake.held;
    if (bytes === undefined) return;
    const isAlone = this.open === 0 && this.#parsing.isBetween && this.#isWritten();
    const refusal = isAlone && !this.isSpent ? this.#parts.plainRefusal(bytes) : undefined;
    if (refusal === undefined) {
      this.isShedding = true;
      this.#isWorking = true;
      this.#feedOne(bytes);
      this.#isWorking = false;
      this.isShedding = false;
    } else {
      this.#intake.held = undefined;
      this.#intake.begun();
      this.#hasPassedParser = true;
      this.activeAt = performance.now();
      this.sends(0, false);
      this.socket.write(refusal, 'latin1');
    }
    this.#goOn();
  }

  #take(bytes: Buffer): void {
    const intake = this.#intake;
    if (this.#isEnding) return this.#farewell.overheard(bytes);
    if (this.#isDone()) return intake.pause();
    if (!intake.add(bytes)) return void this.socket.destroy();
    if (intake.held !== bytes) this.#hold(intake.account());
    this.#goOn();
    this.#parts.fairness.polled();
  }

  /** Up to the end of one head or one body, so that at most one request comes of it. */
  #feedOne(bytes: Buffer): void {
    const { bodyLeft } = this.#parsing;
    // Behind chunks, which have no known end, thousands of requests could come at once.
    const isCounted = bodyLeft > 0 && Number.isFinite(bodyLeft);
    const end = isCounted ? Math.min(bodyLeft, bytes.length) : headEnd(bytes);
    const isLast = end === bytes.length;
    const piece = isLast ? bytes : bytes.subarray(0, end);
    this.#intake.held = isLast ? undefined : bytes.subarray(end);
    if (!this.#takesLane(piece)) this.#parse(piece);
    if (this.#isDone()) this.#intake.held = undefined;
  }

  /** Until something comes that is not of its shape: from there on the parser has all, and knows where a request begins. */
  #takesLane(piece: Buffer): boolean {
    if (this.#isParsed || this.isShedding || this.#isLast || !this.#parts.takeLane(this, piece)) return false;
    this.#isInLane = this.open > 0;
    this.#hasPassedParser = true;
    return true;
  }

  #parse(piece: Buffer): void {
    this.#isParsed = true;
    const before = this.#made();
    if (!this.#parsing.takes(piece, before)) return this.end(this.#parts.tooManyLines());
    this.#intake.feed(piece);
    this.#parsing.took(piece, before, this.#made());
    this.#hold(this.#intake.gave(this.#parsing.kept));
  }

  #made(): Made {
    const { last } = this;
    const isInBody = last?.req.complete === false;
    return { requests: this.requests, isInBody, bodyLength: isInBody ? last.head.bodyLength : 0 };
  }

  /** Answers wait to be made, or to be taken by the peer. */
  #isBlocked(): boolean {
    const { last } = this;
    if (this.#isInLane) return true;
    if (this.open >= MOST_AHEAD || this.socket.writableNeedDrain || this.#intake.isPausedByNode) return true;
    return last?.isFinished === true && !this.#isWritten();
  }

  /** Reads what was received, now or in its turn, and receives more only when that is done. */
  #goOn(isTended = false): void {
    if (this.#isEnding || this.#isWaiting || this.#isWorking) return;
    const intake = this.#intake;
    if (this.#isDone()) {
      intake.pause();
    } else if (intake.held === undefined) {
      // That the peer has sent all is told to Node when nothing is on its way: it would close under an answer of the lane.
      if (!this.#isInLane) intake.more();
    } else if (this.#isBlocked()) {
      intake.pause();
      this.#awaitPeer();
      this.#hold(intake.account());
    } else if (
      this.#parsing.isBetween &&
      !isTended &&
      this.#parts.fairness.isPressed() &&
      !hasHead(intake.held)
    ) {
      // Whose turn it takes is known when the head is whole.
      this.#hold(intake.account());
    } else if (!this.#parts.fairness.arrive(this)) {
      this.#isWaiting = true;
      this.#hold(intake.wait());
    }
  }

  #hold(hasRoom: boolean): void {
    if (!hasRoom) this.end(this.#parts.noRoom());
  }

  /** Goes on when the last answer was written, or the peer has taken enough of what was. */
  #awaitPeer(): void {
    const { socket, last } = this;
    if (this.#awaitsPeer || this.#isInLane) return;
    if (this.open >= MOST_AHEAD || this.#intake.isPausedByNode) return;
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

  /** It is gone: whatever it held is, too. */
  closed(): void {
    this.#unread.closed();
    this.#intake.forget();
  }
}
