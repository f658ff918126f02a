import { expect, test } from 'vitest';
import { Late } from '../../src/http/late.ts';

/** One in the body of its second request, all of which waits. */
function world() {
  const reading = {
    parsing: { isBetween: false, isInHead: false, bodyLeft: 5_000 },
    intake: { held: Buffer.alloc(5_000) as Buffer | undefined },
    waits: false,
    isBlocked: () => reading.waits,
  };
  const one = { requests: 2, isGone: false, isEnding: false, reading };
  const ended: unknown[] = [];
  const late = new Late<typeof one>(10_000, line => void ended.push(line));
  const now = performance.now();
  const after = (seconds: number) => {
    late.tend(now + seconds * 1_000);
    return ended.length;
  };
  return { one, reading, late, after };
}

test('who waits for us has as long as it takes, and then as long as anybody', () => {
  const { one, reading, late, after } = world();
  expect(late.adds(one)).toBe(true);
  expect([after(60), after(600)]).toEqual([0, 0]);
  reading.intake.held = undefined;
  reading.waits = true;
  expect(after(900)).toBe(0);
  reading.waits = false;
  expect([after(909), after(911), after(990)]).toEqual([0, 1, 1]);
});

test.each([
  ['byte by byte', 1, 5_000],
  ['all but a byte', 4_999, 5_000],
  ['4 KB now and then', 4_096, 300_000],
  ['chunks', 4_096, Number.POSITIVE_INFINITY],
])('who sends %s has no more time for what waits', (_, held, bodyLeft) => {
  const { one, reading, late, after } = world();
  reading.intake.held = Buffer.alloc(held);
  reading.parsing.bodyLeft = bodyLeft;
  expect(late.adds(one)).toBe(true);
  expect([after(5), after(9), after(11)]).toEqual([0, 0, 1]);
});

test.each<[string, (one: ReturnType<typeof world>) => void]>([
  ['whose body is on its way', ({ reading }) => Object.assign(reading.intake, { held: undefined })],
  ['whose head is not there', ({ reading }) => Object.assign(reading.parsing, { isInHead: true })],
  ['of whose request nothing has come', ({ reading }) => Object.assign(reading.parsing, { isBetween: true })],
])('nobody is spared %s', (_, become) => {
  const it = world();
  become(it);
  expect(it.late.adds(it.one)).toBe(false);
});

test.each<[string, (one: ReturnType<typeof world>) => void]>([
  ['is there', ({ reading }) => Object.assign(reading.parsing, { isBetween: true })],
  ['was there, and the next is on its way', ({ one }) => Object.assign(one, { requests: 3 })],
  ['has its last answer', ({ one }) => Object.assign(one, { isEnding: true })],
  ['will never be there', ({ one }) => Object.assign(one, { isGone: true })],
])('nobody is looked at any more whose request %s', (_, become) => {
  const it = world();
  it.late.adds(it.one);
  it.reading.intake.held = undefined;
  become(it);
  expect(it.after(700)).toBe(0);
});
