/** The addresses of mail hosts as far as they are known: asked in the background, a few at a time, and kept for hours. */

import { LRUCache } from 'lru-cache';
import { LEARNING } from '../core/guest.ts';
import type { AddressBook, Resolver } from '../core/ports.ts';

type Take = (addresses: readonly string[]) => void;

/** More than a day: hosts are asked again when their guests are next noted, which is once a day. */
const KEPT_MS = 26 * 3_600_000;
const FAILURE_KEPT_MS = 600_000;
const MOST_KEPT = 20_000;
/** Hosts that wait for their turn; more are dropped. */
const MOST_WAITING = 2_000;
const MOST_TAKERS = 100;
/** Half of what the resolver allows. */
const AT_ONCE = 8;

export class Addresses implements AddressBook {
  readonly #resolver: Pick<Resolver, 'addressesOf'>;
  readonly #known = new LRUCache<string, readonly string[]>({ max: MOST_KEPT, ttl: KEPT_MS });
  readonly #waiting = new Map<string, Take[]>();
  readonly #queue: string[] = [];
  readonly #asking = new Set<Promise<void>>();

  constructor(resolver: Pick<Resolver, 'addressesOf'>) {
    this.#resolver = resolver;
  }

  known(host: string): readonly string[] | undefined {
    return this.#known.get(host);
  }

  want(host: string, take: Take): void {
    const known = this.#known.get(host);
    if (known) return take(known);
    const takers = this.#waiting.get(host);
    if (takers) {
      if (takers.length < MOST_TAKERS) takers.push(take);
      return;
    }
    if (this.#waiting.size >= MOST_WAITING) return;
    this.#waiting.set(host, [take]);
    this.#queue.push(host);
    if (this.#asking.size >= AT_ONCE) return;
    const asking = this.#askOn().finally(() => this.#asking.delete(asking));
    this.#asking.add(asking);
  }

  async settle(): Promise<void> {
    while (this.#asking.size > 0) await Promise.all(this.#asking);
  }

  async #askOn(): Promise<void> {
    for (let host = this.#queue.shift(); host !== undefined; host = this.#queue.shift()) {
      const found = await this.#resolver.addressesOf(host);
      const addresses = (found ?? []).toSorted().slice(0, LEARNING.mostAddresses);
      this.#known.set(host, addresses, { ttl: found ? KEPT_MS : FAILURE_KEPT_MS });
      const takers = this.#waiting.get(host) ?? [];
      this.#waiting.delete(host);
      for (const take of takers) take(addresses);
    }
  }
}
