/** Making a binary fuse filter of names; `client/src/fuse.ts` says what that is, and reads it. */

import {
  ABOVE,
  type FilterHead,
  HEAD_BYTES,
  headBytes,
  type Layout,
  spotsOf,
} from '../../client/src/fuse.ts';
import { HEAD, type NameList } from './names.ts';
import { BYTE_STEP, STEP, type Steps } from './steps.ts';

/** By their numbers, from 0 on. */
export interface Numbered {
  readonly length: number;
  at(number: number): string | undefined;
}

/** Names that stay bytes: as strings five million of them would take half a gigabyte. */
export function* numbering({ bytes, length }: NameList): Steps<Numbered> {
  const places = new Uint32Array(length);
  for (let number = 0, place = 0; number < length; number++) {
    places[number] = place;
    place += HEAD + bytes[place]!;
    if (number % BYTE_STEP === 0) yield;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    length,
    at(number) {
      const from = places[number]! + HEAD;
      return text.toString('latin1', from, from + bytes[places[number]!]!);
    },
  };
}

/** These, and behind them what tells clients where to look further. */
export function withAbove(names: Numbered, above: ReadonlySet<string>): Numbered {
  const marks = Array.from(above, name => ABOVE + name);
  return {
    length: names.length + marks.length,
    at: number => (number < names.length ? names.at(number) : marks[number - names.length]),
  };
}

/** With each seed nine of ten succeed, whatever the names. */
const MOST_SEEDS = 100;
/**
 * Of 25,000 names that are spared two of three filters take none. Of 130,000, with 100,000 allowed by operators, one of
 * seven does: where none of so many did, the best of them is used.
 */
const MOST_FILTERS = 16;

/** Names that are in none, and that no filter may take for one that is. */
export interface Spared {
  /** Worse than any number of names: all that are below one would be taken for disposable. */
  readonly suffixes: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

const NONE_SPARED: Spared = { suffixes: new Set(), names: new Set() };

/** By the measurements of the paper (its section 4), for three places of each name. */
function layoutOf(names: number, seed: number): Layout {
  const size = Math.max(names, 2);
  const segment = Math.min(2 ** 16, 2 ** Math.max(2, Math.floor(Math.log(size) / Math.log(3.33) + 2.25)));
  const factor = Math.max(1.125, 0.875 + (0.25 * Math.log(1_000_000)) / Math.log(size));
  const segments = Math.max(1, Math.ceil(Math.round(size * factor) / segment) - 2);
  return { seed, segment, starts: segments * segment };
}

export interface Fused {
  /** The file without its signature. */
  readonly body: Uint8Array;
  /** How many seeds were passed over for it. */
  readonly passed: number;
}

/** The names must be distinct. */
export function* fusing(
  names: Numbered,
  madeAt: number,
  firstSeed: number,
  spared = NONE_SPARED,
  mostFilters = MOST_FILTERS,
): Steps<Fused> {
  let best: { layout: Layout; prints: Uint16Array; passed: number; harm: number } | undefined;
  let filters = 0;
  for (let passed = 0; passed < MOST_SEEDS && filters < mostFilters && best?.harm !== 0; passed++) {
    const layout = layoutOf(names.length, (firstSeed + passed) >>> 0);
    const prints = yield* placing(names, layout);
    if (!prints) continue;
    filters++;
    const harm = names.length === 0 ? 0 : yield* harming(spared, layout, prints);
    if (harm < (best?.harm ?? Number.POSITIVE_INFINITY)) best = { layout, prints, passed, harm };
  }
  if (!best)
    throw new Error(`no filter of ${names.length} names within ${MOST_SEEDS} seeds: two may be the same`);
  const body = yield* fileOf({ ...best.layout, names: names.length, madeAt }, best.prints);
  return { body, passed: best.passed };
}

/** How many are taken for one of its names, suffixes before all others. */
function* harming({ suffixes, names }: Spared, layout: Layout, prints: Uint16Array): Steps<number> {
  const taken = yield* takenOf(suffixes, layout, prints);
  return taken * (names.size + 1) + (yield* takenOf(names, layout, prints));
}

function* takenOf(names: Iterable<string>, layout: Layout, prints: Uint16Array): Steps<number> {
  let taken = 0;
  let at = 0;
  for (const name of names) {
    if (++at % STEP === 0) yield;
    const { places, fingerprint } = spotsOf(name, layout);
    if (places.reduce((sum, place) => sum ^ prints[place]!, 0) === fingerprint) taken++;
  }
  return taken;
}

/**
 * Takes out, again and again, a name that is alone at one of its places, and gives that place, in the opposite order,
 * what makes the three add up. Undefined where some are never alone with this seed.
 */
function* placing(names: Numbered, layout: Layout): Steps<Uint16Array | undefined> {
  const prints = new Uint16Array(layout.starts + 2 * layout.segment);
  const { counts, sums } = yield* countedIn(names, layout, prints.length);
  const alone: number[] = [];
  for (let place = 0; place < counts.length; place++) {
    if (counts[place] === 1) alone.push(place);
    if (place % BYTE_STEP === 0) yield;
  }
  const order = new Uint32Array(names.length);
  const last = new Uint32Array(names.length);
  let taken = 0;
  while (alone.length > 0) {
    const place = alone.pop()!;
    if (counts[place] !== 1) continue;
    const name = sums[place]!;
    order[taken] = name;
    last[taken] = place;
    if (++taken % STEP === 0) yield;
    for (const other of spotsOf(names.at(name)!, layout).places) {
      counts[other]!--;
      sums[other]! ^= name;
      if (counts[other] === 1) alone.push(other);
    }
  }
  if (taken < names.length) return undefined;
  while (taken-- > 0) {
    if (taken % STEP === 0) yield;
    const { places, fingerprint } = spotsOf(names.at(order[taken]!)!, layout);
    // Its own place still holds nothing.
    prints[last[taken]!] = places.reduce((sum, place) => sum ^ prints[place]!, fingerprint);
  }
  return prints;
}

/** For each place how many names have it, and their numbers, added without carries. */
function* countedIn(
  names: Numbered,
  layout: Layout,
  length: number,
): Steps<{ counts: Uint32Array; sums: Uint32Array }> {
  const [counts, sums] = [new Uint32Array(length), new Uint32Array(length)];
  for (let name = 0; name < names.length; name++) {
    if (name % STEP === 0) yield;
    for (const place of spotsOf(names.at(name)!, layout).places) {
      counts[place]!++;
      sums[place]! ^= name;
    }
  }
  return { counts, sums };
}

function* fileOf(head: FilterHead, prints: Uint16Array): Steps<Uint8Array> {
  const bytes = new Uint8Array(HEAD_BYTES + prints.byteLength);
  bytes.set(headBytes(head));
  const view = new DataView(bytes.buffer);
  for (let place = 0; place < prints.length; place++) {
    view.setUint16(HEAD_BYTES + 2 * place, prints[place]!, true);
    if (place % BYTE_STEP === 0) yield;
  }
  return bytes;
}
