import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CHARACTERS, ORDERS, orderOf } from '../../src/core/asked.ts';
import { AskedSample } from '../../src/core/asked-sample.ts';

const MOST = 1_000;
const namesOf = (of: string, count: number) => Array.from({ length: count }, (_, at) => `n${at}.${of}.com`);

function sampling() {
  const sample = new AskedSample(MOST);
  const ask = (by: string, names: readonly string[]) => {
    for (const name of names) sample.add(name, by, false);
  };
  const kept = () => new Set(sample.all().map(({ name }) => name));
  const countOf = (names: readonly string[]) => kept().intersection(new Set(names)).size;
  return { sample, ask, kept, countOf };
}

test('a key that asks for most takes no name of another out of the sample, before or after', () => {
  const { ask, kept, countOf } = sampling();
  const [few, late, junk] = [namesOf('few', 200), namesOf('late', 200), namesOf('junk', 20 * MOST)];
  ask('few', few);
  ask('greedy', junk);
  expect(countOf(few)).toBe(200);
  ask('late', late);
  ask('greedy', junk);
  expect([countOf(few), countOf(late)]).toEqual([200, 200]);
  // It has what others leave.
  expect(countOf(junk)).toBeGreaterThan(MOST - 400 - 64);
  expect(kept().size).toBeLessThanOrEqual(MOST);
});

test('long names take the room of several: what a day has is bounded in characters too', () => {
  const { ask, kept, countOf } = sampling();
  const [few, long] = [
    namesOf('few', 200),
    namesOf('long', 3 * MOST).map(name => `${'x'.repeat(60)}.${name}`),
  ];
  ask('greedy', long);
  ask('few', few);
  ask('greedy', long);
  expect(countOf(few)).toBe(200);
  const characters = [...kept()].join('! ').length;
  expect(characters).toBeLessThanOrEqual(MOST * CHARACTERS);
  // What others leave, to it.
  expect(characters).toBeGreaterThan(MOST * CHARACTERS * 0.8);
});

test.each([1, 3, 20])('a name that a greedy key asks for first, and %i others, stays', others => {
  const { ask, countOf } = sampling();
  const [firms, junk] = [namesOf('firms', 50), namesOf('junk', 20 * MOST)];
  ask('greedy', firms);
  for (let other = 0; other < others; other++) ask(`other${other}`, firms);
  for (let round = 0; round < 2; round++) ask('greedy', junk);
  expect(countOf(firms)).toBe(50);
});

test('a name that four greedy keys ask for before a fifth does stays', () => {
  const { ask, countOf } = sampling();
  const firms = namesOf('firms', 50);
  const greedy = ['a', 'b', 'c', 'd'];
  for (const key of [...greedy, 'fifth']) ask(key, firms);
  for (const key of greedy) ask(key, namesOf(key, 2 * MOST));
  expect(countOf(firms)).toBe(50);
});

test('keys that all ask for more than there is room for have the same share', () => {
  const { ask, countOf, kept } = sampling();
  const keys = ['a', 'b', 'c', 'd'].map(key => [key, namesOf(key, 2 * MOST)] as const);
  for (const [key, names] of keys) ask(key, names);
  for (const [key, names] of keys) ask(key, names);
  for (const [, names] of keys) expect(countOf(names)).toBeGreaterThan((MOST / 4) * 0.8);
  expect(kept().size).toBeGreaterThan(MOST * 0.9);
  expect(kept().size).toBeLessThanOrEqual(MOST);
});

test('names that many keys share have as much room as those of one, and more keys than there are places have some', () => {
  const { ask, kept } = sampling();
  for (let key = 0; key < 50; key++) ask(`key${key}`, namesOf('shared', MOST));
  expect(kept().size).toBe(MOST);
  for (let key = 0; key < 3 * MOST; key++) ask(`lone${key}`, [`lone${key}.com`]);
  // Nobody is kept out for having been first.
  ask('lone0', ['lone0.com']);
  expect(kept().has('lone0.com')).toBe(true);
  expect(kept().size).toBeGreaterThan(MOST * 0.9);
  expect(kept().size).toBeLessThanOrEqual(MOST);
});

test('of a key that asks for more, whichever come first in the order of all servers are kept', () => {
  const name = fc.integer({ min: 0, max: 100_000 }).map(at => `n${at}.com`);
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 20, maxLength: 400 }), names => {
      const sample = new AskedSample(100);
      for (const one of names) sample.add(one, 'key', false);
      const orders = sample.all().map(({ order }) => order);
      const kept = new Set(sample.all().map(one => one.name));
      const gone = names.filter(one => !kept.has(one)).map(orderOf);
      expect(Math.max(...orders)).toBeLessThanOrEqual(Math.min(...gone));
      expect(orders.length).toBeLessThanOrEqual(100);
      expect(orders.length).toBeGreaterThanOrEqual(Math.min(names.length, 90));
    }),
  );
});

test('whoever asks for what, there are never more, and each is in some rows, up to four', () => {
  const asked = fc.tuple(fc.nat(7), fc.nat(60));
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 500 }), all => {
      const sample = new AskedSample(20);
      for (const [by, name] of all) {
        sample.add(`n${name}.com`, `key${by}`, false);
        expect(sample.all().length).toBeLessThanOrEqual(20);
      }
      const rows = sample.all().map(one => one.rows);
      expect(rows.every(count => count >= 1 && count <= 4)).toBe(true);
    }),
  );
});

test('a name is in each row once, also in the one of all further keys', () => {
  const { sample, ask } = sampling();
  const last = namesOf('last', 5_000).find(name => orderOf(name) === ORDERS - 1)!;
  const rows = () => sample.all().find(({ name }) => name === last)?.rows;
  for (const key of ['greedy', 'b', 'c', 'd']) ask(key, [last]);
  expect(rows()).toBe(4);
  ask('greedy', namesOf('junk', 2 * MOST));
  expect(rows()).toBe(3);
  for (const key of ['d', 'e', 'f']) ask(key, [last]);
  expect(rows()).toBe(3);
});

test('what was given up stays so, with no place for it taken from others', () => {
  const { ask, kept } = sampling();
  const junk = namesOf('junk', 20 * MOST);
  ask('greedy', junk);
  const before = kept();
  ask('greedy', junk.toReversed());
  expect(kept()).toEqual(before);
});
