/** Keeps answers by name in bounded memory, in which names asked once cannot push out names asked often. */

import { LRUCache } from 'lru-cache';
import type { Mail } from '../core/mail.ts';

/** All times in the resolver's ticks. */
export interface Entry {
  readonly mail: Mail;
  readonly obtainedAt: number;
  /** Until then the answer is fresh. */
  readonly expiresAt: number;
  /** Until then the answer is given out with no second look. */
  lookAt: number;
  /** The answer as it is given out past its time. */
  stale?: Mail;
  /** Until then nobody asks again, because asking failed just now. */
  readonly quietUntil: number;
}

/** The share of the room for names that were asked again after they came in. */
const PROTECTED_SHARE = 0.8;

/** What an entry takes besides its texts, by heap measurement (Node 24, 2026-11), rounded up. */
const ENTRY_BYTES = 320;
const EXCHANGE_BYTES = 96;

function bytesOf(entry: Entry, name: string): number {
  let bytes = ENTRY_BYTES + name.length;
  for (const exchange of entry.mail.exchanges) bytes += EXCHANGE_BYTES + exchange.host.length;
  return bytes;
}

/**
 * Two queues (segmented LRU): a new name is on probation and gets protected when it is asked for again. What is
 * pushed out of the protected part gets a second chance on probation. A flood of one-hit names thus only ever
 * pushes out one-hit names.
 */
export class Cache {
  readonly #probation: LRUCache<string, Entry>;
  readonly #protected: LRUCache<string, Entry>;

  constructor(entries: number, bytes: number) {
    const sizes = { sizeCalculation: bytesOf };
    const most = Math.max(1, Math.floor(entries * PROTECTED_SHARE));
    const mostBytes = Math.max(1, Math.floor(bytes * PROTECTED_SHARE));
    this.#probation = new LRUCache({
      max: Math.max(1, entries - most),
      maxSize: Math.max(1, bytes - mostBytes),
      ...sizes,
    });
    this.#protected = new LRUCache({
      max: most,
      maxSize: mostBytes,
      ...sizes,
      dispose: (entry, name, reason) => {
        if (reason === 'evict') this.#probation.set(name, entry);
      },
    });
  }

  /** Counts as asking for the name. */
  get(name: string): Entry | undefined {
    const hot = this.#protected.get(name);
    if (hot) return hot;
    const once = this.#probation.peek(name);
    if (!once) return undefined;
    this.#probation.delete(name);
    this.#protected.set(name, once);
    return once;
  }

  /** Looks without counting. */
  peek(name: string): Entry | undefined {
    return this.#protected.peek(name) ?? this.#probation.peek(name);
  }

  set(name: string, entry: Entry): void {
    const part = this.#protected.has(name) ? this.#protected : this.#probation;
    part.set(name, entry);
  }

  get size(): number {
    return this.#protected.size + this.#probation.size;
  }

  get bytes(): number {
    return this.#protected.calculatedSize + this.#probation.calculatedSize;
  }
}
