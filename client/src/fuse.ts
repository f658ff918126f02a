/**
 * A set of names in about 2.3 bytes each: a 3-wise binary fuse filter with fingerprints of 16 bits (Graf and Lemire,
 * "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022). A name that is in it is always found; of others one
 * in 65,536 is taken for one.
 */

/** What decides where a name lies. */
export interface Layout {
  readonly seed: number;
  /** Fingerprints in a segment, a power of two. A name has one in each of three segments that follow each other. */
  readonly segment: number;
  /** Fingerprints in the segments with which a name may begin. */
  readonly starts: number;
}

export interface Spots {
  readonly places: readonly [number, number, number];
  /** What is at its places adds up to this, without carries. */
  readonly fingerprint: number;
}

export function spotsOf(name: string, { seed, segment, starts }: Layout): Spots {
  const high = hashOf(name, seed);
  const low = hashOf(name, seed ^ 0x9e3779b9);
  const first = Math.floor((high / 2 ** 32) * starts);
  const within = segment - 1;
  return {
    places: [first, (first + segment) ^ (low & within), (first + 2 * segment) ^ ((low >>> 16) & within)],
    fingerprint: mixed(high ^ ((low << 7) | (low >>> 25))) & 0xffff,
  };
}

/** MurmurHash3 for 32 bits (Austin Appleby, public domain), one character at a time. */
function hashOf(name: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < name.length; at++) {
    let part = Math.imul(name.charCodeAt(at), 0xcc9e2d51);
    part = Math.imul((part << 15) | (part >>> 17), 0x1b873593);
    hash ^= part;
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  return mixed(hash ^ name.length);
}

function mixed(hash: number): number {
  let next = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  next = Math.imul(next ^ (next >>> 13), 0xc2b2ae35);
  return (next ^ (next >>> 16)) >>> 0;
}

/** Before a name: others below it are in the filter. No name begins with it. */
export const ABOVE = '^';

const MAGIC = 'DRF1';
export const HEAD_BYTES = 28;
export const SIGNATURE_BYTES = 64;

export interface FilterHead extends Layout {
  /** How many names are in it. */
  readonly names: number;
  /** In milliseconds of the Unix epoch. */
  readonly madeAt: number;
}

export function headBytes({ seed, segment, starts, names, madeAt }: FilterHead): Uint8Array {
  const bytes = new Uint8Array(HEAD_BYTES);
  for (let at = 0; at < MAGIC.length; at++) bytes[at] = MAGIC.charCodeAt(at);
  const view = new DataView(bytes.buffer);
  for (const [at, value] of [seed, segment, starts, names].entries()) view.setUint32(4 + 4 * at, value, true);
  view.setFloat64(20, madeAt, true);
  return bytes;
}

/** Undefined for what is no such file; the signature at its end is not looked at. */
export function readFilter(bytes: Uint8Array): { head: FilterHead; has(name: string): boolean } | undefined {
  if (bytes.length < HEAD_BYTES + SIGNATURE_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [seed, segment, starts, names] = [4, 8, 12, 16].map(at => view.getUint32(at, true)) as [
    number,
    number,
    number,
    number,
  ];
  const head = { seed, segment, starts, names, madeAt: view.getFloat64(20, true) };
  const magic = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
  const expected = HEAD_BYTES + 2 * (starts + 2 * segment) + SIGNATURE_BYTES;
  const isWhole = segment > 0 && (segment & (segment - 1)) === 0 && starts % segment === 0;
  if (magic !== MAGIC || !isWhole || expected !== bytes.length) return undefined;
  const at = (place: number) => view.getUint16(HEAD_BYTES + 2 * place, true);
  return {
    head,
    has(name) {
      if (names === 0) return false;
      const { places, fingerprint } = spotsOf(name, head);
      return (at(places[0]) ^ at(places[1]) ^ at(places[2])) === fingerprint;
    },
  };
}
