/** Makes a table of names from lists of them, in steps. How much room it needs is known before, so that it never grows. */

import { FORM, HEAD, HEAD_WORDS, NameList, Names, SEED_BYTES, WORDS } from './names.ts';
import { STEP, type Steps } from './steps.ts';

/** It has three bytes. */
const LARGEST_NUMBER = 2 ** 24 - 1;
/** Two in seven are empty: six looks for a name that is not there, two for one that is (Knuth, linear probing). */
const SLOTS_PER_NAME = 1.4;
/** Copied in one step. */
const PIECE = 2 ** 20;

/** A table while it is made: of one thread until then, and never changed afterwards. */
export class NamesInMaking extends Names {
  /** Those it is made of, as they lie in its buffer. */
  readonly lists: readonly NameList[];

  private constructor(buffer: SharedArrayBuffer, lists: readonly NameList[]) {
    super(buffer);
    let end = 0;
    this.lists = lists.map(({ bytes, length }) => {
      end += bytes.length;
      return new NameList(this.bytes.subarray(end - bytes.length, end), length);
    });
  }

  /** Of all these lists, with room in the table for so many of their names. */
  static *joining(lists: readonly NameList[], room: number, seed: Uint8Array): Steps<NamesInMaking> {
    const slots = Math.ceil(room * SLOTS_PER_NAME) + 1;
    const bytes = lists.reduce((sum, list) => sum + list.bytes.length, 0);
    if (bytes >= 2 ** 32) throw new RangeError('the names are longer than 4 GiB together');
    const buffer = new SharedArrayBuffer(4 * (HEAD_WORDS + slots) + bytes);
    const words = new Uint32Array(buffer, 0, HEAD_WORDS);
    words[WORDS.form] = FORM;
    words[WORDS.slots] = slots;
    new Uint8Array(buffer, 4 * WORDS.seed, SEED_BYTES).set(seed);
    const making = new NamesInMaking(buffer, lists);
    for (const [at, { bytes: to }] of making.lists.entries())
      for (let from = 0; from < to.length; from += PIECE) {
        to.set(lists[at]!.bytes.subarray(from, from + PIECE), from);
        yield;
      }
    return making;
  }

  /** Gives each name of one of its lists a number, by its place in the list and the number that it has already. */
  *adding({ bytes }: NameList, numberOf: (at: number, before: number) => number): Steps<undefined> {
    const start = bytes.byteOffset - this.bytes.byteOffset;
    let at = 0;
    for (let from = 0; from < bytes.length; from += HEAD + bytes[from]!) {
      this.#put(start + from, 0);
      const first = this.#first(start + from);
      const before = this.numberAt(first);
      this.#count(before, numberOf(at, before), first);
      if (++at % STEP === 0) yield;
    }
  }

  /** Of a name that is there. */
  change(name: string, number: number): void {
    const place = this.placeOf(name);
    if (place !== -1) this.#count(this.numberAt(place), number, place);
  }

  endsWith(place: number, ending: string): boolean {
    const from = place + HEAD + this.bytes[place]! - ending.length;
    for (let at = ending.length - 1; at >= 0; at--)
      if (this.bytes[from + at] !== ending.charCodeAt(at)) return false;
    return true;
  }

  /** Where the same name lies that was added first: its number counts. */
  #first(place: number): number {
    const { words, slots, bytes } = this;
    const home = this.home(bytes, place + HEAD, bytes[place]!);
    const slot = this.find(bytes, place + HEAD, bytes[place]!, home, slots.length);
    if (slot === -1) throw new RangeError('there is no room for so many names');
    if (slots[slot] !== 0) return slots[slot]! - 1;
    slots[slot] = place + 1;
    const looks = 1 + ((slot - home + slots.length) % slots.length);
    words[WORDS.reach] = Math.max(words[WORDS.reach]!, looks);
    return place;
  }

  #count(before: number, number: number, place: number): void {
    if (number > LARGEST_NUMBER) throw new RangeError(`no name can have the number ${number}`);
    this.words[WORDS.size]! += Number(number !== 0) - Number(before !== 0);
    this.#put(place, number);
  }

  #put(place: number, number: number): void {
    this.bytes[place + 1] = number;
    this.bytes[place + 2] = number >>> 8;
    this.bytes[place + 3] = number >>> 16;
  }
}
