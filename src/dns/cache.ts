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

/** The shares of the room for names that were asked again after they came in, and for long answers. */
const PROTECTED_SHARE = 0.7;
const LONG_SHARE = 0.1;

/**
 * What an entry takes besides its texts, its place in the queue included, rounded up. Measured with 40,000 of them on
 * Node 24, 2026-11-15: with two exchanges 352 bytes packed and 520 unpacked, with eight 510 and 1,158.
 */
const ENTRY_BYTES = 320;
const EXCHANGE_BYTES = 88;

/**
 * Above this an answer is long: a dozen exchanges, where five of Google's take 900. With 64 long names it takes
 * 20 KiB: 1,700 of them, below one domain and asked for twice, took the room of all others (2026-11-16).
 */
const LONG_BYTES = 1_500;

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
 * identity others remember what they made of it. Long answers have a queue of their own, and push out only each other.
 */
export class Cache {
  readonly #probation: LRUCache<string, Packed>;
  readonly #protected: LRUCache<string, Entry>;
  readonly #long: LRUCache<string, Entry>;

  constructor(entries: number, bytes: number) {
    const shareOf = (share: number) => ({
      max: Math.max(1, Math.floor(entries * share)),
      maxSize: Math.max(1, Math.floor(bytes * share)),
    });
    const most = shareOf(PROTECTED_SHARE);
    const long = shareOf(LONG_SHARE);
    this.#probation = new LRUCache({
      max: Math.max(1, entries - most.max - long.max),
      maxSize: Math.max(1, bytes - most.maxSize - long.maxSize),
      sizeCalculation: bytesOfPacked,
    });
    this.#long = new LRUCache({ ...long, sizeCalculation: bytesOf });
    this.#protected = new LRUCache({
      ...most,
      sizeCalculation: bytesOf,
      dispose: (entry, name, reason) => {
        if (reason === 'evict') this.#probation.set(name, pack(entry));
      },
    });
  }

  /** Counts as asking for the name. */
  get(name: string): Entry | undefined {
    const hot = this.#protected.get(name) ?? this.#long.get(name);
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
    const hot = this.#protected.peek(name) ?? this.#long.peek(name);
    if (hot) return hot;
    const once = this.#probation.peek(name);
    return once && unpack(once);
  }

  set(name: string, entry: Entry): void {
    if (bytesOf(entry, name) > LONG_BYTES) {
      this.#protected.delete(name);
      this.#probation.delete(name);
      this.#long.set(name, entry);
      return;
    }
    this.#long.delete(name);
    if (this.#protected.has(name)) this.#protected.set(name, entry);
    else this.#probation.set(name, pack(entry));
  }

  delete(name: string): void {
    for (const part of [this.#protected, this.#long, this.#probation]) part.delete(name);
  }

  get size(): number {
    return this.#protected.size + this.#probation.size + this.#long.size;
  }

  get bytes(): number {
    const { calculatedSize } = this.#long;
    return this.#protected.calculatedSize + this.#probation.calculatedSize + calculatedSize;
  }
}

function pack({ mail, obtainedAt, expiresAt, lookAt, quietUntil }: Entry): Packed {
  return { mail: packMail(mail), obtainedAt, expiresAt, lookAt, quietUntil };
}

function unpack({ mail, obtainedAt, expiresAt, lookAt, quietUntil }: Packed): Entry {
  return { mail: unpackMail(mail), obtainedAt, expiresAt, lookAt, quietUntil };
}
