import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CsvRow, csvLine, parseCsv } from '../../src/core/csv.ts';
import { MOST_LINES, parseOverrides, writtenOverrides } from '../../src/core/override-file.ts';

const NOW = Date.UTC(2026, 10, 16);
const HEAD = 'domain,action,below,note,author,expires_at\n';
const parse = (text: string) => parseOverrides(text, 'op', NOW);

test('whatever is written comes back, and no value is a formula', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.string(), { minLength: 2, maxLength: 4 })), rows => {
      const trimmed = rows.map(row => row.map(value => value.trim()));
      const text = trimmed.map(row => csvLine(row)).join('');
      const read = parseCsv(text) as CsvRow[];
      expect(read.map(({ values }) => values)).toEqual(trimmed.filter(row => row.length > 0));
    }),
  );
  for (const sign of ['=', '+', '-', '@', '\t', '\r']) expect(csvLine([`${sign}cmd()`])).toMatch(/^"?'/);
});

test('a file as spreadsheets write it is read: a mark at its start, CRLF, quotes, empty lines', () => {
  const { overrides, problems } = parse(
    '\uFEFFAction,Domain,Note,Below\r\ndeny,"Bad.COM","a ""b"", c",YES\r\n\r\nallow,münchen.de,,\r\n',
  );
  expect(problems).toEqual([]);
  const rest = { author: 'op', expiresAt: null };
  expect(overrides).toEqual([
    { domain: 'bad.com', action: 'deny', below: true, note: 'a "b", c', ...rest },
    { domain: 'xn--mnchen-3ya.de', action: 'allow', below: false, note: null, ...rest },
  ]);
});

describe('what is wrong is told by its line, all of it at once', () => {
  test.each<[string, RegExp[]]>([
    ['', [/first line must name columns/]],
    ['domain\na.com\n', [/first line must name columns/]],
    ['domain,action,score\n', [/first line must name columns/]],
    [`${HEAD}a.com,"deny`, [/^line 2: a quote is not closed/]],
    [
      `${HEAD}a.com,deny\nb.com,deny,,"two\nlines"\n"c.com"x,deny\n`,
      [/^line 5: .* beside a value in quotes/],
    ],
    [`${HEAD}a.com,deny\nb "c".com,deny\n`, [/^line 3: .* beside a value in quotes/]],
    [`${HEAD}a.com,deny\nb@c.com,deny\nc.com,block\n`, [/^line 3: domain: /, /^line 4: action must be/]],
    [`${HEAD}a.com,deny,perhaps\n`, [/^line 2: below must be yes or no/]],
    [`${HEAD}a.com,deny,constructor\n`, [/^line 2: below must be yes or no/]],
    [`${HEAD}a.com,deny,__proto__\n`, [/^line 2: below must be yes or no/]],
    ['domain,action,action\na.com,deny,allow\n', [/names the column action twice/]],
    ['domain,Domain,action\na.com,b.com,deny\n', [/names the column domain twice/]],
    [`${HEAD}a.com,deny,,"two\nlines"\nb.com,x\n`, [/^line 2: note must be/, /^line 4: action/]],
    [`${HEAD}a.com,deny,,,"\u202e"\n`, [/^line 2: author must be/]],
    [`${HEAD}a.com,deny,,,,soon\n`, [/^line 2: expires_at must be like/]],
    [`${HEAD}a.com,block,,,,2001-01-01\n`, [/^line 2: action/]],
    [`${HEAD}a.com,deny\nA.com.,allow\n`, [/^line 3: a.com comes twice/]],
    [`${HEAD}a.com,deny,,,,,more\n`, [/^line 2: has too many values/]],
  ])('%j', (text, expected) => {
    const { problems } = parse(text);
    expect(problems).toEqual(expected.map(one => expect.stringMatching(one)));
  });

  test('and so are more lines than can be taken at once', () => {
    const { problems } = parse(HEAD + 'a.com,deny\n'.repeat(MOST_LINES + 1));
    expect(problems).toEqual([expect.stringMatching(/at most 200000 at once/)]);
  });
});

test('what is written out can be read again; what has ended is left out', () => {
  const override = {
    ...{ domain: 'a.com', action: 'role' as const, below: true, note: '=1+1, "x"', author: null },
    ...{ createdAt: 5, expiresAt: NOW + 1_000 },
  };
  const text = writtenOverrides([override, { ...override, domain: 'b.com', expiresAt: NOW }], NOW);
  expect(text).toBe(`${HEAD}a.com,role,yes,"'=1+1, ""x""",,2026-11-16T00:00:01Z\n`);
  const { createdAt, ...wanted } = override;
  expect(parseOverrides(text, null, NOW)).toEqual({ overrides: [wanted], expired: 0, problems: [] });
  // Half a second earlier it would be another one.
  const fraction = { ...wanted, expiresAt: NOW + 1_500 };
  const again = writtenOverrides([{ ...fraction, createdAt }], NOW);
  expect(parseOverrides(again, null, NOW)).toMatchObject({ overrides: [fraction] });
  // An export that was kept until its line had ended.
  const later = parseOverrides(`${text}b.com,deny\n`, null, NOW + 1_000);
  expect(later).toMatchObject({ overrides: [{ domain: 'b.com' }], expired: 1, problems: [] });
});

test.each<[string, string, RegExp]>([
  ['a quote that is never closed', `"${'a'.repeat(2 ** 24)}`, /a quote is not closed/],
  ['a long value in quotes', `"${'a'.repeat(2 ** 24)}",deny`, /^line 2: domain: /],
  ['quotes alone', `"${'""'.repeat(2 ** 17)}",deny`, /^line 2: domain: /],
  ['something behind a quote', '"a.com"x,deny', /a quote is not closed/],
  ['a quote within a value', 'a"b.com,deny', /a quote is not closed/],
  ['values without an end', ','.repeat(2 ** 20), /^line 2: has too many values/],
  ['line ends of all kinds', `${'\r\n\n\r'.repeat(2 ** 16)}a.com`, /^line 131074: action/],
])('megabytes that no spreadsheet writes are told as what they are: %s', (_, text, problem) => {
  expect(parse(`${HEAD}${text}`).problems).toEqual([expect.stringMatching(problem)]);
});
