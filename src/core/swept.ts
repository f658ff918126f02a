/** What sweeps have found out about listed names. */

import { HashedNames } from './hashed.ts';
import type { SweepMark } from './ports.ts';

export class SweptNames {
  readonly #text: string | null;
  readonly #dead: HashedNames;

  /** Of those before, what the mark says again is kept: reading a megabyte takes its time. */
  constructor(mark: SweepMark | undefined, before?: SweptNames) {
    this.#text = mark?.dead ?? null;
    this.#dead = before && before.#text === this.#text ? before.#dead : new HashedNames(this.#text);
  }

  as(mark: SweepMark | undefined): SweptNames {
    return new SweptNames(mark, this);
  }

  /** It received no mail at a sweep: if it does now, anybody may have registered it since. */
  wasDead(entry: string): boolean {
    return this.#dead.has(entry);
  }
}
