/** A bounded cache that is shared fairly: when it is full, whoever brought most gives up what was not used for longest. */

interface Kept<T> {
  readonly by: string;
  readonly value: T;
}

export class FairCache<T> {
  readonly #most: number;
  readonly #held: string;
  readonly #kept = new Map<string, Kept<T>>();
  /** The names that each has brought, the longest unused first. */
  readonly #rows = new Map<string, Set<string>>();

  /** `held`: whose names nobody pushes out. He must have a bound of his own, below `most`. */
  constructor(most: number, held: string) {
    this.#most = most;
    this.#held = held;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(name: string): T | undefined {
    const kept = this.#kept.get(name);
    if (!kept) return undefined;
    const row = this.#rows.get(kept.by)!;
    row.delete(name);
    row.add(name);
    return kept.value;
  }

  /** What is there already stays with whoever brought it. */
  set(name: string, value: T, by: string): void {
    const before = this.#kept.get(name);
    if (!before && this.#kept.size >= this.#most) this.#makeRoom();
    this.#put(name, value, before?.by ?? by);
  }

  /** From now on it counts as brought by somebody else. */
  give(name: string, to: string): void {
    const before = this.#kept.get(name);
    if (!before || before.by === to) return;
    this.#remove(name, before.by);
    this.#put(name, before.value, to);
  }

  #put(name: string, value: T, by: string): void {
    this.#kept.set(name, { by, value });
    const row = this.#rows.get(by) ?? new Set();
    row.add(name);
    this.#rows.set(by, row);
  }

  #remove(name: string, by: string): void {
    this.#kept.delete(name);
    const row = this.#rows.get(by)!;
    row.delete(name);
    if (row.size === 0) this.#rows.delete(by);
  }

  #makeRoom(): void {
    let most: readonly [by: string, row: Set<string>] | undefined;
    for (const one of this.#rows)
      if (one[0] !== this.#held && one[1].size > (most?.[1].size ?? 0)) most = one;
    for (const name of most?.[1] ?? []) return this.#remove(name, most![0]);
  }
}
