/** How long an event loop is held: how late a timer of a millisecond is because of what the loop did meanwhile. */

import { fork } from 'node:child_process';
import { openSync, readSync } from 'node:fs';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** In milliseconds. */
export interface Hold {
  readonly held: number;
  /** Without rest, waiting for a core, and garbage collection, which comes when it comes. */
  readonly own: number;
  readonly collected: number;
}

const EVERY_MS = 1;
/** Observers are told behind the garbage collection. */
const TOLD_MS = 20;

const NONE: Hold = { held: 0, own: 0, collected: 0 };

/** Linux only: nanoseconds on a core (by ticks of 4 ms), nanoseconds waiting for one (exactly), turns. */
const SCHEDULED = '/proc/thread-self/schedstat';

/** Of this thread. */
export class HoldWatch {
  #turns: { from: number; held: number; active: number; waited: number }[] = [];
  #collections: { at: number; ms: number }[] = [];
  readonly #observer = new PerformanceObserver(list => {
    for (const { startTime: at, duration: ms } of list.getEntries()) this.#collections.push({ at, ms });
  });
  readonly #scheduled = openSync(SCHEDULED, 'r');
  readonly #text = Buffer.alloc(100);
  #isOpen = true;

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
    this.#next(performance.now(), performance.eventLoopUtilization().active, this.#waited());
  }

  #waited(): number {
    const length = readSync(this.#scheduled, this.#text, 0, this.#text.length, 0);
    return Number(this.#text.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  }

  #next(from: number, active: number, waited: number): void {
    setTimeout(() => {
      const [now, was, waits] = [
        performance.now(),
        performance.eventLoopUtilization().active,
        this.#waited(),
      ];
      const held = now - from - EVERY_MS;
      if (held > EVERY_MS) this.#turns.push({ from, held, active: was - active, waited: waits - waited });
      if (this.#isOpen) this.#next(now, was, waits);
    }, EVERY_MS);
  }

  /** The longest since the last time, by what this thread did itself. */
  async longest(): Promise<Hold> {
    await pause(TOLD_MS);
    const holds = this.#turns.map(({ from, held, active, waited }): Hold => {
      const within = this.#collections.filter(({ at }) => at >= from && at <= from + EVERY_MS + held);
      const collected = within.reduce((sum, { ms }) => sum + ms, 0);
      // A collection waits for cores too.
      return { held, own: Math.max(0, Math.min(held, active) - Math.max(waited, collected)), collected };
    });
    this.#turns = [];
    this.#collections = [];
    return holds.reduce((most, one) => (one.own > most.own ? one : most), NONE);
  }

  close(): void {
    this.#isOpen = false;
    this.#observer.disconnect();
  }
}

/** The same for a process that does nothing: what is left is the machine's, 5 ms beside one that is busy (2026-11-17). */
export class IdleWatch {
  readonly #process = fork(import.meta.filename);

  longest(): Promise<Hold> {
    return new Promise((resolve, reject) => {
      this.#process.once('message', (hold: Hold) => resolve(hold));
      this.#process.once('exit', code => reject(new Error(`it ended with ${code}`)));
      this.#process.send('longest');
    });
  }

  close(): void {
    this.#process.kill();
  }
}

if (import.meta.main) {
  const watch = new HoldWatch();
  process.on('message', async () => process.send!(await watch.longest()));
}
