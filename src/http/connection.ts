/**
 * One connection, from its first byte to its last: it has an error listener whatever becomes of it, is looked after, and
 * ends so that its last answer arrives.
 */

import type { Socket } from 'node:net';
import { networkOf } from '../core/address.ts';
import { newLastSecret } from '../core/door.ts';
import { plainAddress } from '../core/origin.ts';
import { type Caller, keyIn } from './accounts.ts';
import type { Call } from './call.ts';
import type { Fairness } from './fairness.ts';
import { Farewell, KEEP_ALIVE_SECONDS, LARGE_IDLE_MS, type Lingering } from './farewell.ts';
import { Lane } from './lane.ts';
import { type LargeAnswers, Unread } from './large.ts';
import type { OpenLine } from './line.ts';
import { Reading } from './reading.ts';
import type { ReadingParts } from './reading-parts.ts';
import { type LongWork, takeTurns } from './turns.ts';

const FIRST_OF_GET = 'G'.charCodeAt(0);
const ignore = () => {};

export interface ConnectionParts extends ReadingParts {
  readonly lingering: Lingering;
  readonly large: LargeAnswers;
  /** It is known as somebody else from now on. */
  readonly moved: (one: Connection) => void;
}

export class Connection implements OpenLine {
  readonly socket: Socket;
  /** Of the peer, which is a proxy where those are trusted. */
  readonly address: string;
  readonly network: string;
  readonly lastSecret = newLastSecret();
  readonly lane = new Lane();
  readonly isProxy: boolean;
  /** Whose key the last call over it was let in with, or operators. */
  party: string | undefined;
  readonly #moved: (one: Connection) => void;
  readonly #farewell: Farewell;
  readonly reading: Reading;
  readonly #unread: Unread;
  readonly #fairness: Fairness;
  hasEnded = false;
  isStopped = false;
  #isRetired = false;
  requests = 0;
  open = 0;
  last: Call | undefined;
  /** The next request was there before the last answer was (pipelining): it does not tell that anybody has read that. */
  #isAhead = false;
  readonly since = performance.now();
  /** Of its last answer. */
  activeAt = this.since;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.socket = socket;
    this.address = plainAddress(socket.remoteAddress ?? '');
    this.network = networkOf(this.address);
    this.isProxy = parts.isProxy;
    this.#moved = parts.moved;
    this.#unread = new Unread(parts.large, this);
    this.#fairness = parts.fairness;
    this.#farewell = new Farewell(socket, parts.lingering, parts.isProxy ? undefined : this.#unread);
    // Node listens for errors only as long as the connection is its own: not after CONNECT, not after a refusal.
    socket.on('error', ignore);
    this.reading = new Reading(this, parts);
  }

  /** No request is on its way over it. */
  get isIdle(): boolean {
    const isQuiet = this.open === 0 && this.reading.isQuiet;
    return isQuiet && this.isWritten && this.socket.writableLength === 0 && !this.hasEnded;
  }

  get isGone(): boolean {
    return this.socket.destroyed;
  }

  /** A request that came whole has no answer yet. */
  get isBusy(): boolean {
    return this.open > (this.last?.isReading ? 1 : 0);
  }

  /** A request may have come over it that nobody has read. */
  get isUnread(): boolean {
    return this.reading.intake.isSlowed;
  }

  get isWritten(): boolean {
    const res = this.last?.res;
    return res === undefined || res.writableFinished || res.destroyed;
  }

  get inHeadSince(): number | undefined {
    return this.reading.parsing.inHeadSince;
  }

  knownAs(party: string | undefined): void {
    if (party === this.party) return;
    this.party = party;
    this.#moved(this);
  }

  get isStranger(): boolean {
    if (this.party !== undefined) return false;
    // More than a head that begins with GET is many: nobody does that with its first requests. Looking closer takes 30 µs.
    return this.reading.intake.held?.[0] === FIRST_OF_GET || this.reading.caller().kind !== 'key';
  }

  get headSoFar(): Buffer | undefined {
    return this.reading.parsing.headSoFar;
  }

  get isAheadOfParser(): boolean {
    return this.reading.isAheadOfParser;
  }

  /** It has its last answer, or gets it by `end`. */
  get isEnding(): boolean {
    return this.hasEnded || (this.isStopped && this.last?.isFinished === true);
  }

  /** Looked after once a second: Node's own timers would be set anew for every request. */
  tend(now: number): void {
    if (!this.#farewell.tend(now)) return;
    this.reading.tend();
    if (this.isIdle && now - this.activeAt > this.idleSeconds * 1_000) {
      this.#farewell.isIdle = true;
      this.end();
    }
    this.#forgetLast();
  }

  /** It has ended, as far as that lies with us. */
  hasLeft(now: number): boolean {
    return this.#farewell.isLong(now);
  }

  /** Behind the answers that are still to come; with last words, where there are any. */
  end(words?: string): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.reading.forget();
    if (this.isWritten) this.#finish(words);
    else this.last!.res.once('close', () => this.#finish(words));
  }

  #finish(words: string | undefined): void {
    if (this.#farewell.say(words)) this.reading.intake.drain();
  }

  /** It has to go: what waits on it is free at once, where no call has a part of it. */
  release(): void {
    if (this.open === 0 && !this.reading.isWorking) this.reading.intake.free();
  }

  /** Makes room: nothing is on its way over it, so nothing is lost, and its descriptor is free at once. */
  evict(): void {
    this.hasEnded = true;
    this.#farewell.leave();
  }

  drop(): void {
    this.#farewell.drop();
  }

  stop(): void {
    this.isStopped = true;
  }

  sends(body: number, payer?: string): boolean {
    // A trusted proxy reads; and where nobody is there any more, nobody would give the place back.
    if (this.isProxy || this.socket.destroyed) return true;
    return this.#unread.sends(body, payer);
  }

  get isSpent(): boolean {
    return this.#isRetired || this.#unread.isSpent;
  }

  /** Whoever waits for an answer is told with it that it is the last. */
  retire(): void {
    this.#isRetired = true;
  }

  get idleSeconds(): number {
    return this.#unread.isLarge ? LARGE_IDLE_MS / 1_000 : KEEP_ALIVE_SECONDS;
  }

  get isShedding(): boolean {
    return this.reading.isShedding;
  }

  begin(call: Call, price: number): void {
    this.requests++;
    this.open++;
    this.last = call;
    this.reading.begun(price);
  }

  received(): void {
    if (this.open === 1 && !this.#isAhead) this.#unread.asked();
  }

  takeBody(call: Call): void {
    if (this.last === call) this.reading.takeBody();
  }

  answered(now: number): void {
    this.open--;
    this.activeAt = now;
    this.#forgetLast();
    this.#isAhead = this.reading.isAhead;
    this.reading.answered();
  }

  /** What was answered is not kept, but the last of all: it tells that it was. */
  #forgetLast(): void {
    if (this.isStopped || this.open > 0) return;
    if (this.isWritten && this.last?.req.complete) this.last = undefined;
  }

  takeTurns(work: LongWork): void {
    const { row } = this.lastSecret;
    const stranger: Caller = { name: this.network, kind: 'stranger' };
    takeTurns(this.#fairness, row === undefined ? stranger : keyIn(row), work);
  }

  /** Behind all answers, and whatever it was that came with this key. */
  refuse(answer: string, payer: string | undefined): void {
    this.activeAt = performance.now();
    if (!this.#isAhead) this.#unread.asked();
    this.#isAhead = false;
    this.sends(0, payer);
    this.socket.write(answer, 'latin1');
  }

  overheard(bytes: Buffer): void {
    this.#farewell.overheard(bytes);
  }

  /** It is gone: whatever it held is, too. */
  closed(): void {
    this.#unread.closed();
    this.reading.forget();
  }
}
