import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  bearerSecret,
  digestOf,
  givenOf,
  isLive,
  isWellFormedSecret,
  type KeyRecord,
  secretFrom,
  shownParts,
} from '../../src/core/key.ts';
import { keyRecord } from '../support/records.ts';

const NOW = 1_000;
const DIGEST = 'digest';
const OLD = 'digest of the secret before';

const key = (facts: Partial<KeyRecord> = {}) => keyRecord({ digest: DIGEST, ...facts });

describe('a key', () => {
  test.each<[string, Partial<KeyRecord>, string, boolean]>([
    ['opens the door with its secret', {}, DIGEST, true],
    ['does not with another one', {}, 'another', false],
    ['that was revoked is closed from that instant on', { revokedAt: NOW }, DIGEST, false],
    ['that was revoked before is closed', { revokedAt: NOW - 1 }, DIGEST, false],
    ['that will be revoked is open until then', { revokedAt: NOW + 1 }, DIGEST, true],
    ['that ends is open until the instant before', { expiresAt: NOW + 1 }, DIGEST, true],
    ['that ends is closed at that instant', { expiresAt: NOW }, DIGEST, false],
    ['that has ended is closed', { expiresAt: NOW - 1 }, DIGEST, false],
    ['that was rotated is open to the new secret', { previousDigest: OLD, previousUntil: NOW }, DIGEST, true],
    [
      'that was rotated is open to the old secret until the instant before',
      { previousDigest: OLD, previousUntil: NOW + 1 },
      OLD,
      true,
    ],
    [
      'that was rotated is closed to the old secret at that instant',
      { previousDigest: OLD, previousUntil: NOW },
      OLD,
      false,
    ],
    [
      'that was rotated without overlap is closed to the old secret',
      { previousDigest: OLD, previousUntil: null },
      OLD,
      false,
    ],
    [
      'that was rotated and revoked is closed to both',
      { previousDigest: OLD, previousUntil: NOW + 9, revokedAt: NOW },
      OLD,
      false,
    ],
    [
      'that was rotated and has ended is closed to both',
      { previousDigest: OLD, previousUntil: NOW + 9, expiresAt: NOW },
      OLD,
      false,
    ],
    [
      'that was rotated is closed to any third',
      { previousDigest: OLD, previousUntil: NOW + 9 },
      'another',
      false,
    ],
  ])('%s', (_, facts, digest, open) => {
    expect(isLive(key(facts), digest, NOW)).toBe(open);
  });
});

const bytes = (fill: number) => new Uint8Array(32).fill(fill);
const SECRET = secretFrom(bytes(7));

test('of limits those count that were given: null takes one away, and what is left out stays as it is', () => {
  const left = { name: undefined, note: undefined, origins: undefined, networks: undefined };
  const limits = givenOf({ ...left, quota: 0, rate: null, expiresAt: undefined });
  expect(limits).toStrictEqual({ quota: 0, rate: null });
});

describe('a secret', () => {
  test('has the same shape whatever the bytes, and the same text for the same bytes', () => {
    for (const fill of [0, 1, 7, 255]) {
      expect(secretFrom(bytes(fill))).toMatch(/^drk_[0-9A-Za-z]{49}$/);
      expect(isWellFormedSecret(secretFrom(bytes(fill)))).toBe(true);
    }
    // Fixed for ever: callers hold secrets that were made long ago.
    expect(secretFrom(bytes(0)).slice(0, 47)).toBe(`drk_${'0'.repeat(43)}`);
    expect(secretFrom(Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? 62 : 0))).slice(0, 47)).toBe(
      `drk_${'0'.repeat(41)}10`,
    );
    expect(secretFrom(bytes(255))).not.toBe(secretFrom(bytes(254)));
  });

  test.each([0, 31, 33])('cannot be made of %i bytes', length => {
    expect(() => secretFrom(new Uint8Array(length))).toThrow('a secret needs exactly 32 random bytes');
  });

  test.each([
    ['nothing', ''],
    ['one character less', SECRET.slice(0, -1)],
    ['one character more', `${SECRET}0`],
    ['another mark', `drx_${SECRET.slice(4)}`],
    ['its first character mistyped', `drk_${SECRET[4] === 'a' ? 'b' : 'a'}${SECRET.slice(5)}`],
    ['its last character mistyped', SECRET.slice(0, -1) + (SECRET.endsWith('a') ? 'b' : 'a')],
  ])('with %s is known to be none without asking the store', (_, text) => {
    expect(isWellFormedSecret(text)).toBe(false);
  });

  test.each([
    ['another mark', `drx_${'0'.repeat(43)}`],
    ['one character less', `drk_${'0'.repeat(42)}`],
    ['one character more', `drk_${'0'.repeat(44)}`],
  ])('with %s is none, though its checksum is right', (_, body) => {
    let checksum = '';
    for (let rest = crc32(body); checksum.length < 6; rest = Math.floor(rest / 62)) {
      const digit = rest % 62;
      // The digits, then the letters, capitals first.
      checksum = (digit < 36 ? digit.toString(36).toUpperCase() : (digit - 26).toString(36)) + checksum;
    }
    expect(isWellFormedSecret(body + checksum)).toBe(false);
  });

  test('is kept as its SHA-256, and shown by its first and last characters', () => {
    expect(digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(shownParts(SECRET)).toEqual({ prefix: SECRET.slice(0, 8), last4: SECRET.slice(-4) });
  });
});

describe('an Authorization header', () => {
  test.each([`Bearer ${SECRET}`, `bearer ${SECRET}`, `BEARER ${SECRET}`])('%s brings the secret', header => {
    expect(bearerSecret(header)).toBe(SECRET);
  });

  test.each([
    ['of nothing', ''],
    ['of the secret alone', SECRET],
    ['with another scheme of that length', `Digest ${SECRET}`],
    ['with a tab', `Bearer\t${SECRET}`],
    ['with two spaces', `Bearer  ${SECRET}`],
    ['with two spaces and one character less', `Bearer  ${SECRET.slice(0, -1)}`],
    ['with a space behind', `Bearer ${SECRET} `],
    ['with another mark', `Bearer drx_${SECRET.slice(4)}`],
    ['with two secrets', `Bearer ${SECRET}, Bearer ${SECRET}`],
    ['one character short', `Bearer ${SECRET.slice(0, -1)}`],
  ])('%s brings none', (_, header) => {
    expect(bearerSecret(header)).toBeUndefined();
  });
});
