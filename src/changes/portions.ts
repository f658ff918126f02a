/**
 * Changes as they are shown, in portions that are read once and kept until anything changes. Each page read anew took
 * 5.4 ms of the thread that bulk work is done in, which others had to wait for (2026-11-17).
 */

import { LRUCache } from 'lru-cache';
import type { FairRow } from '../core/fair-row.ts';
import type { ChangesCursor, ChangesMark, NumberedChange, Since } from '../core/listing-change.ts';
import type { Store } from '../core/ports.ts';

const DAY_MS = 86_400_000;
/** The last day begins anew so often. */
const DAY_STEP_MS = 60_000;
/** Changes in a portion: what is read in one go takes a millisecond. */
const PORTION = 250;
const portionOf = (id: number) => Math.floor(id / PORTION);
/** About 7 MB, 64,000 changes. */
const MOST_PORTIONS = 256;

/** The same for everybody for as long as nothing changes, so that what was made of it can be kept with it. */
export interface Portion {
  readonly rows: readonly NumberedChange[];
}

export interface Piece {
  readonly portion: Portion;
  readonly from: number;
  readonly to: number;
}

export interface ChangesPage {
  readonly pieces: readonly Piece[];
  /** Of the last one that was looked at. */
  readonly cursor: ChangesCursor;
  readonly more: boolean;
}

/** Who asks: what was not read yet is read in its turn. */
export interface Asker {
  readonly key: string;
  readonly turn: () => Promise<void>;
}

export interface PortionParts {
  readonly store: Pick<Store, 'changesAfter' | 'changesBefore'>;
}

/** All that stands under one mark. */
export class Portions {
  readonly #parts: PortionParts;
  readonly #mark: ChangesMark;
  readonly #kept = new LRUCache<number, Promise<Portion>>({ max: MOST_PORTIONS });
  #lastDay: { readonly begins: number; readonly after: Promise<number> } | undefined;
  /** One is read at a time: others need that thread too. */
  readonly #row: FairRow;

  constructor(parts: PortionParts, row: FairRow, mark: ChangesMark) {
    this.#parts = parts;
    this.#row = row;
    this.#mark = mark;
  }

  standsFor(mark: ChangesMark): boolean {
    const { generation, floor, last } = this.#mark;
    return mark.generation === generation && mark.floor === floor && mark.last === last;
  }

  /** After which one the last 24 hours begin. Finding it takes a look at all. */
  async beforeLastDay(now: number): Promise<Since> {
    const begins = Math.floor(now / DAY_STEP_MS) * DAY_STEP_MS - DAY_MS;
    if (this.#lastDay?.begins !== begins)
      this.#lastDay = { begins, after: this.#parts.store.changesBefore(begins) };
    const { after } = this.#lastDay;
    after.catch(() => {
      this.#lastDay = undefined;
    });
    const { floor, last } = this.#mark;
    // By a clock that is wrong also those may seem to be old that are still being written.
    return { id: Math.max(floor, Math.min(await after, last)), at: undefined };
  }

  /**
   * `gone` where the number that it stands at was given to another change since. Numbers have no gaps: what is missing was
   * forgotten while this one waited for its turn.
   */
  async page(since: Since, limit: number, asker: Asker): Promise<ChangesPage | 'gone'> {
    const { last } = this.#mark;
    const { rows } = await this.#portion(portionOf(since.id), asker);
    let cursor: ChangesCursor = { id: since.id, at: rows.find(({ id }) => id === since.id)?.at ?? 0 };
    if (since.at !== undefined && since.at !== cursor.at) return 'gone';
    const pieces: Piece[] = [];
    let left = limit;
    while (left > 0 && cursor.id < last) {
      const next = cursor.id + 1;
      const portion = await this.#portion(portionOf(next), asker);
      const from = portion.rows.findIndex(({ id }) => id === next);
      if (from < 0) return 'gone';
      const to = Math.min(portion.rows.length, from + left);
      pieces.push({ portion, from, to });
      left -= to - from;
      cursor = portion.rows[to - 1]!;
    }
    return { pieces, cursor, more: pieces.length > 0 && cursor.id < last };
  }

  /** Each in its own turn: nobody waits for that of somebody else who asked for it first. */
  async #portion(at: number, asker: Asker): Promise<Portion> {
    if (!this.#kept.has(at)) await asker.turn();
    const kept = this.#kept.get(at);
    if (kept) return kept;
    const portion = this.#inRow(asker.key, () => this.#read(at));
    portion.catch(() => this.#kept.delete(at));
    this.#kept.set(at, portion);
    return portion;
  }

  #inRow<T>(key: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#row.take(key, 1, leave => void work().finally(leave).then(resolve, reject));
    });
  }

  async #read(at: number): Promise<Portion> {
    const end = Math.min((at + 1) * PORTION - 1, this.#mark.last);
    const rows = await this.#parts.store.changesAfter(at * PORTION - 1, PORTION);
    return { rows: rows.filter(({ id }) => id <= end) };
  }
}
