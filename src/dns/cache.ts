/** Keeps answers by name in bounded memory; names asked once cannot push out names asked often (scan resistance). */

import { LRUCache } from 'lru-cache';
import type { Mail } from '../core/mail.ts';
import { packMail, unpackMail } from './pack.ts';

/** All times in the resolver's ticks. */
interface Times {
  readonly obtainedAt: number;
  /** Until then the answer is fresh. */
  readonly expiresAt: number;
  /** Until then the answer is given out with no second look. */
  lookAt: number;
  /** Until then nobody asks again, because asking failed just now. */
  readonly quietUntil: number;
}

export interface Entry extends Times {
  readonly mail: Mail;
  /** The answer as it is given out past its time. */
  stale?: Mail;
}

/** An entry whose name was asked for once. */
interface Packed extends Times {
  readonly mail: string | Mail;
}

/** The share of the room for names that were asked again after they came in. */
const PROTECTED_SHARE = 0.8;

/**
 * What an entry takes besides its texts, its place in the queue included, rounded up. Measured with 40,000 of them on
 * Node 24, 2026-11-15: with two exchanges 352 bytes packed and 520 unpacked, with eight 510 and 1,158.
 */
const ENTRY_BYTES = 320;
const EXCHANGE_BYTES = 88;

function bytesOfPacked({ mail }: Packed, name: string): number {
  return ENTRY_BYTES + name.length + (typeof mail === 'string' ? mail.length : 0);
}

function bytesOf({ mail }: Entry, name: string): number {
  let bytes = ENTRY_BYTES + name.length;
  for (const exchange of mail.exchanges) bytes += EXCHANGE_BYTES + exchange.host.length;
  return bytes;
}

/**
 * Two queues (segmented LRU): a new name is on probation and gets protected when it is asked for again. What is
 * pushed out of the protected part gets a second chance on probation. A flood of one-hit names thus only ever
 * pushes out one-hit names. Those on probation are packed; a protected one keeps the Mail that is given out, by whose
 * identity others remember what they made of it.
 */
export class Cache {
  readonly #probation: LRUCache<string, Packed>;
  readonly #protected: LRUCache<string, Entry>;

  constructor(entries: number, bytes: number) {
    const most = Math.max(1, Math.floor(entries * PROTECTED_SHARE));
    const mostBytes = Math.max(1, Math.floor(bytes * PROTECTED_SHARE));
    this.#probation = new LRUCache({
      max: Math.max(1, entries - most),
      maxSize: Math.max(1, bytes - mostBytes),
      sizeCalculation: bytesOfPacked,
    });
    this.#protected = new LRUCache({
      max: most,
      maxSize: mostBytes,
      sizeCalculation: bytesOf,
      dispose: (entry, name, reason) => {
        if (reason === 'evict') this.#probation.set(name, pack(entry));
      },
    });
  }

  /** Counts as asking for the name. */
  get(name: string): Entry | undefined {
    const hot = this.#protected.get(name);
    if (hot) return hot;
    const once = this.#probation.peek(name);
    if (!once) return undefined;
    const entry = unpack(once);
    this.#probation.delete(name);
    this.#protected.set(name, entry);
    return entry;
  }

  /** Looks without counting. What is changed in the entry is not kept. */
  peek(name: string): Entry | undefined {
    const hot = this.#protected.peek(name);
    if (hot) return hot;
    const once = this.#probation.peek(name);
    return once && unpack(once);
  }

  set(name: string, entry: Entry): void {
    if (this.#protected.has(name)) this.#protected.set(name, entry);
    else this.#probation.set(name, pack(entry));
  }

  get size(): number {
    return this.#protected.size + this.#probation.size;
  }

  get bytes(): number {
    return this.#protected.calculatedSize + this.#probation.calculatedSize;
  }
}

function pack({ mail, obtainedAt, expiresAt, lookAt, quietUntil }: Entry): Packed {
  return { mail: packMail(mail), obtainedAt, expiresAt, lookAt, quietUntil };
}

function unpack({ mail, obtainedAt, expiresAt, lookAt, quietUntil }: Packed): Entry {
  return { mail: unpackMail(mail), obtainedAt, expiresAt, lookAt, quietUntil };
}
