/** Names as bytes, and a table from each of them to a number: one buffer for millions, which threads share as it is. */

import { createHash } from 'node:crypto';
import { BYTE_STEP, type Steps } from './steps.ts';

/** No name is longer (RFC 1035 section 2.3.4, without the dot at its end). */
const LONGEST_NAME = 253;
const DOT = 0x2e;
/** Before a name: its length, and room for its number, the lowest byte first. */
export const HEAD = 4;

/** Names in their order, 18 bytes each. The same name may come again. */
export class NameList implements Iterable<string> {
  readonly bytes: Uint8Array;
  readonly length: number;

  constructor(bytes: Uint8Array, length: number) {
    this.bytes = bytes;
    this.length = length;
  }

  *[Symbol.iterator](): Generator<string, undefined, undefined> {
    const { bytes } = this;
    const text = textOf(bytes);
    for (let at = 0; at < bytes.length; at += HEAD + bytes[at]!)
      yield text.toString('latin1', at + HEAD, at + HEAD + bytes[at]!);
  }
}

function textOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Room for names is made in pieces of this size. */
const PIECE = 2 ** 18;

/** A list while it is made: none of its names stays a string, which the garbage collector would have to move. */
export class Packer implements Iterable<string> {
  readonly #pieces: Uint8Array[] = [];
  #piece = new Uint8Array(PIECE);
  #end = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Throws RangeError for what is no ASCII text of at most 253 characters. */
  push(name: string): void {
    if (this.#end + HEAD + LONGEST_NAME > PIECE) this.#next();
    const length = write(name, this.#piece, this.#end + HEAD);
    if (length === -1) throw new RangeError('a name is too long, or is not ASCII');
    this.#piece[this.#end] = length;
    this.#end += HEAD + length;
    this.#length++;
  }

  #next(): void {
    this.#pieces.push(this.#piece.subarray(0, this.#end));
    this.#piece = new Uint8Array(PIECE);
    this.#end = 0;
  }

  *[Symbol.iterator](): Generator<string, undefined, undefined> {
    for (const piece of [...this.#pieces, this.#piece.subarray(0, this.#end)])
      yield* new NameList(piece, this.#length);
  }

  *packing(): Steps<NameList> {
    this.#next();
    const bytes = new Uint8Array(this.#pieces.reduce((sum, piece) => sum + piece.length, 0));
    let to = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, to);
      to += piece.length;
      yield;
    }
    return new NameList(bytes, this.#length);
  }
}

export function* packing(names: readonly string[]): Steps<NameList> {
  const packer = new Packer();
  for (let at = 0; at < names.length; at++) {
    packer.push(names[at]!);
    if ((at + 1) % BYTE_STEP === 0) yield;
  }
  return yield* packer.packing();
}

/** Its length, or -1 where no list can hold it. */
function write(name: string, bytes: Uint8Array, to: number): number {
  const { length } = name;
  if (length > LONGEST_NAME) return -1;
  for (let at = 0; at < length; at++) {
    const code = name.charCodeAt(at);
    if (code > 127) return -1;
    bytes[to + at] = code;
  }
  return length;
}

/** The buffer: a head of 32-bit words, slots of 32 bits (place of a name + 1, or 0), and the lists. */
export const WORDS = { form: 0, seed: 1, slots: 5, size: 6, reach: 7 } as const;
export const HEAD_WORDS = 16;
/** "nam" and the version of the form. */
export const FORM = 0x6d616e01;
/** Bytes of chance from which the hash is made: whoever writes a list must not know which names meet in it. */
export const SEED_BYTES = 16;
/** No name lies further from its slot than this; of 10 million 300 are to be expected. */
const FURTHEST = 4_096;

/**
 * Tabulation hashing (Zobrist): a row of random numbers for each place in a name, one of them for each character. Linear
 * probing needs a constant number of looks with it, whatever the names are, and it takes one load for each character.
 */
function rowsOf(seed: Uint8Array): Uint32Array {
  const bytes = createHash('shake256', { outputLength: LONGEST_NAME * 128 * 4 })
    .update(seed)
    .digest();
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** From names to numbers; 0 is that of names which are not there. Whatever the buffer holds, a look is bounded. */
export class Names {
  readonly buffer: SharedArrayBuffer;
  protected readonly words: Uint32Array;
  protected readonly slots: Uint32Array;
  protected readonly bytes: Uint8Array;
  readonly #rows: Uint32Array;
  readonly #text: Buffer;
  readonly #asked = new Uint8Array(LONGEST_NAME);

  protected constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.words = new Uint32Array(buffer, 0, HEAD_WORDS);
    this.slots = new Uint32Array(buffer, 4 * HEAD_WORDS, this.words[WORDS.slots]!);
    this.bytes = new Uint8Array(buffer, 4 * (HEAD_WORDS + this.slots.length));
    this.#rows = rowsOf(new Uint8Array(buffer, 4 * WORDS.seed, SEED_BYTES).slice());
    this.#text = textOf(this.bytes);
  }

  /** Of a buffer that another thread or program made; undefined where it is none. */
  static from(buffer: SharedArrayBuffer): Names | undefined {
    if (buffer.byteLength < 4 * HEAD_WORDS) return undefined;
    const words = new Uint32Array(buffer, 0, HEAD_WORDS);
    const room = Math.floor(buffer.byteLength / 4) - HEAD_WORDS;
    const isWhole =
      words[WORDS.form] === FORM && words[WORDS.slots]! <= room && words[WORDS.reach]! <= FURTHEST;
    return isWhole ? new Names(buffer) : undefined;
  }

  /** How many names have a number. */
  get size(): number {
    return this.words[WORDS.size]!;
  }

  /** Bytes of its lists, as many of these as there are. */
  part(from: number, length: number): Uint8Array {
    return this.bytes.subarray(from, from + length);
  }

  get(name: string): number {
    const place = this.placeOf(name);
    return place === -1 ? 0 : this.numberAt(place);
  }

  protected placeOf(name: string): number {
    const length = write(name, this.#asked, 0);
    if (length === -1) return -1;
    const slot = this.find(
      this.#asked,
      0,
      length,
      this.home(this.#asked, 0, length),
      this.words[WORDS.reach]!,
    );
    return slot === -1 ? -1 : this.slots[slot]! - 1;
  }

  /** Each name that has a number, in the order of the lists, so many in a step. */
  *walking(step: number, visit: (place: number, number: number) => void): Steps<undefined> {
    let visited = 0;
    let passed = 0;
    for (let place = 0; place < this.bytes.length; place += HEAD + this.bytes[place]!) {
      const number = this.numberAt(place);
      if (number !== 0) visit(place, number);
      if (number !== 0 ? ++visited % step === 0 : ++passed % BYTE_STEP === 0) yield;
    }
  }

  *[Symbol.iterator](): Generator<string, undefined, undefined> {
    for (let place = 0; place < this.bytes.length; place += HEAD + this.bytes[place]!)
      if (this.numberAt(place) !== 0) yield this.nameAt(place);
  }

  nameAt(place: number): string {
    return this.#text.toString('latin1', place + HEAD, place + HEAD + this.bytes[place]!);
  }

  /** Whether it comes behind a name in order. */
  isBehind(place: number, name: string): boolean {
    const { bytes } = this;
    const length = bytes[place]!;
    for (let at = 0; at < Math.min(length, name.length); at++) {
      const by = bytes[place + HEAD + at]! - name.charCodeAt(at);
      if (by !== 0) return by > 0;
    }
    return length > name.length;
  }

  hasThreeLabels(place: number): boolean {
    const { bytes } = this;
    const end = place + HEAD + bytes[place]!;
    let dots = 0;
    for (let at = place + HEAD; at < end; at++) if (bytes[at] === DOT) dots++;
    return dots > 1;
  }

  protected numberAt(place: number): number {
    const { bytes } = this;
    return bytes[place + 1]! | (bytes[place + 2]! << 8) | (bytes[place + 3]! << 16);
  }

  /** The slot that a name should have. */
  protected home(source: Uint8Array, from: number, length: number): number {
    const rows = this.#rows;
    let hash = 0;
    for (let at = 0; at < length; at++) hash ^= rows[(at << 7) | source[from + at]!]!;
    return Math.floor(((hash >>> 0) * this.slots.length) / 2 ** 32);
  }

  /** The one that has it, or the empty one where it would be; -1 where so many looks find neither. */
  protected find(source: Uint8Array, from: number, length: number, home: number, looks: number): number {
    const { slots, bytes } = this;
    let slot = home;
    for (let left = looks; left > 0; left--) {
      const place = slots[slot]! - 1;
      if (place === -1) return slot;
      if (bytes[place] === length) {
        let at = 0;
        while (at < length && bytes[place + HEAD + at] === source[from + at]) at++;
        if (at === length) return slot;
      }
      if (++slot === slots.length) slot = 0;
    }
    return -1;
  }
}
