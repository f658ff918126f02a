/** Sets of names that fit into one field of the store: what sweeps have found out about listed names. */

import { hash } from 'node:crypto';

/**
 * By 72 bits each, which are 12 characters: 100,000 names in 1.2 MB. With 32 bits of a simple hash an operator found twelve
 * names in seconds that were taken for dead ones (2026-11).
 */
const WIDTH = 12;
const marked = (name: string) => hash('sha256', name, 'base64').slice(0, WIDTH);

/** Whether a text of `toText` holds a name. In order, so that nothing has to be made of a megabyte to look into it. */
export function isIn(text: string, name: string): boolean {
  const wanted = marked(name);
  let from = 0;
  let to = Math.floor(text.length / WIDTH);
  while (from < to) {
    const middle = (from + to) >>> 1;
    const mark = text.slice(middle * WIDTH, (middle + 1) * WIDTH);
    if (mark === wanted) return true;
    if (mark < wanted) from = middle + 1;
    else to = middle;
  }
  return false;
}

export class HashedNames {
  readonly #marks: Set<string>;

  constructor(text: string | null = null) {
    this.#marks = new Set();
    this.addAll(text);
  }

  addAll(text: string | null = null): void {
    for (let at = 0; text !== null && at + WIDTH <= text.length; at += WIDTH)
      this.#marks.add(text.slice(at, at + WIDTH));
  }

  get size(): number {
    return this.#marks.size;
  }

  has(name: string): boolean {
    return this.#marks.has(marked(name));
  }

  add(name: string): void {
    this.#marks.add(marked(name));
  }

  /** Without names that no list names any more, so that it cannot grow beyond the lists. */
  keepOnly(names: Iterable<string>): void {
    const before = new Set(this.#marks);
    this.#marks.clear();
    for (const name of names) {
      const mark = marked(name);
      if (before.has(mark)) this.#marks.add(mark);
    }
  }

  toText(): string {
    return [...this.#marks].sort().join('');
  }
}
