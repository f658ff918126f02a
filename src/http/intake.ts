/**
 * The reading half of a connection: what has come and the parser has not seen, and whether more is taken from the
 * kernel (backpressure). Node's own reading is taken over, so that nothing is read faster than it is served.
 */

import { Socket } from 'node:net';
import { hasHead, joined } from './bytes.ts';
import { grown } from './growing.ts';
import { bytesReceived, Filling, OwnBuffer, PIECE_BYTES, readShared } from './shared-buffer.ts';

/**
 * A request in more pieces than this is read when it is tended from then on: thousands of peers that sent byte by byte
 * (slow loris) held the event loop for a second at a time (2026-11-15). A head in whole packets has six at the most.
 */
const MOST_PIECES = 8;
/** A piece of this size is a packet of somebody who sends as fast as the network takes it: a body has hundreds. */
const PACKET_BYTES = 1_000;
/** Of received bytes that wait; it is paused long before. */
const MOST_HELD = 256 * 1024;
/** Of more nothing is read while it waits for its turn; of a body that is taken in 4 KB a list took 1.5 s (2026-11-19). */
const LITTLE_HELD = 2 * 1024;
const MOST_TAKEN = 64 * 1024;

/** Who reads what comes. */
export interface Taker {
  /** Every piece. */
  take(bytes: Buffer): void;
  /** Node wants to be fed again, or nothing more will come. */
  goOn(): void;
  /** It holds so much now. */
  tell(bytes: number): void;
}

const INTAKE = Symbol('intake');
/** One function for all sockets: of each its own, 5,000 connections had 45,000 of them (2026-11-17). */
type Taken = Socket & { [INTAKE]: Intake };

export class Intake {
  /** Received, and not yet read. */
  held: Buffer | undefined;
  /** Gives bytes to Node's parser. */
  readonly feed: (bytes: Buffer) => void;
  isPausedByNode = false;
  /** What comes is a body that somebody takes: of others, that are large, nothing is given to the parser. */
  isTaken = false;
  readonly filling = new Filling();
  readonly #socket: Socket;
  readonly #taker: Taker;
  readonly #own = new OwnBuffer();
  #told = 0;
  #inParser = 0;
  #isPaused = false;
  /** It is not read before it is tended again. */
  #isSlowed = false;
  /** Small pieces that have come since the last request was whole. */
  #pieces = 0;
  readonly #mostPieces: number;
  /** Tells Node that the peer has sent all, … */
  readonly #passEnd: () => void;
  /** … where that is so and Node does not know it yet. */
  #isEndDue = false;

  constructor(socket: Socket, isProxy: boolean, taker: Taker) {
    this.#socket = socket;
    this.#taker = taker;
    (socket as Taken)[INTAKE] = this;
    // Somebody else's call may wait behind the one that a proxy hands on piece by piece (head-of-line blocking).
    this.#mostPieces = isProxy ? Number.POSITIVE_INFINITY : MOST_PIECES;
    // A turn of Node's parser would take all requests of a chunk, thousands of them: here it gets one at a time.
    const [feed] = socket.listeners('data') as [(bytes: Buffer) => void];
    const [stops, starts] = [socket.listeners('pause'), socket.listeners('resume')] as (() => void)[][];
    this.feed = feed;
    socket.removeListener('data', feed);
    socket.on('data', Intake.#data);
    readShared(socket, Intake.#received);
    // Node takes these away with its own reading; without them a paused socket goes on filling its buffer.
    for (const stop of stops!) if (!socket.listeners('pause').includes(stop)) socket.on('pause', stop);
    for (const start of starts!) if (!socket.listeners('resume').includes(start)) socket.on('resume', start);
    // The end of what is sent, too, comes behind everything that was: Node would close under what still waits.
    this.#passEnd = socket.listeners('end').at(-1) as () => void;
    socket.removeListener('end', this.#passEnd);
    socket.on('end', Intake.#end);
    socket._read = Intake.#read;
    socket.pause = Intake.#pause;
    socket.resume = Intake.#resume;
    // Node's own, which only wait for a listener as above, take 312 bytes (Node 24.21, 2026-11-17).
    socket.on = Socket.prototype.on;
    socket.addListener = Socket.prototype.addListener;
    socket.prependListener = Socket.prototype.prependListener;
  }

  static readonly #data = function (this: Taken, bytes: Buffer): void {
    const intake = this[INTAKE];
    if (bytes.length < PACKET_BYTES && ++intake.#pieces > intake.#mostPieces) {
      intake.#isSlowed = true;
      intake.pause();
    }
    intake.#taker.take(bytes);
  } as (bytes: Buffer) => void;

  static readonly #received = function (this: Taken, count: number): boolean {
    const intake = this[INTAKE];
    // What did not fit in before is no piece of its own: lists in packets of 4,344 bytes waited for a second (2026-11-19).
    if (intake.filling.came(count) && count < PACKET_BYTES) intake.#pieces--;
    Intake.#data.call(this, bytesReceived(count));
    intake.#keep();
    return true;
  } as (count: number) => boolean;

  /** What is held for longer is its own. */
  #keep(): void {
    if (this.held !== undefined) this.held = this.#own.kept(this.held);
  }

  /** For the parser, of which parts may be kept. */
  given(bytes: Buffer): Buffer {
    return this.#own.given(bytes);
  }

  static readonly #end = function (this: Taken): void {
    this[INTAKE].#isEndDue = true;
    this[INTAKE].#taker.goOn();
  } as () => void;

  /** A paused stream goes on reading until 64 KiB wait in it, and each byte may be an object of its own. */
  static readonly #read = function (this: Taken, size: number): void {
    const intake = this[INTAKE];
    if (!intake.#isPaused && !intake.isPausedByNode) Socket.prototype._read.call(this, size);
  } as (size: number) => void;

  /** What Node asks for stands beside what is asked for here: it must not be fed while it wants nothing. */
  static readonly #pause = function (this: Taken): Taken {
    this[INTAKE].isPausedByNode = true;
    return Socket.prototype.pause.call(this) as Taken;
  } as Socket['pause'];

  static readonly #resume = function (this: Taken): Taken {
    const intake = this[INTAKE];
    const wasPaused = intake.isPausedByNode;
    intake.isPausedByNode = false;
    if (wasPaused && intake.held !== undefined) process.nextTick(() => intake.#taker.goOn());
    return intake.#isPaused ? this : (Socket.prototype.resume.call(this) as Taken);
  } as Socket['resume'];

  /** Behind what waits already. False where that is more than anybody may send ahead. */
  add(bytes: Buffer): boolean {
    if (this.held === undefined) {
      this.held = bytes;
      return true;
    }
    if (this.held.length > MOST_HELD) return false;
    this.held = this.isTaken ? grown(this.held, bytes, MOST_TAKEN + PIECE_BYTES) : joined(this.held, bytes);
    // More than a head waits: from here on it is not read. Before that, pausing costs more than reading does.
    if (this.isTaken ? this.held.length >= MOST_TAKEN : hasHead(this.held)) this.pause();
    return true;
  }

  /** The parser keeps so many bytes of a head that is not whole, or whose body is not. */
  gave(inParser: number): void {
    if (inParser === this.#inParser) return;
    this.#inParser = inParser;
    this.account();
  }

  account(): void {
    this.#keep();
    // A part of a chunk keeps the whole of it in memory.
    const bytes = (this.held ? this.#own.sizeOf(this.held) : 0) + this.#inParser;
    if (bytes === this.#told) return;
    this.#told = bytes;
    this.#taker.tell(bytes);
  }

  /** What it held may have become a call, which holds nothing. */
  recount(): void {
    if (this.#told > 0) this.account();
  }

  /** Others come first. */
  wait(): void {
    // libuv would read up to 32 times in a row where there is so much.
    if (!this.isTaken && this.held !== undefined && this.held.length > LITTLE_HELD) this.pause();
    this.account();
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    Socket.prototype.pause.call(this.#socket);
  }

  /** Nothing waits: more may come, or that was all. */
  more(): void {
    if (this.#isPaused && !this.#isSlowed) {
      this.#isPaused = false;
      if (!this.isPausedByNode) Socket.prototype.resume.call(this.#socket);
    }
    this.recount();
    this.filling.goesOn();
    if (!this.#isEndDue) return;
    this.#isEndDue = false;
    this.#passEnd.call(this.#socket);
  }

  /** A request was whole, or its head: what comes next is read as that of anybody. */
  begun(): void {
    this.isTaken = false;
    this.#pieces = 0;
    this.#isSlowed = false;
  }

  /** Something may have come that stays with the kernel. */
  get isSlowed(): boolean {
    return this.#isSlowed;
  }

  /** Called now and then: a slow sender may be read again. True where there is something to do. */
  tended(): boolean {
    const wasSlowed = this.#isSlowed;
    this.#isSlowed = false;
    return wasSlowed || this.held !== undefined;
  }

  /**
   * What waits is gone at once, and nobody may have a part of it: left to the garbage collector a burst of 64 KB over each
   * of 5,000 connections took 170 MiB (2026-11-16).
   */
  free(): void {
    this.#keep();
    (this.held?.buffer as ArrayBuffer | undefined)?.transfer(0);
    this.held = undefined;
    this.#own.forget();
  }

  forget(): void {
    this.held = undefined;
    this.#own.forget();
    this.#inParser = 0;
    this.account();
  }

  /** From here on everything is read and thrown away. */
  drain(): void {
    this.#isPaused = false;
    this.isPausedByNode = false;
    this.#isSlowed = false;
    this.#pieces = 0;
    Socket.prototype.resume.call(this.#socket);
  }
}
