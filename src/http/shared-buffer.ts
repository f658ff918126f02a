/**
 * One buffer that all connections are read into, one after the other. Node itself allocates 64 KB for each piece that comes
 * and cuts them to its size: with this a call took 38 in place of 45 µs (64 connections, 2026-11-18). Node offers it for
 * connections that it opens (`onread`, net.Socket), and those that it accepts are of the same class.
 */

import { Socket } from 'node:net';
import { copied } from './bytes.ts';

/**
 * Large enough for a head and small. Of large bodies each connection is read up to this size before it has its turn, and one
 * connection is taken in a turn of the event loop: with 64 KB, 3,000 strangers who send such bodies had others' connections
 * wait for 0.5 s, and one in a hundred for 3 s (0.06 and 0.4 with 4 KB, 2026-11-19).
 */
export const PIECE_BYTES = 4 * 1024;
const SHARED = Buffer.allocUnsafeSlow(PIECE_BYTES);

/** Where Node has its own names for it. */
const [BUFFER, NEXT, CALLBACK] = namesOf(
  new Socket({ onread: { buffer: SHARED, callback: () => true } }),
  ...['kBuffer', 'kBufferGen', 'kBufferCb'],
);

function namesOf(socket: Socket, ...names: readonly string[]): (symbol | undefined)[] {
  const symbols = Object.getOwnPropertySymbols(socket);
  return names.map(name => symbols.find(({ description }) => description === name));
}

interface Handle {
  useUserBuffer?(buffer: Buffer): void;
}

/** How many bytes have come is told to `received`, one for all connections. Nothing changes where Node has no such way. */
export function readShared(socket: Socket, received: (this: Socket, count: number) => boolean): void {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Handle | null };
  if (!BUFFER || !NEXT || !CALLBACK || !handle?.useUserBuffer) return;
  Object.assign(socket, { [BUFFER]: SHARED, [NEXT]: null, [CALLBACK]: received });
  handle.useUserBuffer(SHARED);
}

/** Whether the kernel may have more of what has come over a connection: the buffer was filled by it, and not read since. */
export class Filling {
  mayBeMore = false;
  #reads = 0;

  /** Whether it is what did not fit in before. */
  came(count: number): boolean {
    const wasFull = this.mayBeMore;
    this.#reads++;
    this.mayBeMore = count === SHARED.length;
    return wasFull;
  }

  /** It is read again: what is there comes with the next turn of the event loop. */
  goesOn(): void {
    if (!this.mayBeMore) return;
    const reads = this.#reads;
    const look = () => {
      if (this.#reads === reads) this.mayBeMore = false;
    };
    setImmediate(() => setImmediate(look));
  }
}

/** There until the next piece comes, over whatever connection. */
export const bytesReceived = (count: number) => SHARED.subarray(0, count);

/** For whoever keeps it. */
export function owned(bytes: Buffer): Buffer {
  return bytes.buffer === SHARED.buffer ? copied(bytes) : bytes;
}

/** Room for one plain request. */
const OWN_BYTES = 512;

/**
 * What one connection keeps of the shared buffer while it waits, request after request in the same place: a buffer for each
 * had the garbage collector carry 6,000 of them (2026-11-18). Only one at a time is kept, and `given` away as a copy.
 */
export class OwnBuffer {
  #all: Buffer | undefined;
  #last: Buffer | undefined;

  kept(bytes: Buffer): Buffer {
    if (bytes.buffer !== SHARED.buffer || bytes.length > OWN_BYTES) return owned(bytes);
    this.#all ??= Buffer.allocUnsafeSlow(OWN_BYTES);
    bytes.copy(this.#all);
    if (this.#last?.length !== bytes.length) this.#last = this.#all.subarray(0, bytes.length);
    return this.#last;
  }

  /** For whoever keeps a part of it. */
  given(bytes: Buffer): Buffer {
    return bytes.buffer === this.#all?.buffer ? copied(bytes) : owned(bytes);
  }

  /** What it is without this: so much each connection may keep, as long as it is there. */
  sizeOf(bytes: Buffer): number {
    return bytes.buffer === this.#all?.buffer ? 0 : bytes.buffer.byteLength;
  }

  forget(): void {
    this.#all = undefined;
    this.#last = undefined;
  }
}
