/** Sets of names that fit into one field of the store: what sweeps have found out about listed names. */

import { hashOf } from './guest.ts';

/** By 32 bits of a hash each: 100,000 names in 400 KB, and of all listed names about four taken for another. */
export class HashedNames {
  readonly #hashes: Set<number>;

  constructor(text: string | null = null) {
    this.#hashes = new Set();
    this.addAll(text);
  }

  addAll(text: string | null = null): void {
    const bytes = Buffer.from(text ?? '', 'base64');
    for (let at = 0; at + 4 <= bytes.length; at += 4) this.#hashes.add(bytes.readUInt32LE(at));
  }

  get size(): number {
    return this.#hashes.size;
  }

  has(name: string): boolean {
    return this.#hashes.has(hashOf(name));
  }

  add(name: string): void {
    this.#hashes.add(hashOf(name));
  }

  /** Without names that no list names any more, so that it cannot grow beyond the lists. */
  keepOnly(names: Iterable<string>): void {
    const before = new Set(this.#hashes);
    this.#hashes.clear();
    for (const name of names) if (before.has(hashOf(name))) this.add(name);
  }

  toText(): string {
    const bytes = Buffer.alloc(4 * this.#hashes.size);
    let at = 0;
    for (const hash of this.#hashes) at = bytes.writeUInt32LE(hash, at);
    return bytes.toString('base64');
  }
}
