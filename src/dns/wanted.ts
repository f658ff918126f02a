/** Hosts that are to be asked for their addresses: in the row of each key that wants them, keys in turn. */

import { LEARNING } from '../core/guest.ts';

export type Take = (addresses: readonly string[]) => void;

export interface Wanted {
  /** Who wants it; when it is asked, whose turn it is comes first. */
  keys: Set<string>;
  /** Of one host, for as many guests as are kept of it. */
  readonly takers: Take[];
  isAsked: boolean;
}

/** That wait for their turn, in all rows. */
const MOST_WAITING = 2_000;
const MOST_TAKERS = LEARNING.mostGuests;

export class WantedHosts {
  readonly #wanted = new Map<string, Wanted>();
  /** By key, in the order of their turns; hosts that are asked are in none. */
  readonly #rows = new Map<string, Set<string>>();
  #waiting = 0;

  /** Whoever wants a host that another key wants too does not wait in that one's row, nor lose it with that. */
  want(host: string, by: string, takes: readonly Take[]): void {
    this.#enter(host, by);
    const wanted = this.#wanted.get(host);
    if (wanted && wanted.takers.length < MOST_TAKERS) wanted.takers.push(...takes);
  }

  /** The next to be asked, which is wanted until it is done. */
  next(): readonly [host: string, wanted: Wanted] | undefined {
    for (const [by, row] of this.#rows) {
      const [host] = row;
      const wanted = this.#wanted.get(host!)!;
      for (const key of wanted.keys) this.#leave(host!, key);
      this.#rows.delete(by);
      if (row.size > 0) this.#rows.set(by, row);
      wanted.keys = new Set([by, ...wanted.keys]);
      wanted.isAsked = true;
      return [host!, wanted];
    }
    return undefined;
  }

  done(host: string): void {
    this.#wanted.delete(host);
  }

  #enter(host: string, by: string): void {
    const before = this.#wanted.get(host);
    if (before?.isAsked) before.keys.add(by);
    if (before?.keys.has(by)) return;
    const row = this.#rows.get(by) ?? new Set();
    if (this.#waiting >= MOST_WAITING && !this.#makeRoom(row.size)) return;
    const wanted = this.#wanted.get(host) ?? { keys: new Set(), takers: [], isAsked: false };
    this.#wanted.set(host, wanted);
    this.#rows.set(by, row);
    wanted.keys.add(by);
    row.add(host);
    this.#waiting += 1;
  }

  #leave(host: string, by: string): void {
    const row = this.#rows.get(by)!;
    row.delete(host);
    this.#waiting -= 1;
    if (row.size === 0) this.#rows.delete(by);
  }

  /** Takes the last host out of the longest row, where that is longer than the row of whoever comes. */
  #makeRoom(length: number): boolean {
    let [longest, last, most] = ['', '', length];
    for (const [by, row] of this.#rows) if (row.size > most) [longest, most] = [by, row.size];
    if (most === length) return false;
    for (const host of this.#rows.get(longest)!) last = host;
    this.#leave(last, longest);
    const wanted = this.#wanted.get(last)!;
    wanted.keys.delete(longest);
    if (wanted.keys.size === 0) this.#wanted.delete(last);
    return true;
  }
}
