import { expect, test } from 'vitest';
import { FairRow, type Leave } from '../../src/core/fair-row.ts';

/** Who begins is noted, and leaves when the test says so. */
function rowOf(most: number) {
  const row = new FairRow(most);
  const begun: string[] = [];
  const leaves: Leave[] = [];
  const take = (name: string, takes = 1) =>
    row.take(name[0]!, takes, leave => {
      begun.push(name);
      leaves.push(leave);
    });
  return { begun, leaves, take };
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
