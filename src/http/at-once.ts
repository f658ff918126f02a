/** How many calls of a kind one caller may have under way. */

import { type Refusal, refuse } from '../core/refusal.ts';
import { type Call, whenFinished } from './call.ts';
import { sendRefusal } from './reply.ts';

const SCHEME_LENGTH = 'Bearer '.length;

/** Before anybody knows whose a call is: what it shows at the door, the scheme apart, which can be spelled in many ways. */
export function shownBy({ head }: Call): string {
  return head.authorization?.slice(SCHEME_LENGTH) ?? '';
}

export class AtOnce {
  readonly #most: number;
  readonly #busy: Refusal;
  readonly #byCaller = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
    this.#busy = refuse('overloaded', `at most ${most} of these calls at a time`, 1);
  }

  /** From here on it is under way; false where its caller has as many already, and it has its refusal. */
  lets(call: Call): boolean {
    const caller = shownBy(call);
    const count = this.#byCaller.get(caller) ?? 0;
    if (count >= this.#most) {
      sendRefusal(call, this.#busy);
      return false;
    }
    this.#byCaller.set(caller, count + 1);
    let isDone = false;
    whenFinished(call, () => {
      if (isDone) return;
      isDone = true;
      const left = this.#byCaller.get(caller)! - 1;
      if (left > 0) this.#byCaller.set(caller, left);
      else this.#byCaller.delete(caller);
    });
    return true;
  }
}
