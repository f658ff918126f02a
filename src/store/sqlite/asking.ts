/** Questions to a thread of the embedded store over a port of messages, each with its deadline. */

import type { MessagePort } from 'node:worker_threads';
import { StoreUnavailable } from '../../core/ports.ts';
import { waitAtMost } from '../wait.ts';

/** Beyond this the caller has its 500 and the disk may take as long as it likes. */
export const DEADLINE_MS = 900;
/** For work that no caller waits for. */
export const NO_DEADLINE = null;

export interface Question {
  readonly id: number;
  readonly op: string;
  readonly args: readonly unknown[];
}

/** Another thread that asks as well, over a port of its own. */
export interface Newcomer {
  readonly newcomer: MessagePort;
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly unavailable: string }
  /** Of ours: it crosses the threads with its kind and its stack. */
  | { readonly id: number; readonly fault: Error }
  | { readonly id: number; readonly done: number; readonly total: number };

type Progress = (done: number, total: number) => void;

type Op<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R ? { args: A; result: Awaited<R> } : never;
};

export class Asking<T> {
  readonly #port: { postMessage(question: Question): void };
  readonly #deadlineMs: number;
  readonly #waiting = new Map<
    number,
    { resolve(value: never): void; reject(error: Error): void; progress?: Progress }
  >();
  #next = 0;
  #ended: string | undefined;

  constructor(port: { postMessage(question: Question): void }, deadlineMs: number) {
    this.#port = port;
    this.#deadlineMs = deadlineMs;
  }

  readonly ask = <K extends keyof T & string>(
    op: K,
    args: Op<T>[K]['args'],
    deadline: number | null = this.#deadlineMs,
    progress?: Progress,
  ): Promise<Op<T>[K]['result']> => {
    if (this.#ended !== undefined) return Promise.reject(new StoreUnavailable(this.#ended));
    const id = this.#next++;
    try {
      this.#port.postMessage({ id, op, args });
    } catch (error) {
      // What cannot be cloned: nobody will answer, and whoever asked is told.
      return Promise.reject(error);
    }
    const { promise, resolve, reject } = Promise.withResolvers<Op<T>[K]['result']>();
    this.#waiting.set(id, progress ? { resolve, reject, progress } : { resolve, reject });
    if (deadline === null) return promise;
    const wait = waitAtMost(deadline, () => {
      this.#waiting.delete(id);
      reject(new StoreUnavailable(`the store did not answer ${op} within ${Math.round(deadline)} ms`));
    });
    return promise.finally(wait.end);
  };

  take(answer: Answer): void {
    const call = this.#waiting.get(answer.id);
    if (!call) return;
    if ('done' in answer) {
      call.progress?.(answer.done, answer.total);
      return;
    }
    this.#waiting.delete(answer.id);
    if ('unavailable' in answer) call.reject(new StoreUnavailable(answer.unavailable));
    else if ('fault' in answer) call.reject(answer.fault);
    else call.resolve(answer.value as never);
  }

  /** Nobody will answer any more. */
  end(why: string): void {
    this.#ended ??= why;
    for (const call of this.#waiting.values()) call.reject(new StoreUnavailable(why));
    this.#waiting.clear();
  }
}
