import { expect, test } from 'vitest';
import { Room } from '../../src/http/room.ts';

const KB = 1_024;

function roomFor(most: number) {
  const gone: string[] = [];
  let depth = 0;
  const room: Room<string> = new Room(most, {
    giveWay(one) {
      gone.push(one);
      expect(++depth).toBe(1);
      // As a connection does that ends.
      room.set(one, 0);
      depth--;
    },
  });
  return { room, gone };
}

test('where all take too much, whoever has taken some for longest gives way, however much that is', () => {
  const { room, gone } = roomFor(100 * KB);
  room.set('first', 10 * KB);
  room.set('second', 50 * KB);
  room.set('third', 40 * KB);
  expect(gone).toEqual([]);
  // More of the same does not make it younger.
  room.set('first', 11 * KB);
  expect(gone).toEqual(['first']);
  room.set('fourth', 10 * KB);
  expect(gone).toEqual(['first']);
  room.set('fifth', 90 * KB);
  expect(gone).toEqual(['first', 'second', 'third']);
  room.set('sixth', 101 * KB);
  expect(gone.slice(3)).toEqual(['fourth', 'fifth', 'sixth']);
  room.set('seventh', 100 * KB);
  expect(gone).toHaveLength(6);
});

test('whoever takes nothing any more does not go', () => {
  const { room, gone } = roomFor(100 * KB);
  for (const one of ['first', 'second', 'third']) room.set(one, 30 * KB);
  room.set('first', 0);
  room.set('fourth', 70 * KB);
  expect(gone).toEqual(['second']);
});

test('thousands of tiny ones never give way at once', () => {
  const { room, gone } = roomFor(16 * KB * KB);
  for (let at = 0; at < 5_000; at++) room.set(`tiny ${at}`, 2);
  let most = 0;
  for (let at = 0; at < 600; at++) {
    const before = gone.length;
    room.set(`large ${at}`, 45 * KB);
    most = Math.max(most, gone.length - before);
  }
  expect(gone.length).toBeGreaterThan(5_000);
  expect(most).toBeLessThan(25);
});

test('whoever takes more than anybody needs goes before those who came earlier, unless it is known; then all by their age', () => {
  const gone: string[] = [];
  const room = new Room<string>(100 * KB, {
    much: 8 * KB,
    mayGoFirst: one => one !== 'known',
    giveWay: one => gone.push(one),
  });
  room.set('honest', 2 * KB);
  room.set('known', 20 * KB);
  room.set('first of a burst', 40 * KB);
  room.set('grows', 8 * KB);
  room.set('second of a burst', 40 * KB);
  expect(gone).toEqual(['first of a burst']);
  room.set('grows', 60 * KB);
  expect(gone.slice(1)).toEqual(['second of a burst']);
  room.set('grows', 90 * KB);
  expect(gone.slice(2)).toEqual(['grows']);
  room.set('known', 101 * KB);
  expect(gone.slice(3)).toEqual(['honest', 'known']);
});

test('who is known and takes much is asked for that once, not with all that others take', () => {
  let asked = 0;
  const room = new Room<string>(1_000 * KB, {
    much: 8 * KB,
    mayGoFirst() {
      asked++;
      return false;
    },
    giveWay: () => {},
  });
  for (let at = 0; at < 400; at++) room.set(`known ${at}`, 40 * KB);
  // Asked again with each piece that came, a thousand of them held the loop for seconds (2026-11-16).
  expect(asked).toBeLessThanOrEqual(400);
});
