import { expect, test } from 'vitest';
import { FairRow, type Leave } from '../../src/core/fair-row.ts';

/** Who begins is noted, and leaves when the test says so. */
function rowOf(most: number, mostOfOne: number) {
  const row = new FairRow(most, mostOfOne);
  const begun: string[] = [];
  const leaves: Leave[] = [];
  const take = (name: string) =>
    row.take(name[0]!, leave => {
      begun.push(name);
      leaves.push(leave);
    });
  return { row, begun, leaves, take };
}

test('who comes alone begins at once, and who comes after many of another does not wait for all of them', () => {
  const { begun, leaves, take } = rowOf(1, 1);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) take(name);
  expect(begun).toEqual(['a1']);
  while (leaves.length > 0) leaves.shift()!();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  take('d1');
  expect(begun.at(-1)).toBe('d1');
});

test('of one only so many at a time, while there is room for others', () => {
  const { begun, leaves, take } = rowOf(3, 1);
  for (const name of ['a1', 'a2', 'b1', 'c1', 'd1']) take(name);
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  leaves[0]!();
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  leaves[1]!();
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'd1']);
});

test('all who wait can be told at once', () => {
  const { row, begun, leaves, take } = rowOf(1, 1);
  for (const name of ['a1', 'a2', 'b1']) take(name);
  row.flush();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  for (const leave of leaves) leave();
  take('c1');
  expect(begun.at(-1)).toBe('c1');
});
