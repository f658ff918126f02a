/** What sweeps have found out about listed names. */

import { HashedNames } from './hashed.ts';
import type { SweepMark } from './ports.ts';

export class SweptNames {
  readonly #mark: SweepMark | undefined;
  readonly #dead: HashedNames;
  readonly #asked: HashedNames;

  /** Of those before, what the mark says again is kept: reading 1 MB takes its time. */
  constructor(mark: SweepMark | undefined, before?: SweptNames) {
    this.#mark = mark;
    const isSame = (member: 'dead' | 'asked') => before && before.#mark?.[member] === mark?.[member];
    this.#dead = isSame('dead') ? before!.#dead : new HashedNames(mark?.dead);
    this.#asked = isSame('asked') ? before!.#asked : new HashedNames(mark?.asked);
  }

  as(mark: SweepMark | undefined): SweptNames {
    return new SweptNames(mark, this);
  }

  /** It received no mail at a sweep: it may have been registered since, by anybody. */
  isDead(entry: string): boolean {
    return this.#dead.has(entry);
  }

  /** A sweep came to its end before, and did not ask for it: it has been listed since (undefined: it is not listed). */
  isNew(entry: string | undefined): boolean {
    if (this.#mark === undefined || this.#mark.firstEndedAt === null) return false;
    return entry === undefined || !this.#asked.has(entry);
  }
}
