/**
 * A set whose first is found at once, however many before it have gone: a Set of the language goes over all their places,
 * 23 µs with 20,000 of which always the first goes (2026-11-17).
 */

interface Link<T> {
  readonly item: T;
  before: Link<T> | undefined;
  behind: Link<T> | undefined;
}

/** In the order in which they came. */
export class Order<T> {
  readonly #links = new Map<T, Link<T>>();
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get size(): number {
    return this.#links.size;
  }

  get first(): T | undefined {
    return this.#first?.item;
  }

  /** Of those that are not there yet. */
  add(item: T): void {
    const link: Link<T> = { item, before: this.#last, behind: undefined };
    if (this.#last) this.#last.behind = link;
    else this.#first = link;
    this.#last = link;
    this.#links.set(item, link);
  }

  delete(item: T): boolean {
    const link = this.#links.get(item);
    if (!link) return false;
    const { before, behind } = link;
    if (before) before.behind = behind;
    else this.#first = behind;
    if (behind) behind.before = before;
    else this.#last = before;
    return this.#links.delete(item);
  }

  /** Up to so many. */
  some(most: number): T[] {
    const some: T[] = [];
    for (let link = this.#first; link && some.length < most; link = link.behind) some.push(link.item);
    return some;
  }
}
