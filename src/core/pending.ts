/** What waits its turn: bounded, and no key may fill it, so that others are not turned away for one. */

export class Pending<T extends { readonly by: string }> {
  readonly #most: number;
  readonly #mostOfOne: number;
  #waiting: T[] = [];
  #counts = new Map<string, number>();

  constructor(most: number, mostOfOne: number) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  hasRoom(by: string): boolean {
    return this.#waiting.length < this.#most && (this.#counts.get(by) ?? 0) < this.#mostOfOne;
  }

  add(one: T): void {
    this.#waiting.push(one);
    this.#counts.set(one.by, (this.#counts.get(one.by) ?? 0) + 1);
  }

  /** All that wait, once. */
  take(): readonly T[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#counts = new Map();
    return waiting;
  }
}
