/** The names that most feeds agree on. */

import type { Naming } from './catalog.ts';
import type { Names } from './names.ts';
import { BYTE_STEP, STEP, type Steps } from './steps.ts';

/** Some times the longest list of top domains, since callers leave out what they have. */
const LONGEST_AGREED = 5_000;

/** Of names that only the fewest feeds name, the first by name. No others become strings: there may be millions. */
export function* mostAgreed(disposable: Names, namings: readonly (readonly Naming[])[]): Steps<string[]> {
  const feeds = Uint32Array.from(namings, some => some.length);
  const counts = new Uint32Array(feeds.reduce((most, count) => Math.max(most, count), 0) + 1);
  yield* disposable.walking(BYTE_STEP, (_, place) => {
    counts[feeds[place]!]!++;
  });
  let fewest = counts.length;
  let room = LONGEST_AGREED;
  while (fewest > 2 && room > counts[fewest - 1]!) room -= counts[--fewest]!;
  const rest = fewest - 1;
  const byFeeds = Array.from(counts, (): string[] => []);
  const first = new FirstByName(room);
  const reading = disposable.walking(STEP, (where, place) => {
    const count = feeds[place]!;
    if (count > rest) byFeeds[count]!.push(disposable.nameAt(where));
    else if (count === rest && !(first.last && disposable.isBehind(where, first.last)))
      first.add(disposable.nameAt(where));
  });
  for (const step of reading) {
    if (first.added >= STEP) first.sort();
    yield step;
  }
  if (first.added > 0) {
    first.sort();
    yield;
  }
  return [...byFeeds.reverse(), first.names].flatMap(mixed);
}

/** In no order that a name could be chosen for, and always in the same: by the alphabet `0-mail.com` is on top of all. */
function mixed(names: readonly string[]): string[] {
  const marked = names.map(name => ({ name, at: mark(name) }));
  return marked.sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
}

/** FNV-1a, mixed once more: names that differ in their last letter only must not stay together. */
function mark(name: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) sum = Math.imul(sum ^ name.charCodeAt(at), 0x01000193);
  return Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d) >>> 0;
}

/** In steps, since sorting all 90,000 names of one feed takes a tenth of a second. */
class FirstByName {
  readonly #most: number;
  #names: string[] = [];
  #added: string[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get names(): readonly string[] {
    return this.#names;
  }

  /** No name behind this one can be among them. */
  get last(): string | undefined {
    return this.#names[this.#most - 1];
  }

  add(name: string): void {
    this.#added.push(name);
  }

  /** How many are not sorted yet: one by one it would take half of the time of a catalog. */
  get added(): number {
    return this.#added.length;
  }

  sort(): void {
    this.#names = this.#names.concat(this.#added).sort().slice(0, this.#most);
    this.#added = [];
  }
}
