import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Pieces } from '../../src/http/pieces.ts';

const SIZES = fc.array(fc.oneof(fc.nat(3), fc.nat(1_100), fc.constantFrom(1_023, 1_024, 1_025, 16_384)), {
  maxLength: 60,
});

test('what came in pieces of any size is what was sent, and forgotten when it was taken', () => {
  fc.assert(
    fc.property(SIZES, sizes => {
      const pieces = new Pieces();
      const sent = sizes.map((size, at) => Buffer.alloc(size, at + 1));
      // They come in a buffer that others are read into.
      for (const one of sent) {
        const shared = Buffer.from(one);
        pieces.add(shared);
        if (one.length < 1_024) shared.fill(0);
      }
      expect(pieces.isEmpty).toBe(sent.every(one => one.length === 0));
      expect(pieces.take().equals(Buffer.concat(sent))).toBe(true);
      expect([pieces.isEmpty, pieces.take().length]).toEqual([true, 0]);
    }),
  );
});

test('what was forgotten does not come back', () => {
  const pieces = new Pieces();
  for (const size of [10, 2_000, 10]) pieces.add(Buffer.alloc(size));
  pieces.forget();
  pieces.add(Buffer.from('new'));
  expect(pieces.take().toString()).toBe('new');
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function held(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test('three hundred thousand pieces of a byte take little more than their bytes', () => {
  const before = held();
  const pieces = new Pieces();
  for (let at = 0; at < 300; at++) {
    const packet = Buffer.allocUnsafeSlow(4_096);
    for (let i = 0; i < 1_000; i++) pieces.add(packet.subarray(i, i + 1));
  }
  // Kept one by one they take 40 MB.
  expect(held() - before).toBeLessThan(2_000_000);
  expect(pieces.take().length).toBe(300_000);
});
