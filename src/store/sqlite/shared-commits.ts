/** Group commit over threads: batches of several that wait at the same moment are counted in one transaction. */

import type { MessagePort } from 'node:worker_threads';
import type { SpendGroup } from '../spend-group.ts';
import type { Answer, Question } from './asking.ts';
import { unavailabilityOf } from './codes.ts';
import type { Spender } from './spender.ts';

interface Batch {
  readonly id: number;
  readonly groups: readonly SpendGroup[];
  readonly from: MessagePort;
}

/** Judged here, where it was thrown: on the way an error loses all but its kind, its message and its stack. */
export function failureOf(id: number, error: unknown): Answer {
  const unavailable = unavailabilityOf(error);
  return unavailable ? { id, unavailable: unavailable.message } : { id, fault: error as Error };
}

export class SharedCommits {
  readonly #spend: Spender['spend'];
  readonly #tell: (answer: Answer, to: MessagePort) => void;
  #waiting: Batch[] = [];

  constructor(spend: Spender['spend'], tell: (answer: Answer, to: MessagePort) => void) {
    this.#spend = spend;
    this.#tell = tell;
  }

  /** Counted behind the poll phase: what other threads have sent by then goes into the same commit. */
  add({ id, args }: Question, from: MessagePort): void {
    if (this.#waiting.length === 0) setImmediate(this.#commit);
    this.#waiting.push({ id, groups: args[0] as readonly SpendGroup[], from });
  }

  readonly #commit = (): void => {
    const batches = this.#waiting;
    this.#waiting = [];
    try {
      const results = this.#spend(batches.flatMap(({ groups }) => groups));
      let at = 0;
      for (const { id, groups, from } of batches) {
        this.#tell({ id, value: results.slice(at, at + groups.length) }, from);
        at += groups.length;
      }
    } catch (error) {
      for (const { id, from } of batches) this.#tell(failureOf(id, error), from);
    }
  };
}
