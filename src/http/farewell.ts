/** How a connection ends: its last answer arrives, and no peer keeps it by not reading or by going on to send. */

import type { Socket } from 'node:net';
import { LARGE_IDLE_MS } from './large.ts';

/** Without a byte taken by the peer for so long (a slow read attack), an answer is dropped and its connection with it. */
const UNREAD_MS = 10_000;
/** A connection is read for so long after its end (lingering close, RFC 9112 9.6), or what comes would reset it. */
const LINGER_MS = 1_000;
const MOST_LINGERING = 1024 * 1024;
/** Of all connections together, in so long: 1,000 a second that sent a megabyte each kept others waiting (2026-11-16). */
const MOST_LINGERING_IN_ALL = 1024 * 1024;
const LINGERING_MS = 100;
/** Who has sent no more than this is not the one who uses that up. */
const LITTLE_LINGERING = 128 * 1024;

/** What was read after their ends, since when. */
export interface Lingering {
  bytes: number;
  since: number;
}

/**
 * By a reset, so that the kernel keeps nothing. Not while the end of what is sent is under way: libuv refuses a reset then
 * (EINVAL), and Node would keep the descriptor for ever (Node 24.21, 2026-11-16).
 */
export function dropNow(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}

export class Farewell {
  readonly #socket: Socket;
  readonly #all: Lingering;
  /** How many bytes the peer has taken, and since when it is no more. */
  #taken = 0;
  #takenAt = performance.now();
  #endedAt = 0;
  #lingering = 0;
  /** There was a large answer, which may still be on its way. */
  isLarge = false;
  /** It had long been idle: whoever was there has read all. */
  isIdle = false;

  constructor(socket: Socket, all: Lingering) {
    this.#socket = socket;
    this.#all = all;
  }

  /** Called about once a second. False where the peer has had its time, and is gone. */
  tend(now: number): boolean {
    const socket = this.#socket;
    const taken = socket.bytesWritten - socket.writableLength;
    if (taken !== this.#taken || socket.writableLength === 0) {
      this.#taken = taken;
      this.#takenAt = now;
    }
    const isUnread = now - this.#takenAt > UNREAD_MS;
    // By a reset: otherwise the kernel keeps what nobody reads, 4 MB a socket, for as long as the peer likes.
    if (isUnread || this.#isOver(now, this.isLarge && !this.isIdle ? LARGE_IDLE_MS : LINGER_MS)) {
      if (isUnread || this.isLarge || this.isIdle) dropNow(socket);
      else socket.destroy();
    }
    return !socket.destroyed;
  }

  /** The kernel has all that it said, and whoever wanted to go has had the time to. */
  isLong(now: number): boolean {
    return this.#socket.writableLength === 0 && this.#isOver(now, LINGER_MS);
  }

  #isOver(now: number, ms: number): boolean {
    return this.#endedAt > 0 && now - this.#endedAt > ms;
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
    if (isMuch || this.#lingering > MOST_LINGERING) dropNow(this.#socket);
  }
}
