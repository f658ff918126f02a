import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NamesInMaking } from '../../src/core/indexing.ts';
import { type NameList, Names, Packer, packing, SEED_BYTES } from '../../src/core/names.ts';
import { allAtOnce } from '../../src/core/steps.ts';

const SEED = new Uint8Array(SEED_BYTES).fill(7);
const pack = (names: readonly string[]) => allAtOnce(packing(names));
const many = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.example.com`);

/** Of each list its own number is added to what the lists before gave, as long as it fits. */
function tableOf(lists: readonly (readonly string[])[], seed = SEED) {
  const room = lists.reduce((sum, names) => sum + names.length, 0);
  const making = allAtOnce(NamesInMaking.joining(lists.map(pack), room, seed));
  for (const [at, list] of making.lists.entries())
    allAtOnce(making.adding(list, (place, before) => before + 1000 * (at + 1) + place));
  return making;
}

function mapOf(lists: readonly (readonly string[])[]): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const [at, names] of lists.entries())
    for (const [place, name] of names.entries())
      numbers.set(name, (numbers.get(name) ?? 0) + 1000 * (at + 1) + place);
  return numbers;
}

const ascii = fc.string({ unit: fc.integer({ min: 0, max: 127 }).map(code => String.fromCharCode(code)) });
const alike = fc.stringMatching(/^[ab]{0,3}\.(?:com|co)$/);
const lists = fc.array(fc.array(fc.oneof(ascii, alike)), { maxLength: 4 });

describe('a table of names', () => {
  it('answers as a Map does, whatever the names and the chance in it, in the same order', () => {
    const seeds = fc.uint8Array({ minLength: SEED_BYTES, maxLength: SEED_BYTES });
    fc.assert(
      fc.property(
        lists,
        seeds,
        fc.array(fc.oneof(ascii, alike, fc.string({ unit: 'binary' }))),
        (all, seed, others) => {
          const [table, map] = [tableOf(all, seed), mapOf(all)];
          expect([...table]).toEqual([...map.keys()]);
          expect(table.size).toBe(map.size);
          for (const name of [...map.keys(), ...others]) expect(table.get(name)).toBe(map.get(name) ?? 0);
        },
      ),
    );
  });

  it('knows a name of 253 characters and none that is longer, is not ASCII, or only looks alike', () => {
    const long = 'x'.repeat(253);
    const table = tableOf([['a.com', long, '']]);
    expect([table.get('a.com'), table.get(long), table.get('')]).toEqual([1000, 1001, 1002]);
    for (const name of [`${long}x`, 'ａ.com', 'á.com', '\u0161.com', 'a.co', 'a.comm', 'A.com', '\0'])
      expect(table.get(name)).toBe(0);
  });

  it.each([['x'.repeat(254)], ['á.com'], ['\u0161.com']])('is not made of %j', name => {
    expect(() => pack(['a.com', name])).toThrow(RangeError);
  });

  it('takes ten bytes for a name beside its characters', () => {
    const names = many(10_000);
    const characters = names.join('').length;
    expect(tableOf([names]).buffer.byteLength - characters).toBeLessThan(10.1 * names.length);
  });

  it('lets a number be taken back, and counts names that have one', () => {
    const table = tableOf([['a.com', 'b.com', 'c.com']]);
    table.change('b.com', 0);
    table.change('c.com', 2 ** 24 - 1);
    table.change('d.com', 5);
    expect([...table]).toEqual(['a.com', 'c.com']);
    expect([table.size, table.get('b.com'), table.get('c.com'), table.get('d.com')]).toEqual([
      2,
      0,
      2 ** 24 - 1,
      0,
    ]);
    expect(() => table.change('a.com', 2 ** 24)).toThrow(RangeError);
  });

  it('has no more names than there is room for', () => {
    const making = allAtOnce(NamesInMaking.joining([pack(many(20))], 2, SEED));
    expect(() => allAtOnce(making.adding(making.lists[0]!, () => 1))).toThrow('no room');
  });

  it('is not made of more bytes than its slots can tell of', () => {
    const huge = { bytes: { length: 2 ** 32 }, length: 1 } as unknown as NameList;
    expect(() => allAtOnce(NamesInMaking.joining([huge], 1, SEED))).toThrow('longer than 4 GiB');
  });

  it('is made of lists of another one, which stay as they are', () => {
    const before = tableOf([
      ['a.com', 'b.com'],
      ['b.com', 'c.com'],
    ]);
    const making = allAtOnce(NamesInMaking.joining([before.lists[1]!, pack(['d.com'])], 3, SEED));
    for (const list of making.lists) allAtOnce(making.adding(list, () => 1));
    expect([...making]).toEqual(['b.com', 'c.com', 'd.com']);
    expect(making.lists.map(list => [...list])).toEqual([['b.com', 'c.com'], ['d.com']]);
    expect(making.lists.map(list => list.length)).toEqual([2, 1]);
    expect([...before]).toEqual(['a.com', 'b.com', 'c.com']);
  });

  it('is made of more names than fit into one piece of a list', () => {
    const names = many(20_000);
    const packer = new Packer();
    for (const name of names) packer.push(name);
    expect([...packer]).toEqual(names);
    const list = allAtOnce(packer.packing());
    expect([packer.length, list.length]).toEqual([20_000, 20_000]);
    expect(list.bytes.length).toBeGreaterThan(2 ** 18);
    expect([...list]).toEqual(names);
  });

  it('is made and walked in steps', () => {
    const steps = (work: Iterable<undefined>) => [...work].length;
    const names = many(9_000);
    expect(steps(packing(names))).toBe(3);
    const lists = [pack(names)];
    expect(steps(NamesInMaking.joining(lists, names.length, SEED))).toBe(1);
    const making = allAtOnce(NamesInMaking.joining(lists, names.length, SEED));
    expect(steps(making.adding(making.lists[0]!, () => 1))).toBe(18);
    const walked: string[] = [];
    expect(steps(making.walking(1_000, place => walked.push(making.nameAt(place))))).toBe(9);
    expect(walked).toEqual(names);
  });

  it('puts names elsewhere with other chance', () => {
    const slots = (fill: number) => {
      const { buffer } = tableOf([many(50)], new Uint8Array(SEED_BYTES).fill(fill));
      return [...new Uint32Array(buffer, 64, 76)];
    };
    expect(slots(1)).toEqual(slots(1));
    expect(slots(1)).not.toEqual(slots(2));
  });
});

describe('a buffer from elsewhere', () => {
  const copy = (of: SharedArrayBuffer) => {
    const to = new SharedArrayBuffer(of.byteLength);
    new Uint8Array(to).set(new Uint8Array(of));
    return to;
  };
  const made = tableOf([['a.com', 'b.com'], ['c.com']]).buffer;

  it('is the same table', () => {
    const table = Names.from(copy(made))!;
    expect([...table].map(name => [name, table.get(name)])).toEqual([
      ['a.com', 1000],
      ['b.com', 1001],
      ['c.com', 2000],
    ]);
  });

  it.each<[string, (buffer: SharedArrayBuffer) => SharedArrayBuffer]>([
    ['empty', () => new SharedArrayBuffer(0)],
    ['shorter than its head', () => new SharedArrayBuffer(60)],
    ['nothing but zeros', () => new SharedArrayBuffer(1_000)],
    ['another form', buffer => put(buffer, 0, 1)],
    ['slots beyond its end', buffer => put(buffer, 5, Math.floor(buffer.byteLength / 4) - 15)],
    ['a look without end', buffer => put(buffer, 7, 4_097)],
  ])('is refused: %s', (_, spoil) => {
    expect(Names.from(spoil(copy(made)))).toBeUndefined();
  });

  it('may hold anything: looks end, and only names that are in it are found', () => {
    const spoilt = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 200 });
    fc.assert(
      fc.property(spoilt, fc.oneof(ascii, alike, fc.constant('a.com')), (changes, name) => {
        const buffer = copy(made);
        const bytes = new Uint8Array(buffer);
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        const table = Names.from(buffer);
        if (table?.get(name)) expect(Buffer.from(bytes).includes(name, 0, 'latin1')).toBe(true);
        expect([...(table ?? [])].length).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });

  it('in which no slot is empty is looked through no further than it says', () => {
    const buffer = put(copy(made), 7, 3);
    new Uint32Array(buffer, 64, new Uint32Array(buffer, 0, 16)[5]).fill(2 ** 32 - 1);
    expect(Names.from(buffer)!.get('a.com')).toBe(0);
  });

  function put(buffer: SharedArrayBuffer, word: number, value: number): SharedArrayBuffer {
    new Uint32Array(buffer, 0, 16)[word] = value;
    return buffer;
  }
});
