/** What the console makes of what a person types, pastes or uploads, before a call is spent. */

import { describe, expect, test } from 'vitest';
import { domainIn, readNames } from '../../console/src/names.ts';

describe('one domain out of', () => {
  test.each([
    ['gmail.com', 'gmail.com'],
    ['GMAIL.com.', 'gmail.com'],
    ['https://ann:secret@shop.example:8080/path?q=a.b#c', 'shop.example'],
    ['//cdn.example.org/x', 'cdn.example.org'],
    ['example.com/pricing', 'example.com'],
    ['example.com:443', 'example.com'],
    ['ann.private@example.com', 'example.com'],
    ['mailto:ann@example.com?subject=hi', 'example.com'],
    ['"ann@example.com";', 'example.com'],
    ['<ann@example.com>,', 'example.com'],
    ['*.example.com', 'example.com'],
    ['MÜNCHEN.de', 'münchen.de'],
    ['نامه‌ای.com', 'نامه‌ای.com'],
    ['例え。テスト', '例え。テスト'],
    ['co.uk', 'co.uk'],
  ])('%s is %s', (word, domain) => {
    expect(domainIn(word)).toBe(domain);
  });

  test.each([
    ...['Ann', 'localhost', '..', '.', '', '127.0.0.1', '[::1]', 'a_b.com', '-a.com', 'a-.com', 'a..b', '@'],
    ...[
      `${'a'.repeat(64)}.com`,
      `${'a.'.repeat(130)}com`,
      '12',
      '1.5',
      'x\ud800.com',
      'http://',
      'two words.com',
    ],
  ])('%j holds none', word => {
    expect(domainIn(word)).toBeUndefined();
  });
});

describe('a list', () => {
  test('is split at spaces, commas, semicolons and lines, and says what was left out and what came twice', () => {
    expect(readNames('a.com b.com;A.com.\nhello, https://c.com/x')).toEqual({
      domains: ['a.com', 'b.com', 'c.com'],
      leftOut: ['hello'],
      repeated: 1,
      cut: 1,
    });
  });

  test('of addresses with names is the domains only', () => {
    const text = 'Ann Lee <ann@a.com>, "Dr. Ben. B" <ben@b.com>;\ncid@c.com';
    expect(readNames(text)).toMatchObject({ domains: ['a.com', 'b.com', 'c.com'], cut: 3 });
  });

  test('with commas and lines of different lengths is no table', () => {
    expect(readNames('a.com, b.com\nc.com').domains).toEqual(['a.com', 'b.com', 'c.com']);
    expect(readNames('a.com, b.com\nc.com').table).toBeUndefined();
  });
});

describe('a table', () => {
  const CSV =
    'Name,Email,Site\r\n"Lee, Ann",ann@a.com,www.one.com\r\n"say ""hi""",ben@b.com,\r\nCid,none,x\r\n';

  test('with a head gives the column with most domains, and what it left out', () => {
    expect(readNames(CSV)).toEqual({
      domains: ['a.com', 'b.com'],
      leftOut: ['none'],
      repeated: 0,
      cut: 2,
      table: { head: ['Name', 'Email', 'Site'], column: 1 },
    });
  });

  test('gives another column where the person picks it, and the best one where there is no such column', () => {
    expect(readNames(CSV, 2).domains).toEqual(['www.one.com']);
    expect(readNames(CSV, 0)).toMatchObject({ domains: [], leftOut: ['Lee, Ann', 'say "hi"', 'Cid'] });
    expect(readNames(CSV, 9).table?.column).toBe(1);
  });

  test('takes the column that is named after mail where two have as many', () => {
    expect(readNames('site\temail\na.com\tann@b.com').domains).toEqual(['b.com']);
  });

  test('without a head keeps its first row, and a line break inside quotes is one cell', () => {
    expect(readNames('1;a.com\n2;b.com')).toMatchObject({
      domains: ['a.com', 'b.com'],
      table: { head: ['Column 1', 'Column 2'], column: 1 },
    });
    expect(readNames('note,domain\n"two\nlines",a.com').domains).toEqual(['a.com']);
  });
});
