/** Bodies whose time was over while they waited here: Node looks at each request only once, and from then on we do. */

import type { Reading } from './reading.ts';

/** What is looked at of a connection. */
export interface Sender {
  readonly isGone: boolean;
  readonly isEnding: boolean;
  readonly requests: number;
  readonly reading: Pick<Reading, 'isBlocked'> & {
    readonly parsing: Pick<Reading['parsing'], 'isBetween' | 'isInHead' | 'bodyLeft'>;
    readonly intake: Pick<Reading['intake'], 'held'>;
  };
}

/** Of more of a body nothing is read before its turn. With less here, and more to come, somebody sends slowly (slow loris). */
const MUCH = 64 * 1024;

export class Late<T extends Sender> {
  readonly #all = new Map<T, { readonly nth: number; by: number }>();
  readonly #timeMs: number;
  readonly #end: (one: T) => void;

  /** So long each has once it does not wait any more. */
  constructor(timeMs: number, end: (one: T) => void) {
    this.#timeMs = timeMs;
    this.#end = end;
  }

  /** False where it is the sender who is late. */
  adds(one: T): boolean {
    if (!waitsForUs(one, 1)) return false;
    this.#all.set(one, { nth: one.requests, by: performance.now() + this.#timeMs });
    return true;
  }

  tend(now: number): void {
    for (const [one, request] of this.#all) {
      const isOver = one.isGone || one.isEnding || !isInBody(one);
      if (isOver || one.requests > request.nth) this.#all.delete(one);
      else if (waitsForUs(one, Math.min(MUCH, one.reading.parsing.bodyLeft))) request.by = now + this.#timeMs;
      else if (now > request.by) {
        this.#all.delete(one);
        this.#end(one);
      }
    }
  }
}

const isInBody = ({ reading: { parsing } }: Sender) => !parsing.isBetween && !parsing.isInHead;

/** For its turn, or for answers before it: it has so much here, or is not taken from the kernel. */
function waitsForUs(one: Sender, least: number): boolean {
  const { reading } = one;
  return isInBody(one) && (reading.isBlocked() || (reading.intake.held?.length ?? 0) >= least);
}
