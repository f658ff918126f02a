import { expect, test } from 'vitest';
import { type Made, Parsing } from '../../src/http/parsing.ts';

const NONE: Made = { requests: 0, isInBody: false, bodyLength: 0 };
const WHOLE: Made = { requests: 1, isInBody: false, bodyLength: 0 };
const BODILESS: Made = { requests: 1, isInBody: true, bodyLength: 5 };
const lines = (count: number) => Buffer.from(`GET / HTTP/1.1\r\n${'a:b\r\n'.repeat(count - 1)}`);

/** What is kept after pieces, each with what the parser has made of it. */
function keptAfter(...pieces: readonly (readonly [Buffer, Made])[]): (number | 'refused')[] {
  const parsing = new Parsing();
  let before = NONE;
  return pieces.map(([piece, after]) => {
    if (parsing.refusalOf(piece, before)) return 'refused';
    parsing.took(piece, before, after);
    before = after;
    return parsing.kept;
  });
}

const bytes = (piece: Buffer, count: number) => 3 * piece.length + 256 * count;

test('a head takes memory until it is whole, and so is its body', () => {
  const [few, many, end] = [lines(10), lines(100), Buffer.from('\r\n')];
  const body = Buffer.from('hello');
  expect(keptAfter([few, WHOLE])).toEqual([0]);
  expect(keptAfter([few, NONE], [end, WHOLE])).toEqual([bytes(few, 10), 0]);
  expect(keptAfter([few, BODILESS], [body, WHOLE])).toEqual([bytes(few, 10), 0]);
  expect(keptAfter([few, BODILESS], [body.subarray(0, 2), BODILESS])[1]).toBe(bytes(few, 10));
  expect(keptAfter([many, NONE], [end, BODILESS])[1]).toBe(bytes(Buffer.concat([many, end]), 101));
});

test('the lines of a head that comes in pieces are counted from the first, however short that is', () => {
  expect(lines(150).length).toBeLessThan(1_024);
  expect(keptAfter([lines(150), WHOLE])).toEqual([0]);
  expect(keptAfter([lines(150), NONE], [Buffer.from('\r\n'), WHOLE])).toEqual([
    bytes(lines(150), 150),
    'refused',
  ]);
  // Those of one request are not counted for the next.
  expect(keptAfter([lines(100), WHOLE], [lines(100), { ...WHOLE, requests: 2 }])).toEqual([0, 0]);
});

test('empty lines before a request are read in one go, count as lines of its head, and are forgotten with it', () => {
  const blank = Buffer.from('\r\n'.repeat(32_768));
  const parsing = new Parsing();
  expect(parsing.endOf(blank)).toBe(257);
  expect(parsing.endOf(Buffer.from('\r\n\r\n\nGET / HTTP/1.1\r\n\r\n'))).toBe(5);
  expect(parsing.refusalOf(blank.subarray(0, 257), NONE)).toBeDefined();
  const [some, few, end] = [blank.subarray(0, 256), lines(2), Buffer.from('\r\n')];
  const made = { ...WHOLE, requests: 2 };
  expect(keptAfter([some, NONE], [few, WHOLE], [some, WHOLE], [few, made])).toEqual([0, 0, 0, 0]);
  expect(keptAfter([some, NONE], [end.subarray(0, 1), NONE])).toEqual([0, 'refused']);
  // What ends a head is none of them.
  expect(keptAfter([some, NONE], [few, NONE], [end, WHOLE])[2]).toBe(0);
});

test('of a head that is not whole all that has come is kept once, and its memory is free when nobody needs it', () => {
  const own = Buffer.allocUnsafeSlow(100).fill('a');
  const parsing = new Parsing();
  parsing.took(own, NONE, NONE);
  expect(parsing.headSoFar).toBe(own);
  parsing.took(own, NONE, NONE);
  expect(parsing.headSoFar).toHaveLength(200);
  const { buffer } = parsing.headSoFar!;
  parsing.forget();
  expect([buffer.byteLength, parsing.headSoFar]).toEqual([0, undefined]);
  // A part of a chunk would keep the whole of it.
  const part = new Parsing();
  part.took(Buffer.allocUnsafeSlow(1_000).subarray(0, 10), NONE, NONE);
  expect(part.headSoFar?.buffer.byteLength).toBe(10);
});
