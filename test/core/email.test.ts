import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import ROLES from '../../data/role-mailboxes.json' with { type: 'json' };
import { parseAddress, parseAddressSegment } from '../../src/core/email.ts';
import { parseRoles } from '../../src/core/tables.ts';

const shownOf = (text: string) => {
  const parsed = parseAddress(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.detail}`);
  return parsed.shown;
};

test.each([
  ['a@gmail.com', '***@gmail.com'],
  ['ab@gmail.com', 'a***@gmail.com'],
  ['abcde@gmail.com', 'a***@gmail.com'],
  ['abcdef@gmail.com', 'ab***ef@gmail.com'],
  ['jane.doe+news@Gmail.com.', 'ja***ws@Gmail.com.'],
  ['𝒥@gmail.com', '***@gmail.com'],
  ['𝒥𝒶𝓃𝑒𝒹𝓸@gmail.com', '𝒥𝒶***𝒹𝓸@gmail.com'],
  ['jürgen@münchen.de', 'jü***en@münchen.de'],
  ['gmail.com', 'gmail.com'],
  ['GMAIL.com', 'GMAIL.com'],
])('%s is shown as %s', (text, shown) => {
  expect(shownOf(text)).toBe(shown);
});

test.each([
  ['jane@GMAIL.com.', 'gmail.com'],
  ['jane@m%C3%BCnchen.de', 'xn--mnchen-3ya.de'],
  ['jane%40gmail.com', 'gmail.com'],
  ['a%2Fb@gmail.com', 'gmail.com'],
  ['100%25@gmail.com', 'gmail.com'],
  ["!#$&'*+-=^_`{|}~.x@gmail.com".replace('#', '%23'), 'gmail.com'],
  ['gmail.com', 'gmail.com'],
])('the domain of %s is %s', (segment, domain) => {
  expect(parseAddressSegment(segment)).toMatchObject({ ok: true, domain });
});

test.each([
  ['@gmail.com', /nothing before the @/],
  ['a@b@gmail.com', /more than one @/],
  ['"jane doe"@gmail.com', /quoted/],
  ['"a@b"@gmail.com', /quoted/],
  [`${'a'.repeat(65)}@gmail.com`, /64 characters/],
  [`${'𝒥'.repeat(65)}@gmail.com`, /64 characters/],
  [`${'a'.repeat(200)}@${'b.'.repeat(100)}com`, /320 characters/],
  ['jane doe@gmail.com', /space/],
  ['jane\0@gmail.com', /control/],
  ['jane\u200b@gmail.com', /invisible/],
  ['jane\ud800@gmail.com', /invisible/],
  ['jane(doe)@gmail.com', /no mailbox has/],
  ['jane\\doe@gmail.com', /no mailbox has/],
  ['jane"doe@gmail.com', /no mailbox has/],
  ['<jane@gmail.com>', /no mailbox has/],
  ['.jane@gmail.com', /dot/],
  ['jane.@gmail.com', /dot/],
  ['ja..ne@gmail.com', /dot/],
  ['jane\uff20gmail.com', /looks like @/],
  ['jane@', /empty/],
  ['jane@gmail', /one label/],
  ['jane@co.uk', /public suffix/],
  ['jane@[127.0.0.1]', /IP address/],
  ['', /empty/],
])('%j is refused by its rule, and nothing of it is repeated', (text, detail) => {
  const parsed = parseAddress(text);
  expect(parsed).toMatchObject({ ok: false, detail: expect.stringMatching(detail) });
  expect(parsed.ok ? '' : parsed.detail).not.toMatch(/jane|doe/);
});

test.each(['%', '%E0%A4%A', 'jane%FF@gmail.com', 'j\u00e4ne@gmail.com'])(
  'the segment %j is not UTF-8',
  raw => {
    expect(parseAddressSegment(raw)).toMatchObject({ ok: false, detail: expect.stringMatching(/UTF-8/) });
  },
);

test('what is exactly at the limits is an address', () => {
  expect(parseAddress(`${'a'.repeat(64)}@gmail.com`).ok).toBe(true);
  expect(parseAddress(`${'𝒥'.repeat(64)}@gmail.com`).ok).toBe(true);
  const longest = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(57)}.com`;
  expect(longest).toHaveLength(318);
  expect(parseAddress(longest).ok).toBe(true);
});

test.each([
  ['info', true],
  ['INFO', true],
  ['no-reply', true],
  ['admin+spring', true],
  ['postmaster', true],
  ['information', false],
  ['jane+info', false],
  ['infos.jane', false],
  ['constructor', false],
  ['__proto__', false],
])('the mailbox %s stands for a role: %s', (local, isRole) => {
  expect(parseAddress(`${local}@gmail.com`)).toMatchObject({ ok: true, isRole });
});

test('the words are in lower case, each once, and those of roles.txt are among them', () => {
  const words = [...ROLES.automated, ...ROLES.rfc2142, ...ROLES.departments];
  expect(new Set(words).size).toBe(words.length);
  for (const word of words) expect(word).toMatch(/^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/);
  const roles = parseRoles(readFileSync(join(import.meta.dirname, '../../data/roles.txt'), 'utf8'));
  expect([...roles].filter(word => !words.includes(word))).toEqual([]);
});

const ATOM = [..."abcdefghijklmnopqrstuvwxyzABCXYZ0123456789!#$%&'*+-/=?^_`{|}~äßé字𝒥"];
const locals = fc
  .array(fc.string({ unit: fc.constantFrom(...ATOM), minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 5,
  })
  .map(atoms => atoms.join('.'))
  .filter(local => [...local].length <= 64);

test('of no local part more than the allowed characters are shown', () => {
  fc.assert(
    fc.property(locals, local => {
      const characters = [...local];
      const ends = characters.length === 1 ? 0 : characters.length < 6 ? 1 : 2;
      const tail = ends === 2 ? characters.slice(-2) : [];
      const shown = [...characters.slice(0, ends), '***', ...tail, '@gmail.com'].join('');
      expect(shownOf(`${local}@gmail.com`)).toBe(shown);
    }),
    { numRuns: 2_000 },
  );
});

test('two addresses whose ends are alike are told apart by nothing', () => {
  // With what is put around it no longer than a local part may be.
  const middles = locals.filter(({ length }) => length <= 58);
  fc.assert(
    fc.property(middles, middles, (one, other) => {
      const between = (middle: string) => JSON.stringify(parseAddress(`ab${middle}yz@gmail.com`));
      expect(between(`x${one}x`)).toBe(between(`x${other}x`));
    }),
  );
});

test('any text at all is an address, a domain or refused with a fixed sentence', () => {
  const sentences = new Set<string>();
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), text => {
      for (const typed of [text, `${text}@gmail.com`, `jane@${text}`]) {
        const parsed = parseAddress(typed);
        if (!parsed.ok) sentences.add(parsed.detail);
      }
    }),
    { numRuns: 300 },
  );
  expect(sentences.size).toBeLessThan(30);
});
