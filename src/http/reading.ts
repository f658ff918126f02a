/** How a connection is read: no faster than it is answered (backpressure), in its turn, and one request at a time. */

import type { Socket } from 'node:net';
import type { Caller, Job, Waiting } from './accounts.ts';
import { hasHead, MOST_DRAINED } from './bytes.ts';
import { Intake, type Taker } from './intake.ts';
import type { OpenLine } from './line.ts';
import { type Made, Parsing } from './parsing.ts';
import type { ReadingParts } from './reading-parts.ts';
import { lostRefusal } from './transport.ts';
import { Whose } from './whose.ts';

/** Answers to pipelined requests (RFC 9112 9.3.2) that are made before the first of them has been written. */
const MOST_AHEAD = 2;

export class Reading implements Job, Taker {
  readonly isProxy: boolean;
  waiting?: Waiting;
  readonly intake: Intake;
  readonly parsing = new Parsing();
  /** Requests are refused with 503 in place of being answered. */
  isShedding = false;
  /** It is in the middle of what was received. */
  isWorking = false;
  readonly #line: OpenLine;
  readonly #socket: Socket;
  readonly #parts: ReadingParts;
  readonly #whose: Whose;
  #isWaiting = false;
  #awaitsPeer = false;
  /** The parser has got something. */
  #isParsed = false;
  /** A call of the lane has no answer yet. */
  #isInLane = false;
  /** A request was answered without the parser. */
  #hasPassedParser = false;
  /** Price of what is being worked off. */
  #price = 0;

  constructor(line: OpenLine, parts: ReadingParts) {
    const { socket, address } = line;
    this.isProxy = parts.isProxy;
    this.#line = line;
    this.#socket = socket;
    this.#parts = parts;
    this.#whose = new Whose(address, parts.rowOf, parts.isProxy ? parts.isTrustedProxy : undefined);
    this.intake = new Intake(socket, parts.isProxy, this);
  }

  /** Nothing has come of the next request. */
  get isQuiet(): boolean {
    return this.intake.held === undefined && !this.parsing.isInHead;
  }

  /** There is more than what was answered so far. */
  get isAhead(): boolean {
    return this.intake.held !== undefined || this.intake.filling.mayBeMore;
  }

  /** Something came in time that the parser has not seen: it waits here, or was answered without parsing. */
  get isAheadOfParser(): boolean {
    return this.parsing.isBetween && (this.intake.held !== undefined || this.#hasPassedParser);
  }

  forget(): void {
    this.intake.forget();
    this.parsing.forget();
  }

  /** Called about once a second. */
  tend(): void {
    if (this.intake.tended()) this.goOn(true);
  }

  /** A request was whole, and costs so much. */
  begun(price: number): void {
    this.intake.begun();
    this.#price += price;
  }

  takeBody(): void {
    this.intake.isTaken = true;
    // When whoever takes it is there.
    process.nextTick(() => this.goOn());
  }

  /** One has its answer. */
  answered(): void {
    const wasInLane = this.#isInLane;
    this.#isInLane = false;
    if (wasInLane || this.intake.held !== undefined) this.goOn();
  }

  /** Of a head of which the parser has a part by all of it: its key waited among strangers (2026-11-18). */
  caller(): Caller {
    const { isBetween, isInHead } = this.parsing;
    const { held } = this.intake;
    const head = isInHead && held ? this.parsing.headWith(held) : held;
    const isDear = this.#isParsed && this.#parts.takeLane !== undefined;
    return this.#whose.of(isBetween || isInHead ? head : undefined, this.#line.lastSecret, isDear);
  }

  work(until: number): number {
    this.#isWaiting = false;
    this.isWorking = true;
    this.#price = 0;
    const intake = this.intake;
    while (intake.held !== undefined && !this.isBlocked()) {
      this.#feedOne(intake.held);
      if (this.parsing.isInChunks || (intake.held !== undefined && performance.now() >= until)) break;
    }
    this.isWorking = false;
    if (this.parsing.isInChunks) {
      // Each piece of chunks in a turn of the event loop of its own: it may have taken a millisecond.
      intake.pause();
      setImmediate(() => this.goOn());
    } else this.goOn();
    return this.#price;
  }

  shed(): void {
    this.#isWaiting = false;
    const bytes = this.intake.held;
    if (bytes === undefined) return;
    const { open, isWritten, isSpent } = this.#line;
    const isAlone = open === 0 && this.parsing.isBetween && isWritten && !isSpent;
    const refusal = isAlone ? this.#parts.plainRefusal(bytes) : undefined;
    if (refusal === undefined) {
      this.isShedding = true;
      this.isWorking = true;
      this.#feedOne(bytes);
      this.isWorking = false;
      this.isShedding = false;
    } else {
      this.intake.held = undefined;
      this.intake.recount();
      this.intake.begun();
      this.#hasPassedParser = true;
      this.#line.refuse(refusal, this.#whose.payer);
    }
    this.goOn();
  }

  take(bytes: Buffer): void {
    const intake = this.intake;
    if (this.#line.hasEnded) return this.#line.overheard(bytes);
    if (this.#isDone()) return intake.pause();
    if (!intake.add(bytes)) return void this.#socket.destroy();
    if (intake.held !== bytes) intake.account();
    this.goOn();
    this.#parts.fairness.polled();
  }

  tell(bytes: number): void {
    this.#parts.held.set(this.#line, bytes);
  }

  #feedOne(bytes: Buffer): void {
    const end = this.parsing.endOf(bytes);
    const isLast = end === bytes.length;
    const piece = isLast ? bytes : bytes.subarray(0, end);
    this.intake.held = isLast ? undefined : bytes.subarray(end);
    if (!this.#takesLane(piece)) this.#parse(this.intake.given(piece));
    if (this.#isDone()) this.intake.held = undefined;
    this.intake.recount();
  }

  /** Until something comes that is not of its shape: from there on the parser has all, and knows where a request begins. */
  #takesLane(piece: Buffer): boolean {
    const isOver = this.#isParsed || this.isShedding || this.#line.isStopped;
    if (isOver || !this.#parts.takeLane?.(this.#line, piece)) return false;
    this.#isInLane = this.#line.open > 0;
    this.#hasPassedParser = true;
    return true;
  }

  #parse(piece: Buffer): void {
    this.#isParsed = true;
    const before = this.#made();
    const refusal = this.parsing.refusalOf(piece, before);
    if (refusal) return this.#parts.endOver(this.#line, this.parsing.headWith(piece), refusal);
    this.intake.feed(piece);
    const lost = this.parsing.took(piece, before, this.#made());
    if (lost && !this.#line.isStopped && !this.#line.hasEnded)
      return this.#parts.endOver(this.#line, lost, lostRefusal(lost));
    if (this.parsing.isBetween) this.intake.begun();
    this.intake.gave(this.parsing.kept);
  }

  #made(): Made {
    const { last, requests } = this.#line;
    const isInBody = last?.req.complete === false;
    return { requests, isInBody, bodyLength: isInBody ? last.head.bodyLength : 0 };
  }

  /** Answers wait to be made, or to be taken by the peer. */
  isBlocked(): boolean {
    const { last, open } = this.#line;
    if (this.#isInLane || open >= MOST_AHEAD) return true;
    // In chunks of a byte it took 550 bytes for each while its call waited for DNS, and these stayed (2026-11-19).
    if (this.parsing.bodyLeft > MOST_DRAINED && !this.intake.isTaken) return true;
    if (this.#socket.writableNeedDrain || this.intake.isPausedByNode) return true;
    return last?.isFinished === true && !this.#line.isWritten;
  }

  /** Reads what was received, now or in its turn, and receives more only when that is done. */
  goOn(isTended = false): void {
    if (this.#line.hasEnded || this.#isWaiting || this.isWorking) return;
    const intake = this.intake;
    const { fairness } = this.#parts;
    if (this.#isDone()) {
      intake.pause();
    } else if (intake.held === undefined) {
      // That the peer has sent all is told to Node when nothing is on its way: it would close under an answer of the lane.
      if (!this.#isInLane) intake.more();
    } else if (this.isBlocked()) {
      intake.pause();
      this.#awaitPeer();
      intake.account();
    } else if (!isTended && this.parsing.isBetween && fairness.isPressed && !hasHead(intake.held)) {
      // Whose turn it takes is known when the head is whole.
      intake.account();
    } else if (!fairness.arrive(this)) {
      this.#isWaiting = true;
      intake.wait();
    }
  }

  /** Goes on when the last answer was written, or the peer has taken enough of what was. */
  #awaitPeer(): void {
    const socket = this.#socket;
    if (this.#awaitsPeer || this.#isInLane) return;
    if (this.#line.open >= MOST_AHEAD || this.intake.isPausedByNode) return;
    this.#awaitsPeer = true;
    const goOn = () => {
      this.#awaitsPeer = false;
      this.goOn();
    };
    if (socket.writableNeedDrain) socket.once('drain', goOn);
    else this.#line.last?.res.once('close', goOn);
  }

  /** The last request has come, whole. */
  #isDone(): boolean {
    const { isStopped, last } = this.#line;
    return isStopped && last?.req.complete === true;
  }
}
