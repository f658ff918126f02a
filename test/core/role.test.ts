import { expect, test } from 'vitest';
import { roleWord } from '../../src/core/role.ts';

const WORDS = new Set(['noreply', 'bounces', 'a']);

test.each<[string, string | undefined, string | undefined]>([
  ['noreply.acme.com', 'acme.com', 'noreply'],
  ['eu.bounces.acme.com', 'acme.com', 'bounces'],
  ['bounces.eu.acme.com', 'acme.com', 'bounces'],
  ['noreply.bounces.acme.com', 'acme.com', 'noreply'],
  ['bounces.noreply.co.uk', 'noreply.co.uk', 'bounces'],
  // The registrable domain itself is somebody's name.
  ['noreply.com', 'noreply.com', undefined],
  ['eu.noreply.com', 'noreply.com', undefined],
  // Whole labels only.
  ['noreply2.acme.com', 'acme.com', undefined],
  ['my-noreply.acme.com', 'acme.com', undefined],
  ['eu.acme.com', 'acme.com', undefined],
  ['acme.com', 'acme.com', undefined],
  ['noreply', undefined, undefined],
  ['noreply.github.io', undefined, undefined],
])('%s of %s is set aside for automated mail by the word %s', (name, registrable, word) => {
  expect(roleWord(name, registrable, WORDS)).toBe(word);
});
