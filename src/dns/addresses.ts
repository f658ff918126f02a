/** The addresses of mail hosts as far as they are known: asked in the background, a few at a time, and kept for hours. */

import { LRUCache } from 'lru-cache';
import { LEARNING } from '../core/guest.ts';
import type { AddressBook, Resolver } from '../core/ports.ts';

type Take = (addresses: readonly string[]) => void;

/** More than a day: hosts are asked again when their guests are next noted, which is once a day. */
const KEPT_MS = 26 * 3_600_000;
const FAILURE_KEPT_MS = 600_000;
const MOST_KEPT = 20_000;
/** Hosts that wait for their turn. */
const MOST_WAITING = 2_000;
const MOST_TAKERS = 100;
/** Half of what the resolver allows. */
const AT_ONCE = 8;

export class Addresses implements AddressBook {
  readonly #resolver: Pick<Resolver, 'addressesOf'>;
  readonly #known = new LRUCache<string, readonly string[]>({ max: MOST_KEPT, ttl: KEPT_MS });
  readonly #waiting = new Map<string, Take[]>();
  /** By who wants them, in the order of their turns. */
  readonly #rows = new Map<string, string[]>();
  readonly #asking = new Set<Promise<void>>();

  constructor(resolver: Pick<Resolver, 'addressesOf'>) {
    this.#resolver = resolver;
  }

  known(host: string): readonly string[] | undefined {
    return this.#known.get(host);
  }

  want(host: string, by: string, take: Take): void {
    const known = this.#known.get(host);
    if (known) return take(known);
    const takers = this.#waiting.get(host);
    if (takers) {
      if (takers.length < MOST_TAKERS) takers.push(take);
      return;
    }
    const row = this.#rows.get(by) ?? [];
    if (this.#waiting.size >= MOST_WAITING && !this.#makeRoom(row.length)) return;
    this.#waiting.set(host, [take]);
    row.push(host);
    this.#rows.set(by, row);
    if (this.#asking.size >= AT_ONCE) return;
    const asking = this.#askOn().finally(() => this.#asking.delete(asking));
    this.#asking.add(asking);
  }

  async settle(): Promise<void> {
    while (this.#asking.size > 0) await Promise.all(this.#asking);
  }

  /** Takes the last host out of the longest row, where that is longer than the row of whoever comes. */
  #makeRoom(length: number): boolean {
    let longest: string[] = [];
    for (const row of this.#rows.values()) if (row.length > longest.length) longest = row;
    if (longest.length <= length) return false;
    this.#waiting.delete(longest.pop()!);
    return true;
  }

  #next(): string | undefined {
    for (const [by, row] of this.#rows) {
      const host = row.shift();
      this.#rows.delete(by);
      if (row.length > 0) this.#rows.set(by, row);
      if (host !== undefined) return host;
    }
    return undefined;
  }

  async #askOn(): Promise<void> {
    for (let host = this.#next(); host !== undefined; host = this.#next()) {
      const found = await this.#resolver.addressesOf(host);
      const addresses = (found ?? []).toSorted().slice(0, LEARNING.mostAddresses);
      this.#known.set(host, addresses, { ttl: found ? KEPT_MS : FAILURE_KEPT_MS });
      const takers = this.#waiting.get(host) ?? [];
      this.#waiting.delete(host);
      for (const take of takers) take(addresses);
    }
  }
}
