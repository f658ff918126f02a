import { expect, test } from 'vitest';
import { FairRow, type Leave, type Rest, type Size } from '../../src/core/fair-row.ts';

/** Who begins is noted, and leaves when the test says so. */
function rowOf(most: number, sizes?: readonly Size[]) {
  const row = new FairRow(most, sizes);
  const begun: string[] = [];
  const leaves: Leave[] = [];
  const rests: Rest[] = [];
  const take = (name: string, takes = 1, from?: string) =>
    row.take(
      name[0]!,
      takes,
      (leave, rest) => {
        begun.push(name);
        leaves.push(leave);
        rests.push(rest);
      },
      from,
    );
  return { begun, leaves, rests, take };
}

test('who comes alone begins at once, and who comes after many of another does not wait for all of them', () => {
  const { begun, leaves, take } = rowOf(1);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) take(name);
  expect(begun).toEqual(['a1']);
  while (leaves.length > 0) leaves.shift()!();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  take('d1');
  expect(begun.at(-1)).toBe('d1');
});

test('of one there is one at a time, though there is room for others', () => {
  const { begun, leaves, take } = rowOf(3);
  for (const name of ['a1', 'a2', 'b1', 'c1', 'd1']) take(name);
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  leaves[0]!();
  leaves[0]!();
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  leaves[1]!();
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'd1']);
});

test('who takes much waits until there is room, with those behind it; who takes more than there is comes alone', () => {
  const { begun, leaves, take } = rowOf(4);
  take('a1', 3);
  take('b1', 2);
  take('c1', 1);
  expect(begun).toEqual(['a1']);
  leaves[0]!();
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  take('d1', 9);
  leaves[1]!();
  expect(begun).toHaveLength(3);
  leaves[2]!();
  expect(begun.at(-1)).toBe('d1');
});

const SIZES = [
  { upTo: 1, keeps: 1 / 16 },
  { upTo: 4, keeps: 3 / 16 },
];

test('who takes little does not wait for those who take much, nor they for ever for many who take little', () => {
  const { begun, leaves, take } = rowOf(64, SIZES);
  for (const name of ['a', 'b', 'c', 'd']) take(name, 20);
  expect(begun).toEqual(['a', 'b']);
  // What nobody larger can have: 4 for the smallest, 12 for the next.
  for (const name of ['e', 'f', 'g', 'h', 'i']) take(name, 1);
  for (const name of ['j', 'k', 'l', 'm']) take(name, 4);
  expect(begun.join('')).toBe('abefghjkl');
  leaves[0]!();
  expect(begun.join('')).toBe('abefghjklc');
});

test('where nobody waits who takes much, who takes little has all but what is kept for who takes least', () => {
  const { begun, take } = rowOf(64, SIZES);
  for (let at = 0; at < 20; at++) take(String.fromCharCode(97 + at), 4);
  expect(begun).toHaveLength(15);
  for (let at = 0; at < 9; at++) take(`${at}`, 1);
  expect(begun).toHaveLength(19);
});

test('those who come from elsewhere in the same name take turns, and none of them waits for all of another', () => {
  const { begun, leaves, take } = rowOf(9);
  for (const name of ['a1', 'a2', 'a3']) take(name, 1, 'one');
  for (const name of ['a4', 'a5']) take(name, 1, 'other');
  while (leaves.length > 0) leaves.shift()!();
  expect(begun).toEqual(['a1', 'a2', 'a4', 'a3', 'a5']);
});

test('who only waits holds up nobody of its own name, but for what it takes; who takes less does not wait for that', () => {
  const { begun, leaves, rests, take } = rowOf(64, SIZES);
  for (const name of ['a1', 'a2', 'a3']) take(name, 2);
  expect(begun).toEqual(['a1']);
  rests[0]!();
  rests[0]!();
  expect(begun).toEqual(['a1', 'a2']);
  // A sixteenth is taken: whoever needs more waits for one of them, and only others of that size do with it.
  rests[1]!();
  expect(begun).toEqual(['a1', 'a2']);
  take('a4', 1, 'elsewhere');
  expect(begun).toEqual(['a1', 'a2', 'a4']);
  leaves[2]!();
  leaves[0]!();
  leaves[0]!();
  expect(begun).toEqual(['a1', 'a2', 'a4', 'a3']);
  // Nothing is left behind, of all and of the name.
  for (const leave of leaves) leave();
  for (const name of ['b', 'c', 'd']) take(name, 20);
  expect(begun.slice(4)).toEqual(['b', 'c']);
});

test('who does not want to wait any more is gone from the row', () => {
  const { begun, leaves, take } = rowOf(1);
  take('a1');
  const leave = take('b1');
  take('c1');
  leave();
  leave();
  leaves[0]!();
  leave();
  expect(begun).toEqual(['a1', 'c1']);
});

test('thousands who leave as soon as it is their turn do so one after the other', () => {
  const row = new FairRow(1);
  let first: Leave = () => {};
  let left = 0;
  row.take('a', 1, leave => {
    first = leave;
  });
  for (let at = 0; at < 20_000; at++)
    row.take(`${at % 100}`, 1, leave => {
      left++;
      leave();
    });
  first();
  expect(left).toBe(20_000);
});
