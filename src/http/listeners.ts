/**
 * The listeners at one port, one in each worker, that end together: whoever was answered by one of them comes to another,
 * and is reset where that one closes alone (61 of some thousand requests with two workers, 2026-11-17).
 */

/** For callers, and for operators. */
const MOST_PORTS = 2;
const FIELDS = 3;
const BYTES = 4;
const [CAME, WAITING, CLOSED] = [0, 1, 2];

export interface Together {
  /** Of all of them. */
  readonly memory: SharedArrayBuffer;
  readonly workers: number;
}

export class Listeners {
  readonly #fields: Int32Array;
  readonly #workers: number;
  #accepted: number | undefined;
  #isWaiting = false;

  static newMemory(): SharedArrayBuffer {
    return new SharedArrayBuffer(MOST_PORTS * FIELDS * BYTES);
  }

  /** The one at the first port, or at another; alone where nothing is said. */
  constructor(together: Together = { memory: Listeners.newMemory(), workers: 1 }, port = 0) {
    this.#fields = new Int32Array(together.memory, port * FIELDS * BYTES, FIELDS);
    this.#workers = together.workers;
  }

  /** This one has accepted so many since its start. How many came to all of them, since the end was told. */
  came(accepted: number): number {
    const more = accepted - (this.#accepted ?? accepted);
    this.#accepted = accepted;
    return Atomics.add(this.#fields, CAME, more) + more;
  }

  /** Nobody is answered here any more before all are closed. */
  wait(): void {
    if (!this.#isWaiting) Atomics.add(this.#fields, WAITING, 1);
    this.#isWaiting = true;
  }

  closed(): void {
    this.wait();
    Atomics.add(this.#fields, CLOSED, 1);
  }

  get areAllWaiting(): boolean {
    return Atomics.load(this.#fields, WAITING) >= this.#workers;
  }

  get areAllClosed(): boolean {
    return Atomics.load(this.#fields, CLOSED) >= this.#workers;
  }
}
