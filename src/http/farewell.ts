/**
 * How a connection ends: its last answer arrives, and no peer keeps it by not reading or by going on to send. What is closed
 * while its peer has not read all stays with the kernel for as long as the peer lives, and nobody counts it any more: of
 * 12,000 connections 453 MiB (2026-11-17). So it is closed when that is little, else reset, in its time.
 */

import type { Socket } from 'node:net';

/** Without a byte taken by the peer for so long (a slow read attack), an answer is dropped and its connection with it. */
const UNREAD_MS = 10_000;
/** A connection is read for so long after its end (lingering close, RFC 9112 9.6), or what comes would reset it. */
const LINGER_MS = 1_000;
const MOST_LINGERING = 1024 * 1024;
/** Of all connections together, in so long: 1,000 a second that sent a megabyte each kept others waiting (2026-11-16). */
const MOST_LINGERING_IN_ALL = 1024 * 1024;
const LINGERING_MS = 100;
/**
 * Who has sent no more than this is not the one who uses that up. With 128 KiB, 3,000 strangers with large bodies had others'
 * connections wait for three seconds (2026-11-19).
 */
const LITTLE_LINGERING = 16 * 1024;

/** Longer than the 60 s of common load balancers, which must be the ones to close an idle connection. */
export const KEEP_ALIVE_SECONDS = 65;
/** Behind a large answer a connection is kept for so long: whoever reads at 10 KB/s or more gets all of it. */
export const LARGE_IDLE_MS = 15_000;
/** The smallest window that a system lets a socket have has room for it (Linux: 1,152 bytes, 2026-11-17): it has arrived. */
const ONE_WINDOW = 1_024;
/** So much leaves at once, whatever the line (ten segments, RFC 6928): a reset comes behind it. */
const ONE_FLIGHT = 12 * 1024;
/** Whoever reads as fast as this gets all. Bytes in a millisecond. */
const SLOWEST = 10;

/** What was read after their ends, since when. */
export interface Lingering {
  bytes: number;
  since: number;
}

/** What went out over a connection, as far as nobody knows that it was read. */
export interface Sent {
  readonly bytes: number;
  /** There was a large answer, which may still be on its way. */
  readonly isLarge: boolean;
  /** Both sides have ended. */
  ended(): void;
}

const FAREWELL = Symbol('farewell');
/** As in intake.ts: one function for all sockets. */
type Leaving = Socket & { [FAREWELL]: Farewell };

export class Farewell {
  readonly #socket: Socket;
  /** Node's own. */
  readonly #destroy: Socket['destroy'];
  readonly #all: Lingering;
  /** Undefined of a trusted proxy, which reads. */
  readonly #sent: Sent | undefined;
  /** How many bytes the peer has taken, and since when it is no more. */
  #taken = 0;
  #takenAt = performance.now();
  #endedAt = 0;
  #lingering = 0;
  #isDropped = false;
  /** Both sides have ended, and it is kept for its peer to read the rest. */
  #isHeld = false;
  /** It had long been idle: whoever was there has read all. */
  isIdle = false;

  constructor(socket: Socket, all: Lingering, sent: Sent | undefined) {
    this.#socket = socket;
    this.#all = all;
    this.#sent = sent;
    this.#destroy = socket.destroy;
    (socket as Leaving)[FAREWELL] = this;
    socket.destroy = Farewell.#leave;
  }

  static readonly #leave = function (this: Leaving, error?: Error): Leaving {
    const farewell = this[FAREWELL];
    if (error !== undefined || farewell.#isDropped || !farewell.#hasUnread)
      return farewell.#destroy.call(this, error) as Leaving;
    farewell.#hold();
    return this;
  } as Socket['destroy'];

  /** Called about once a second. False where the peer has had its time, and is gone. */
  tend(now: number): boolean {
    const socket = this.#socket;
    const taken = socket.bytesWritten - socket.writableLength;
    if (taken !== this.#taken || socket.writableLength === 0) {
      this.#taken = taken;
      this.#takenAt = now;
    }
    if (now - this.#takenAt > UNREAD_MS) this.drop();
    else if (this.#isOver(now, this.#graceMs)) this.leave();
    return !socket.destroyed;
  }

  /** After the end. */
  get #graceMs(): number {
    if (this.isIdle || !this.#sent) return LINGER_MS;
    return this.#sent.isLarge ? LARGE_IDLE_MS : LINGER_MS + this.#sent.bytes / SLOWEST;
  }

  /** The kernel has all that it said, and whoever wanted to go has had the time to, or has said so. */
  isLong(now: number): boolean {
    return this.#isHeld || (this.#socket.writableLength === 0 && this.#isOver(now, LINGER_MS));
  }

  #isOver(now: number, ms: number): boolean {
    return this.#endedAt > 0 && now - this.#endedAt > ms;
  }

  /** Node closes what both sides have ended; but whoever ends its own with its request may still read. */
  get #hasUnread(): boolean {
    const { readableEnded, writableFinished } = this.#socket;
    return readableEnded && writableFinished && this.#mayBeKept;
  }

  /** Whatever was asked behind it: a request does not tell that its sender reads. */
  get #mayBeKept(): boolean {
    return this.#sent !== undefined && this.#socket.bytesWritten > ONE_WINDOW;
  }

  #hold(): void {
    if (this.#sent!.bytes <= ONE_FLIGHT) return this.drop();
    this.#isHeld = true;
    this.#endedAt ||= performance.now();
    this.#sent!.ended();
    // Nobody waits for it, not even the end of the service.
    this.#socket.unref();
  }

  /** Closed at once, so that the kernel keeps nothing that counts. */
  leave(): void {
    if (this.#mayBeKept) this.drop();
    else this.#socket.destroy();
  }

  /**
   * By a reset. Not while the end of what is sent is under way: libuv refuses that (EINVAL), and Node would keep the
   * descriptor for ever (Node 24.21, 2026-11-16).
   */
  drop(): void {
    const socket = this.#socket;
    if (this.#isDropped) return;
    this.#isDropped = true;
    const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
    if (isEnding) socket.once('finish', () => socket.resetAndDestroy());
    else socket.resetAndDestroy();
  }

  /** The last words, where there are any, then the end of what is sent. False where nobody is there any more. */
  say(words: string | undefined): boolean {
    this.#endedAt = performance.now();
    if (this.#socket.destroyed) return false;
    if (words === undefined) this.#socket.end();
    else this.#socket.end(words);
    return true;
  }

  /** The peer goes on sending, which nobody reads any more. */
  overheard(bytes: Buffer): void {
    const now = performance.now();
    if (now - this.#all.since > LINGERING_MS) {
      this.#all.since = now;
      this.#all.bytes = 0;
    }
    this.#all.bytes += bytes.length;
    this.#lingering += bytes.length;
    const isMuch = this.#all.bytes > MOST_LINGERING_IN_ALL && this.#lingering > LITTLE_LINGERING;
    if (isMuch || this.#lingering > MOST_LINGERING) this.drop();
  }
}
