import fc from 'fast-check';
import { expect, test } from 'vitest';
import { grown } from '../../src/http/growing.ts';

test('pieces are one behind the other, what was given away before stays as it was, and few buffers are made', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { minLength: 2 }), pieces => {
      const [first, ...rest] = pieces.map(piece => Buffer.from(piece));
      const given: [Buffer, string][] = [];
      const buffers = new Set<ArrayBufferLike>();
      let held: Buffer = first!;
      for (const piece of rest) {
        held = grown(held, piece, 100_000);
        buffers.add(held.buffer);
        given.push([held, held.toString('hex')]);
      }
      expect(held.equals(Buffer.concat(pieces))).toBe(true);
      for (const [before, was] of given) expect(before.toString('hex')).toBe(was);
      expect(buffers.size).toBeLessThanOrEqual(Math.ceil(Math.log2(held.length)));
    }),
  );
});

test('what is left of it, when its beginning was read, grows as well', () => {
  const held = grown(Buffer.from('abc'), Buffer.from('def'), 100).subarray(2);
  const more = grown(held, Buffer.from('ghi'), 100);
  expect(more.toString()).toBe('cdefghi');
  expect(more.buffer).toBe(held.buffer);
});

test('no more room is taken than it may need', () => {
  let held: Buffer = Buffer.alloc(40);
  for (const piece of [30, 30]) held = grown(held, Buffer.alloc(piece), 100);
  expect([held.length, held.buffer.byteLength]).toEqual([100, 100]);
});
