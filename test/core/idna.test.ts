import { expect, test } from 'vitest';
import { parseDomain } from '../../src/core/domain.ts';
import { leastLength } from '../../src/core/idna.ts';

test.each([
  ['a.com', 4],
  ['a.com.', 5],
  ['ü.com', 4],
  ['müüüü.com', 4],
  ['xn--4ca.ü.com', 12],
  ['a。b．c｡com', 8],
  ['', -1],
])('%s is longer than %i characters, or ends in a dot', (text, length) => {
  expect(leastLength(text)).toBe(length);
});

const label = (length: number) => 'a'.repeat(length);

test.each(['', '.', '。'])('the longest name is one, typed wide and with %j behind it', dot => {
  const rest = `${label(63)}.${label(63)}.${label(63)}.${label(60)}`;
  expect(parseDomain(`ａ.${rest.slice(0, -1)}${dot}`)).toMatchObject({ ok: true });
  expect(parseDomain(`ａ.${rest}${dot}`)).toMatchObject({ ok: false, rule: 'too_long' });
});
