/** How many calls of a kind one caller may have under way. */

import type { Call } from './call.ts';

const SCHEME_LENGTH = 'Bearer '.length;

/** Before anybody knows whose a call is: what it shows at the door, the scheme apart, which can be spelled in many ways. */
export function shownBy({ head }: Call): string {
  return head.authorization?.slice(SCHEME_LENGTH) ?? '';
}

export class AtOnce {
  readonly #most: number;
  readonly #byCaller = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Undefined where there are as many already; else what to call when one is done; again does nothing. */
  enter(caller: string): (() => void) | undefined {
    const count = this.#byCaller.get(caller) ?? 0;
    if (count >= this.#most) return undefined;
    this.#byCaller.set(caller, count + 1);
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      const left = this.#byCaller.get(caller)! - 1;
      if (left > 0) this.#byCaller.set(caller, left);
      else this.#byCaller.delete(caller);
    };
  }
}
