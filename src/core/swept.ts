/** What sweeps have found out about listed names. */

import { isIn } from './hashed.ts';
import type { SweepMark } from './ports.ts';

export class SweptNames {
  readonly #dead: string;

  constructor(mark: SweepMark | undefined) {
    this.#dead = mark?.dead ?? '';
  }

  /** It received no mail at a sweep: if it does now, anybody may have registered it since. */
  wasDead(entry: string): boolean {
    return isIn(this.#dead, entry);
  }
}
