/** The names of one day by the keys that asked for them, so many in all: where there are more, whoever has most gives way. */

import { CHARACTERS, ORDERS, orderOf } from './asked.ts';

export interface Sampled {
  readonly name: string;
  /** Its place (`orderOf`). */
  readonly order: number;
  /** Whether it was flagged as disposable when it was last known; undefined: neither that nor safe. */
  isFlagged: boolean | undefined;
  /** In so many rows. It goes when it is in none any more. */
  rows: number;
}

/**
 * In characters, with what parts it from the next: 11,000 names of 250 characters that one key asked for were more than is
 * read of a day, and took out a quarter of another's (2026-11-18).
 */
const weightOf = ({ name }: Sampled): number => Math.max(CHARACTERS, name.length + 2);

/** What one key asked for. */
class Row {
  readonly names = new Set<string>();
  weight = 0;
  /** The last place first (binary heap). */
  readonly #heap: Sampled[] = [];
  /** Names from this place on were given up, or are the next to be. */
  below = ORDERS;

  put(one: Sampled): void {
    this.names.add(one.name);
    this.weight += weightOf(one);
    one.rows++;
    let at = this.#heap.push(one) - 1;
    for (let above = (at - 1) >> 1; at > 0; above = (at - 1) >> 1) {
      if (this.#heap[above]!.order >= one.order) break;
      this.#heap[at] = this.#heap[above]!;
      at = above;
    }
    this.#heap[at] = one;
  }

  /** One of its last place. */
  takeLast(): Sampled {
    const heap = this.#heap;
    const last = heap[0]!;
    const one = heap.pop()!;
    let at = 0;
    for (let next = 1; next < heap.length; next = 2 * at + 1) {
      if (next + 1 < heap.length && heap[next + 1]!.order > heap[next]!.order) next++;
      if (heap[next]!.order <= one.order) break;
      heap[at] = heap[next]!;
      at = next;
    }
    if (heap.length > 0) heap[at] = one;
    this.names.delete(last.name);
    this.weight -= weightOf(last);
    last.rows--;
    this.below = last.order;
    return last;
  }
}

/**
 * Whoever is first to ask for a name does not take it with him when he gives way, and one that hundreds of keys ask for
 * takes no more room: the last of these rows is one for all further keys together. No key has its id.
 */
const MOST_ROWS = 4;
const OTHERS = '';
/** So many are given up at a time, since whoever has most is found by a look at all rows, and such a share of one row. */
const AT_ONCE = 64 * CHARACTERS;
const SHARE = 1 / 16;

/**
 * A name that is there, or that its key gave up, costs a look and no write: this is told of every answer. What is given up
 * are the last places, the same every day: by chance, none of the names of a busy key would be known on seven of them.
 * 10,000 names take 2 MB, and 5 MB where hundreds of keys ask for each (2026-11-18).
 */
export class AskedSample {
  readonly #most: number;
  readonly #rows = new Map<string, Row>();
  readonly #names = new Map<string, Sampled>();
  /** Of all names. */
  #weight = 0;

  /** So many names of ordinary length. */
  constructor(most: number) {
    this.#most = most * CHARACTERS;
  }

  add(name: string, by: string, isFlagged: boolean): void {
    const row = this.#rows.get(by);
    if (row?.names.has(name)) return;
    const order = orderOf(name);
    if (row && order >= row.below) return;
    const one = this.#names.get(name);
    if (!one) this.#enter({ name, order, isFlagged, rows: 0 }, by);
    else if (one.rows < MOST_ROWS) this.#put(one, one.rows < MOST_ROWS - 1 ? by : OTHERS);
  }

  /** As of now; what comes meanwhile is not among them. */
  all(): Sampled[] {
    return [...this.#names.values()];
  }

  #enter(one: Sampled, by: string): void {
    const weight = weightOf(one);
    while (this.#weight + weight > this.#most) this.#makeRoom();
    if (one.order >= (this.#rows.get(by)?.below ?? ORDERS)) return;
    this.#names.set(one.name, one);
    this.#weight += weight;
    this.#put(one, by);
  }

  #put(one: Sampled, by: string): void {
    const row = this.#rows.get(by) ?? new Row();
    if (row.names.has(one.name) || one.order >= row.below) return;
    this.#rows.set(by, row);
    row.put(one);
  }

  /** Those who have most, or nearly as much, give up some. */
  #makeRoom(): void {
    let most = 0;
    for (const { weight } of this.#rows.values()) most = Math.max(most, weight);
    const enough = this.#weight - AT_ONCE;
    for (const [by, row] of this.#rows) {
      const { weight } = row;
      if (weight < most * (1 - SHARE)) continue;
      const left = weight - Math.min(AT_ONCE, weight * SHARE);
      while (row.weight > left) this.#takeFrom(row);
      if (row.names.size === 0) this.#rows.delete(by);
      if (this.#weight <= enough) return;
    }
  }

  #takeFrom(row: Row): void {
    const one = row.takeLast();
    if (one.rows > 0) return;
    this.#names.delete(one.name);
    this.#weight -= weightOf(one);
  }
}
