/** What the thread above the workers asks them, and how long it waits for the answer. */

import type { Worker } from 'node:worker_threads';
import type { Told, Topic, ToWorker } from './messages.ts';

export function post(thread: Worker | undefined, message: ToWorker): void {
  thread?.postMessage(message);
}

export class Questions {
  readonly #waiting = new Map<number, (told: Told[Topic]) => void>();
  #asked = 0;

  /** Resolves when it was answered, or the time is over. */
  ask<T extends Topic>(
    thread: Worker | undefined,
    topic: T,
    ms: number,
    take: (told: Told[T]) => void,
  ): Promise<void> {
    const id = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms).unref();
    this.#waiting.set(id, told => {
      take(told as Told[T]);
      resolve();
    });
    post(thread, { ask: topic, id });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(id);
    });
  }

  answered(id: number, told: Told[Topic]): void {
    this.#waiting.get(id)?.(told);
  }
}
