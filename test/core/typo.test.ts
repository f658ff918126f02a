import { expect, it } from 'vitest';
import { typable, typoOf } from '../../src/core/typo.ts';

const LARGE = typable(['gmail.com', 'hotmail.com', 'yahoo.com', 'qq.com', '163.com']);

it.each([
  ['gmial.com', 'gmail.com'],
  ['gmai.com', 'gmail.com'],
  ['gmaill.com', 'gmail.com'],
  ['ggmail.com', 'gmail.com'],
  ['gnail.com', 'gmail.com'],
  ['gmail.co', 'gmail.com'],
  ['gmail.comm', 'gmail.com'],
  ['gmail.ocm', 'gmail.com'],
  ['hotmial.com', 'hotmail.com'],
  ['yahooo.com', 'yahoo.com'],
])('%s may have been meant as %s', (typed, meant) => {
  expect(typoOf(typed, LARGE)).toBe(meant);
});

it.each([
  'gmail.com',
  'gmil.co',
  'mgial.com',
  'gmialx.com',
  'mailinator.com',
  'aq.com',
  'q.com',
  'a.com',
  '',
])('%j is no typing error', typed => {
  expect(typoOf(typed, LARGE)).toBeUndefined();
});

it('names of few letters are not told from others', () => {
  expect(LARGE).toEqual(['gmail.com', 'hotmail.com', 'yahoo.com']);
});
