import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Farewell } from '../../src/http/farewell.ts';

/** A socket that the kernel has taken everything of; what is done to it. */
function ended(
  facts: { isLarge?: boolean; isIdle?: boolean; bytes?: number } = {},
  lingering = { bytes: 0, since: 0 },
) {
  const socket = {
    done: '',
    destroyed: false,
    bytesWritten: facts.bytes ?? 100_000,
    ...{ writableLength: 0, writableEnded: false, writableFinished: false, readableEnded: false },
    end: () => {},
    unref: () => {},
    destroy: () => Object.assign(socket, { done: 'closed', destroyed: true }),
    resetAndDestroy: () => Object.assign(socket, { done: 'reset', destroyed: true }),
  };
  const { isLarge = false, isIdle = false, bytes = 0 } = facts;
  const farewell = new Farewell(socket as unknown as Socket, lingering, { isLarge, bytes, ended() {} });
  farewell.isIdle = isIdle;
  const after = (ms: number) => farewell.tend(performance.now() + ms);
  return { socket, farewell, after };
}

test.each<[string, Parameters<typeof ended>[0], number, string]>([
  ['an answer that fits every window is left to the kernel after a second', { bytes: 900 }, 1_100, 'closed'],
  ['of a larger one the kernel keeps nothing', { bytes: 2_000 }, 1_300, 'reset'],
  ['whoever reads 10 KB a second gets it', { bytes: 30_000 }, 4_100, 'reset'],
  ['who idled has read all, and keeps nothing of ours', { isIdle: true }, 1_100, 'reset'],
  ['a large answer has a quarter of a minute to be read', { isLarge: true }, 15_100, 'reset'],
  ['and has had it where its connection idled', { isLarge: true, isIdle: true }, 1_100, 'reset'],
])('%s', (_, facts, ms, done) => {
  const { socket, farewell, after } = ended(facts);
  expect(farewell.say(undefined)).toBe(true);
  expect([after(ms - 200), socket.done]).toEqual([true, '']);
  expect([after(ms), socket.done]).toEqual([false, done]);
});

test('without an end there is none, and after it a shutdown waits a second and no longer', () => {
  const { socket, farewell, after } = ended({ isLarge: true });
  expect(after(60_000)).toBe(true);
  expect(farewell.isLong(performance.now() + 60_000)).toBe(false);
  farewell.say(undefined);
  expect(farewell.isLong(performance.now() + 900)).toBe(false);
  expect(farewell.isLong(performance.now() + 1_100)).toBe(true);
  // Not under an answer that would be cut off.
  socket.writableLength = 1;
  expect(farewell.isLong(performance.now() + 1_100)).toBe(false);
});

/** Both sides have ended: Node closes it. */
function closing(bytes: number) {
  const one = ended({ bytes });
  Object.assign(one.socket, { readableEnded: true, writableEnded: true, writableFinished: true });
  one.socket.destroy();
  return one;
}

test.each([
  ['a small answer is closed', 900, 'closed'],
  ['of what is on its way in one go the kernel keeps nothing', 5_000, 'reset'],
])('both sides have ended: %s', (_, bytes, done) => {
  expect(closing(bytes).socket.done).toBe(done);
});

test('what both sides have ended is kept while its peer may read the rest, goes first where places are short, and is reset', () => {
  const { socket, farewell, after } = closing(30_000);
  expect(farewell.isLong(performance.now())).toBe(true);
  expect([after(3_900), socket.done]).toEqual([true, '']);
  expect([after(4_100), socket.done]).toEqual([false, 'reset']);
  const evicted = closing(30_000);
  evicted.farewell.leave();
  expect(evicted.socket.done).toBe('reset');
});

test('what is dropped while its end is under way is reset when that is done, once', () => {
  const { socket, farewell } = ended();
  const finish: (() => void)[] = [];
  Object.assign(socket, { writableEnded: true, once: (_: string, then: () => void) => finish.push(then) });
  farewell.drop();
  farewell.drop();
  expect([finish.length, socket.done]).toEqual([1, '']);
  finish[0]!();
  expect(socket.done).toBe('reset');
  // Where something waits to be taken there is no end yet.
  const waiting = ended();
  Object.assign(waiting.socket, { writableEnded: true, writableLength: 9 });
  waiting.farewell.drop();
  expect(waiting.socket.done).toBe('reset');
});

test('what a peer does not take for ten seconds is dropped, and the kernel keeps nothing of it', () => {
  const { socket, after } = ended();
  socket.writableLength = 50;
  expect([after(0), after(9_900), socket.done]).toEqual([true, true, '']);
  socket.writableLength = 40;
  expect([after(9_950), after(19_900), socket.done]).toEqual([true, true, '']);
  expect([after(20_000), socket.done]).toEqual([false, 'reset']);
});

test('what is sent behind the end is read and thrown away, of one connection and of all together up to a megabyte', () => {
  const half = Buffer.alloc(512 * 1024);
  const one = ended();
  one.farewell.overheard(half);
  one.farewell.overheard(half);
  expect(one.socket.done).toBe('');
  one.farewell.overheard(Buffer.alloc(1));
  expect(one.socket.done).toBe('reset');
  const lingering = { bytes: 0, since: performance.now() };
  const many = Array.from({ length: 3 }, () => ended({}, lingering));
  for (const { farewell } of many) farewell.overheard(half);
  expect(many.map(({ socket }) => socket.done)).toEqual(['', '', 'reset']);
  // Who sends little is spared.
  const little = ended({}, lingering);
  little.farewell.overheard(Buffer.alloc(16_000));
  expect(little.socket.done).toBe('');
  little.farewell.overheard(Buffer.alloc(1_000));
  expect(little.socket.done).toBe('reset');
  // A while later there is room again.
  lingering.since -= 1_000;
  many[0]!.farewell.overheard(Buffer.alloc(1));
  expect(many[0]!.socket.done).toBe('');
});
