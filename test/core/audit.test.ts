import { expect, test } from 'vitest';
import { shortDetail } from '../../src/core/audit.ts';

test.each([
  ['a line of the audit', 'a line of the audit'],
  ['x'.repeat(500), 'x'.repeat(500)],
  ['x'.repeat(501), `${'x'.repeat(499)}…`],
  // Half a character could not be written as UTF-8.
  [`${'x'.repeat(498)}😀😀`, `${'x'.repeat(498)}�…`],
])('what changed is told in at most 500 characters (case %#)', (detail, shown) => {
  expect(shortDetail(detail)).toBe(shown);
});
