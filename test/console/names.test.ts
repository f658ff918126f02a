/** What the console makes of what a person types, pastes or uploads, before a call is spent. */

import { describe, expect, test } from 'vitest';
import { domainIn } from '../../console/src/domain-in.ts';
import { ALL_COLUMNS, readNames } from '../../console/src/names.ts';

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
    ['i❤.ws', 'i❤.ws'],
    // Allowed before the @ (RFC 5321), and no path of a URL.
    ['john.smith/sales@company.com', 'company.com'],
    ['first.last#tag@company.com', 'company.com'],
    ['first.last?x@company.com', 'company.com'],
    ['ann@company.com?cc=bob@other.com', 'company.com'],
    ['ann@company.com/x', 'company.com'],
    ['mailto:ann@company.com?cc=bob@other.com', 'company.com'],
    ['mailto:first.last?x@company.com', 'company.com'],
    ['https://site.com/@ann.lee', 'site.com'],
    ['https://site.com?from=ann@company.com', 'site.com'],
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
      // Either a page or an address.
      'site.com/@ann.lee',
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

  test('has every address of a line, whatever stands around them', () => {
    const text = 'Ann <ann@a.com> Bob <bob@b.com> c.com, "x.y@home.net z"@d.com';
    expect(readNames(text)).toMatchObject({ domains: ['a.com', 'b.com', 'c.com', 'd.com'], leftOut: [] });
  });

  test.each([
    ['a.com, b.com\nc.com, d.com'],
    ['Ann <ann@a.com>, Bob <bob@b.com>\nCy <cy@c.com>, Di <di@d.com>'],
    ['ann@a.com;bob@b.com\ncy@c.com;di@d.com'],
  ])('in lines of the same length is no table: %j', text => {
    expect(readNames(text).domains).toEqual(['a.com', 'b.com', 'c.com', 'd.com']);
    expect(readNames(text).table).toBeUndefined();
  });

  test('of addresses may have a title that looks like a domain', () => {
    expect(readNames('user.email\nann@a.com\nbob@b.com')).toMatchObject({
      domains: ['a.com', 'b.com'],
      leftOut: ['user.email'],
    });
    for (const text of ['proton.email\na.com', 'proton.email, ann@a.com', 'proton.email\nnone'])
      expect(readNames(text).domains).toContain('proton.email');
  });

  test.each([
    ['colons', `${':'.repeat(1_990)}x\n`.repeat(500)],
    ['at signs', `<${'@'.repeat(100_000)}`],
    ['quotes', `x,y\nz,${'a"'.repeat(200_000)}`],
  ])('of nothing but %s is read at once', (_, text) => {
    const start = process.cpuUsage();
    readNames(text);
    // At most 0.1 s each; it was 4, 24 and 5 s (2026-11-17).
    expect(process.cpuUsage(start).user).toBeLessThan(1_500_000);
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
      table: { head: ['Name', 'Email', 'Site'], column: 1, elsewhere: 1 },
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

  test('says how many domains are in other columns, and reads all of them where the person wants it', () => {
    const text = 'to;cc\nann@a.com;bob@b.com\ncy@c.com;ann@a.com';
    expect(readNames(text)).toMatchObject({
      domains: ['a.com', 'c.com'],
      table: { column: 0, elsewhere: 1 },
    });
    expect(readNames(text, ALL_COLUMNS)).toMatchObject({
      domains: ['a.com', 'b.com', 'c.com'],
      table: { column: ALL_COLUMNS, elsewhere: 0 },
    });
  });

  test('may have several addresses in a cell', () => {
    const text = 'name\temails\nAnn\tann@a.com; a2@x.com\nBob\tBob <bob@b.com>';
    expect(readNames(text)).toMatchObject({ domains: ['a.com', 'x.com', 'b.com'], leftOut: [] });
  });

  test.each([
    ['last cells missing', 'name,email,site\nAnn,ann@a.com,https://a.org\nBob,bob@b.com\n'],
    ['a comma at the end of a line', 'name,email\nAnn,ann@a.com\nBob,bob@b.com,\n'],
    ['dots in its head', 'contact.name;contact.email\nAnn;ann@a.com\nBob;bob@b.com'],
    ['lines of an old Mac', 'name,email\rAnn,ann@a.com\rBob,bob@b.com'],
  ])('may have %s', (_, text) => {
    expect(readNames(text)).toMatchObject({
      domains: ['a.com', 'b.com'],
      leftOut: [],
      table: { column: 1 },
    });
  });

  test('is not what has one line with commas', () => {
    const text = 'Please check, thanks\nfoo.com\nbar.com';
    expect(readNames(text)).toMatchObject({
      domains: ['foo.com', 'bar.com'],
      leftOut: ['Please', 'check', 'thanks'],
    });
  });
});
