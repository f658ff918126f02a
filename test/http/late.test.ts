import { expect, test } from 'vitest';
import type { Connection } from '../../src/http/connection.ts';
import { Late } from '../../src/http/late.ts';

/** One whose second request has begun. */
function world() {
  const one = {
    requests: 2,
    isHeldUp: true,
    isGone: false,
    inHeadSince: undefined as number | undefined,
    last: { req: { complete: false } },
  };
  const ended: unknown[] = [];
  const late = new Late(10_000, line => void ended.push(line));
  const now = performance.now();
  late.add(one as unknown as Connection);
  const after = (seconds: number) => {
    late.tend(now + seconds * 1_000);
    return ended.length;
  };
  return { one, after };
}

test('who waits for us has as long as it takes, and then as long as anybody', () => {
  const { one, after } = world();
  expect([after(60), after(600)]).toEqual([0, 0]);
  one.isHeldUp = false;
  expect([after(609), after(611), after(700)]).toEqual([0, 1, 1]);
});

test.each<[string, (one: ReturnType<typeof world>['one']) => void]>([
  ['is there', one => Object.assign(one.last.req, { complete: true })],
  ['was there, and the next is on its way', one => Object.assign(one, { requests: 3 })],
  ['will never be there', one => Object.assign(one, { isGone: true })],
])('nobody is looked at whose request %s', (_, become) => {
  const { one, after } = world();
  one.isHeldUp = false;
  become(one);
  after(1);
  one.last = { req: { complete: false } };
  expect(after(700)).toBe(0);
});

test('of a head that is not whole yet the body is looked at too', () => {
  const { one, after } = world();
  const head = world();
  Object.assign(head.one, { inHeadSince: 1, isHeldUp: false });
  expect([head.after(9), head.after(11)]).toEqual([0, 1]);
  one.isHeldUp = false;
  expect(after(11)).toBe(1);
});
