import { describe, expect, test } from 'vitest';
import { parseLabel } from '../../src/core/label.ts';
import { parseHost, parseMoment } from '../../src/core/typed.ts';

describe('a name or a note that an operator types', () => {
  test.each([
    ['Shop', 'Shop'],
    ['  Shop of Zoë 🛒 ', 'Shop of Zoë 🛒'],
    ['x'.repeat(200), 'x'.repeat(200)],
    [` ${'x'.repeat(200)} `, 'x'.repeat(200)],
  ])('%j is kept as %j', (typed, kept) => {
    expect(parseLabel(typed)).toEqual({ ok: true, value: kept });
  });

  test.each([
    ['nothing', ''],
    ['spaces only', '  \t'],
    ['more than 200 characters', 'x'.repeat(201)],
    ['two lines', 'a\nb'],
    ['a control character', 'a\u0000b'],
    ['an escape sequence', '\u001b[2Ja'],
    ['text that turns around', 'a\u202eb'],
    ['a sign without width', 'a\u200bb'],
    ['a line separator', 'a\u2028b'],
    ['a paragraph separator', 'a\u2029b'],
    ['half a character', 'a\ud800b'],
    ['bytes that were no UTF-8', 'a\ufffdb'],
  ])('%s is refused', (_, typed) => {
    expect(parseLabel(typed)).toEqual({
      ok: false,
      problem: 'must be one line of 1 to 200 printable characters',
    });
  });

  test('may have a narrower bound, which the problem names', () => {
    expect(parseLabel('abcde', 5)).toEqual({ ok: true, value: 'abcde' });
    expect(parseLabel('abcdef', 5)).toMatchObject({ problem: expect.stringContaining('1 to 5 ') });
  });
});

describe('a moment that an operator types', () => {
  const NOW = Date.UTC(2027, 0, 1, 12);

  test.each([
    ['2027-01-02', Date.UTC(2027, 0, 2)],
    ['2028-02-29', Date.UTC(2028, 1, 29)],
    ['2027-01-01T12:00:01Z', Date.UTC(2027, 0, 1, 12, 0, 1)],
    ['2027-01-01T12:00:00.001Z', Date.UTC(2027, 0, 1, 12, 0, 0, 1)],
  ])('%s is taken, in UTC', (typed, ms) => {
    expect(parseMoment(typed, NOW)).toEqual({ ok: true, value: ms });
  });

  test.each([['2027-01-01T12:00:00Z'], ['2027-01-01T11:59:59Z'], ['2027-01-01'], ['2026-12-31']])(
    '%s is over already',
    typed => {
      expect(parseMoment(typed, NOW)).toEqual({
        ok: false,
        problem: `must be in the future (${typed} is past; a date means 00:00 UTC)`,
      });
    },
  );

  test.each([
    [''],
    ['tomorrow'],
    ['2027'],
    ['2027-1-2'],
    ['12027-01-02'],
    ['2027-02-30'],
    ['2027-02-30T00:00:00Z'],
    ['2027-13-01'],
    ['02/01/2027'],
    ['2027-01-02 12:00'],
    ['2027-01-02T12:00:00'],
    ['2027-01-02T12:00:00+01:00'],
    ['2027-01-02T25:00:00Z'],
    ['2027-01-02TZ'],
    [' 2027-01-02'],
    ['2027-01-02x'],
    ['x2027-01-02'],
    ['x2027-01-02T12:00:00Z'],
    ['2027-01-02T12:00:00Zx'],
    // Date.parse takes what stands in brackets for a remark.
    ['2027-01-02T12:00:00Z (noon)'],
    ['2027-01-02 (2027-01-02'],
    ['2027-01-02 (2027-01-02T12:00:00Z'],
  ])('%j is no moment', typed => {
    expect(parseMoment(typed, NOW)).toEqual({
      ok: false,
      problem: 'must be like 2027-01-31 or 2027-01-31T12:00:00Z',
    });
  });
});

describe('a mail host that an operator types', () => {
  test.each([
    ['mx.example.com', 'mx.example.com'],
    ['MX.Example.com.', 'mx.example.com'],
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['*.Example.com', '*.example.com'],
    ['own@192.0.2.1', 'own@192.0.2.1'],
  ])('%s is %s', (typed, host) => {
    expect(parseHost(typed)).toEqual({ ok: true, value: host });
  });

  test.each([
    '',
    '.',
    'mx',
    'mx..example.com',
    'mx.example.com..',
    '.mx.example.com',
    'a b.com',
    '192.0.2',
    'user@x.com',
    'mx*.example.com',
    '192.0.own@2.1',
  ])('%j is refused', typed => {
    expect(parseHost(typed)).toEqual({
      ok: false,
      problem: 'must be a name such as mx.example.com or *.example.com, or an address such as 192.0.2.1',
    });
  });
});
