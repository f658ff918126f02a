import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvLine, parseCsv } from '../../src/commands/csv.ts';

test.each<[string, string[][]]>([
  ['', []],
  [
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  ['\ufeffa;b\r\n1\r\n\r\n2', [['a;b'], ['1'], ['2']]],
  ['a,"b ""c"", d\ne"\n', [['a', 'b "c", d\ne']]],
  ['a,,\n', [['a', '', '']]],
  [' a , b', [['a', 'b']]],
  ['a,', [['a', '']]],
  ['"unclosed,a\nb', [['unclosed,a\nb']]],
])('%j is read as %j', (text, rows) => {
  expect(parseCsv(text)).toEqual(rows);
});

test('what is written is read as it was', () => {
  const cell = fc.string({ unit: fc.constantFrom(...'ab ",\n\r;é') }).map(text => `x${text}x`);
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1 });
  fc.assert(
    fc.property(rows, table => {
      expect(parseCsv(table.map(csvLine).join(''))).toEqual(table);
    }),
  );
});

test('any text at all is read, and ends', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'a",\n\r '), maxLength: 200 }), text => {
      expect(parseCsv(text)).toBeInstanceOf(Array);
    }),
  );
});

test.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx'])('a spreadsheet does not run %j', text => {
  expect(parseCsv(csvLine([text, 'b']))).toEqual([[`'${text}`, 'b']]);
  expect(csvLine([-1])).toBe('-1\n');
});
