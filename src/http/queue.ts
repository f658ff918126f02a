/** What waits for its turn, in order. */

/** Taken from either end without moving the rest. */
export class Queue<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** What is taken out is kept by nobody: it may be the last that holds on to a connection. */
  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#items[this.#head++] = undefined;
    this.#tidy();
    return item;
  }

  /** The one to be served next, in the order of their coming. */
  next(): T | undefined {
    return this.shift();
  }

  /** The newest. */
  pop(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items.pop();
    this.#tidy();
    return item;
  }

  #tidy(): void {
    if (this.size === 0 || (this.#head > 1_000 && this.#head * 2 > this.#items.length)) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }
}

interface Entry<T> {
  /** Undefined once it was taken out. */
  item: T | undefined;
}

/**
 * Of one key that many send, as that of a web page: they are served in turn, so that nobody fills the queue of the others,
 * and all of them together have no more turns than any other key. The oldest of all are those of whoever sends most.
 */
export class SharedQueue<T> {
  readonly #whose: (item: T) => string;
  readonly #all = new Queue<Entry<T>>();
  /** By whom, whose turn it is first. */
  readonly #rows = new Map<string, Queue<Entry<T>>>();
  size = 0;

  constructor(whose: (item: T) => string) {
    this.#whose = whose;
  }

  get first(): T | undefined {
    return this.#all.first?.item;
  }

  push(item: T): void {
    const entry = { item };
    const who = this.#whose(item);
    const row = this.#rows.get(who) ?? new Queue();
    this.#rows.set(who, row);
    row.push(entry);
    this.#all.push(entry);
    this.size++;
  }

  /** The oldest of all. */
  shift(): T | undefined {
    const entry = this.#all.shift();
    return entry && this.#take(entry);
  }

  /** The oldest of whoever's turn it is. */
  next(): T | undefined {
    return this.#takeTurn(row => row.shift());
  }

  /** The newest of whoever's turn it is. */
  pop(): T | undefined {
    return this.#takeTurn(row => row.pop());
  }

  #takeTurn(takeFrom: (row: Queue<Entry<T>>) => Entry<T> | undefined): T | undefined {
    for (const [who, row] of this.#rows) {
      this.#rows.delete(who);
      dropTaken(row);
      const entry = takeFrom(row);
      if (row.size > 0) this.#rows.set(who, row);
      if (entry) return this.#take(entry);
    }
    return undefined;
  }

  #take(entry: Entry<T>): T | undefined {
    const { item } = entry;
    entry.item = undefined;
    dropTaken(this.#all);
    if (--this.size === 0) this.#rows.clear();
    return item;
  }
}

/** Those at its begin that were taken out by another way: with these it would grow for as long as anybody waits. */
function dropTaken<T>(queue: Queue<Entry<T>>): void {
  while (queue.first && queue.first.item === undefined) queue.shift();
}
