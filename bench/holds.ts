/** How long an event loop is held: how late a timer of a millisecond is, and how much of that garbage collection took. */

import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** In milliseconds. */
export interface Hold {
  /** Others on the machine make it longer. */
  readonly held: number;
  /** Processor time of this thread meanwhile. */
  readonly worked: number;
  readonly collected: number;
}

const EVERY_MS = 1;
/** Observers are told behind the garbage collection. */
const TOLD_MS = 20;

const NONE: Hold = { held: 0, worked: 0, collected: 0 };

/** Of this thread. */
export class HoldWatch {
  #turns: { from: number; held: number; worked: number }[] = [];
  #collections: { at: number; ms: number }[] = [];
  readonly #observer = new PerformanceObserver(list => {
    for (const { startTime: at, duration: ms } of list.getEntries()) this.#collections.push({ at, ms });
  });
  #isOpen = true;

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
    this.#next(performance.now(), this.#worked());
  }

  #worked(): number {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  }

  #next(from: number, before: number): void {
    setTimeout(() => {
      const [now, worked] = [performance.now(), this.#worked()];
      const held = now - from - EVERY_MS;
      if (held > EVERY_MS) this.#turns.push({ from, held, worked: worked - before });
      if (this.#isOpen) this.#next(now, worked);
    }, EVERY_MS);
  }

  /** The longest since the last time, by what this thread did in one piece. */
  async longest(): Promise<Hold> {
    await pause(TOLD_MS);
    const holds = this.#turns.map(({ from, held, worked }): Hold => {
      const within = this.#collections.filter(({ at }) => at >= from && at <= from + EVERY_MS + held);
      return { held, worked, collected: within.reduce((sum, { ms }) => sum + ms, 0) };
    });
    this.#turns = [];
    this.#collections = [];
    const own = ({ held, worked }: Hold) => Math.min(held, worked);
    return holds.reduce((most, one) => (own(one) > own(most) ? one : most), NONE);
  }

  close(): void {
    this.#isOpen = false;
    this.#observer.disconnect();
  }
}
