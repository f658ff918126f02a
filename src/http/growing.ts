/** Bytes that come in many pieces and are to lie in one. */

/** Behind what was put into them nobody has a part. */
const GROWING = new WeakSet<ArrayBufferLike>();

/** Joined one by one 64 KB in pieces of 4 cost half a megabyte that was copied (2026-11-19). `most` is how long it may get. */
export function grown(first: Buffer, second: Buffer, most: number): Buffer {
  const [end, length] = [first.byteOffset + first.length, first.length + second.length];
  if (GROWING.has(first.buffer) && end + second.length <= first.buffer.byteLength) {
    second.copy(Buffer.from(first.buffer, end, second.length));
    return Buffer.from(first.buffer, first.byteOffset, length);
  }
  const both = Buffer.allocUnsafeSlow(Math.max(length, Math.min(2 * length, most)));
  first.copy(both);
  second.copy(both, first.length);
  GROWING.add(both.buffer);
  return both.subarray(0, length);
}
