/**
 * How long an event loop is held: by the clock, how late a timer of a millisecond is; and turn by turn, for how long its
 * thread itself was on a core, which no other process on the machine adds to, and for how long it was blocked otherwise.
 */

import { fork } from 'node:child_process';
import { openSync, readSync } from 'node:fs';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** In milliseconds; each is the longest of its kind, not all of one turn. */
export interface Hold {
  /** A timer was late by so much, whoever had the core. */
  readonly late: number;
  /** On a core in one turn of the loop: all its callbacks, page faults and garbage collection. */
  readonly own: number;
  /** The same of turns without garbage collection. */
  readonly worked: number;
  /** In one turn neither on a core nor waiting for one: a lock, a disk, a helper of the garbage collection. */
  readonly blocked: number;
  /** Page faults of the turn with the longest `own`. */
  readonly faults: number;
}

interface Reading {
  readonly at: number;
  readonly active: number;
  readonly own: number;
  readonly waited: number;
  /** How often it was given a core. */
  readonly resumed: number;
  readonly faults: number;
}

interface Turn extends Reading {
  readonly from: number;
}

const EVERY_MS = 1;
/** Observers are told behind the garbage collection. */
const TOLD_MS = 20;
/** Shorter turns are not remembered. */
const SHORT_MS = 0.2;

/** A reading that took no longer is of one moment. */
const IN_ONE_GO_MS = 0.05;
const MOST_TRIES = 20;
/** What is not active in a turn. */
const ASLEEP_MS = 0.01;

/** Linux only: nanoseconds on a core, nanoseconds waiting for one, how often one was given. */
const SCHEDULED = '/proc/thread-self/schedstat';
const [WAITED, RESUMED] = [1, 2];
/** Page faults that needed no disk, and those that did; the name of a thread has no spaces here. */
const STATED = '/proc/thread-self/stat';
const [MINOR, MAJOR] = [9, 11];

const [SPACE, ZERO] = [0x20, 0x30];

/** Of this thread. */
export class HoldWatch {
  #turns: Turn[] = [];
  #late = 0;
  #collections: { at: number; ms: number }[] = [];
  readonly #observer = new PerformanceObserver(list => {
    for (const { startTime: at, duration: ms } of list.getEntries()) this.#collections.push({ at, ms });
  });
  readonly #scheduled = openSync(SCHEDULED, 'r');
  readonly #stated = openSync(STATED, 'r');
  readonly #text = Buffer.alloc(1_000);
  #isOpen = true;
  /** This turn is not what is measured. */
  #isOurs = false;

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
    this.#waitOn(performance.now());
    this.#turnOn(this.#read());
  }

  /** Takes 6 µs. Again where the thread lost its core meanwhile: the wait would count in one turn and not in the other. */
  #read(): Reading {
    for (let tries = 1; ; tries++) {
      const begun = performance.now();
      // The kernel counts a thread's time by ticks of 4 ms, unless that of the whole process was asked for (2026-11-17).
      process.cpuUsage();
      const { user, system } = process.threadCpuUsage();
      this.#fill(this.#stated);
      const faults = this.#field(MINOR) + this.#field(MAJOR);
      this.#fill(this.#scheduled);
      const [waited, resumed] = [this.#field(WAITED) / 1e6, this.#field(RESUMED)];
      const active = performance.eventLoopUtilization().active;
      const at = performance.now();
      if (at - begun > IN_ONE_GO_MS && tries < MOST_TRIES) continue;
      return { at, active, own: (user + system) / 1e3, waited, resumed, faults };
    }
  }

  #fill(file: number): void {
    this.#text.fill(SPACE, readSync(file, this.#text, 0, this.#text.length, 0));
  }

  /** From the bytes: strings would make garbage, which is measured. */
  #field(which: number): number {
    const text = this.#text;
    let from = 0;
    for (let at = 0; at < which; at++) from = text.indexOf(SPACE, from) + 1;
    let value = 0;
    for (; text[from]! >= ZERO; from++) value = 10 * value + text[from]! - ZERO;
    return value;
  }

  #waitOn(from: number): void {
    setTimeout(() => {
      const now = performance.now();
      this.#late = Math.max(this.#late, now - from - EVERY_MS);
      if (this.#isOpen) this.#waitOn(now);
    }, EVERY_MS);
  }

  /** One that nobody waits for comes in every turn, and the loop sleeps between them as it would without it. */
  #turnOn(was: Reading): void {
    setImmediate(() => {
      const now = this.#read();
      const active = now.active - was.active;
      // What a host takes from a virtual machine is charged to who had the core, asleep or not.
      const own = Math.min(active, now.own - was.own);
      const [waited, faults] = [now.waited - was.waited, now.faults - was.faults];
      const resumed = now.resumed - was.resumed;
      if (active > SHORT_MS && !this.#isOurs)
        this.#turns.push({ from: was.at, at: now.at, own, active, waited, resumed, faults });
      this.#isOurs = false;
      if (this.#isOpen) this.#turnOn(now);
    }).unref();
  }

  /** Since the last time. */
  async longest(): Promise<Hold> {
    await pause(TOLD_MS);
    this.#isOurs = true;
    const [turns, late, collections] = [this.#turns, this.#late, this.#collections];
    this.#turns = [];
    this.#late = 0;
    this.#collections = [];
    const most = (of: readonly Turn[]) => of.reduce((a, b) => (a.own > b.own ? a : b), NO_TURN);
    const isWork = ({ from, at: to }: Turn) => !collections.some(({ at }) => at >= from && at <= to);
    const { own, faults } = most(turns);
    return {
      ...{ late, own, faults, worked: most(turns.filter(isWork)).own },
      blocked: turns.reduce((most, turn) => Math.max(most, blockOf(turn)), 0),
    };
  }

  close(): void {
    this.#isOpen = false;
    this.#observer.disconnect();
  }
}

const NO_TURN: Turn = { from: 0, at: 0, active: 0, own: 0, waited: 0, resumed: 0, faults: 0 };

/** Who was blocked gave its core away; who only slept between turns did so once; who was halted with the machine did not. */
function blockOf({ from, at, active, own, waited, resumed }: Turn): number {
  const hasSlept = at - from - active > ASLEEP_MS;
  return resumed > (hasSlept ? 1 : 0) ? active - own - waited : 0;
}

/** The same for a process that does nothing: what is left is the machine's. */
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
