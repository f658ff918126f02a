import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Farewell } from '../../src/http/farewell.ts';

/** A socket that the kernel has taken everything of; what is done to it. */
function ended(facts: { isLarge?: boolean; isIdle?: boolean } = {}, lingering = { bytes: 0, since: 0 }) {
  const socket = {
    done: '',
    destroyed: false,
    bytesWritten: 100,
    writableLength: 0,
    end: () => {},
    destroy: () => Object.assign(socket, { done: 'closed', destroyed: true }),
    resetAndDestroy: () => Object.assign(socket, { done: 'reset', destroyed: true }),
  };
  const farewell = new Farewell(socket as unknown as Socket, lingering);
  Object.assign(farewell, facts);
  const after = (ms: number) => farewell.tend(performance.now() + ms);
  return { socket, farewell, after };
}

test.each<[string, Parameters<typeof ended>[0], number, string]>([
  ['an answer of the usual size is left to the kernel after a second', {}, 1_100, 'closed'],
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
  little.farewell.overheard(Buffer.alloc(100_000));
  expect(little.socket.done).toBe('');
  // A while later there is room again.
  lingering.since -= 1_000;
  many[0]!.farewell.overheard(Buffer.alloc(1));
  expect(many[0]!.socket.done).toBe('');
});
