import { describe, expect, test } from 'vitest';
import { tagOf, usableTag } from '../../src/core/tag.ts';

const DATE = 'Mon, 16 Nov 2026 04:20:00 GMT';
const tagged = (etag?: string, modified?: string) => tagOf('a', { etag, 'last-modified': modified });

describe('what a server says of a list is sent back only where it is well formed', () => {
  test.each<[string, string | undefined, string | undefined, string | null, string | null]>([
    ['both', '"abc-1"', DATE, '"abc-1"', DATE],
    ['a weak one', 'W/"a"', undefined, 'W/"a"', null],
    ['a date only', undefined, DATE, null, DATE],
    ['of 200 characters', `"${'x'.repeat(198)}"`, undefined, `"${'x'.repeat(198)}"`, null],
    ['of 201', `"${'x'.repeat(199)}"`, DATE, null, DATE],
    ['without quotes', 'abc', DATE, null, DATE],
    ['empty', '""', DATE, null, DATE],
    ['with a quote inside', '"a"b"', DATE, null, DATE],
    ['with a line break', '"a\r\nX-Evil: 1"', DATE, null, DATE],
    ['with a line break after it', '"a"\n', DATE, null, DATE],
    ['with a NUL', '"a\0"', DATE, null, DATE],
    ['with a character above ASCII', '"ä"', DATE, null, DATE],
    ['with a date of another form', '"a"', '2026-11-16', '"a"', null],
    ['with a date and more', '"a"', `${DATE}\r\nX: 1`, '"a"', null],
  ])('%s', (_, etag, modified, ...kept) => {
    const tag = tagged(etag, modified);
    expect([tag?.etag, tag?.modified]).toEqual(kept);
  });

  test('and nothing is kept where nothing is', () => {
    expect([tagged(), tagged('x', 'y')]).toEqual([undefined, undefined]);
  });
});

describe('a server is asked with it', () => {
  const WEEK = 7 * 86_400_000;
  const kept = { ...tagged('"1"')!, digest: 'd', wholeAt: WEEK };
  test.each([
    ['for a week', 'd', 2 * WEEK - 1, true],
    ['and then for the whole list', 'd', 2 * WEEK, false],
    ['not by a clock that was set back', 'd', WEEK - 1, false],
    ['not where another version is in use', 'e', WEEK, false],
    ['not where none is', undefined, WEEK, false],
  ])('%s', (_, digest, now, isUsed) => {
    expect(usableTag(kept, digest, now)).toBe(isUsed ? kept : undefined);
  });
});
