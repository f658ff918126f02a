import { describe, expect, test } from 'vitest';
import { findOverride, type Override } from '../../src/core/override.ts';
import { overrideOf as override } from '../support/records.ts';

const NOW = 1_000;
const LINEAGE = ['x.shop.acme.com', 'shop.acme.com', 'acme.com'];

describe('what an operator decided about x.shop.acme.com', () => {
  test.each<[string, Override[], string | undefined]>([
    ['is nothing without an override', [], undefined],
    ['is nothing with an override of another name', [override('other.com', { below: true })], undefined],
    ['is the override of the name', [override('x.shop.acme.com')], 'x.shop.acme.com'],
    ['is not the override of a parent alone', [override('acme.com')], undefined],
    ['is the override of a parent that reaches below', [override('acme.com', { below: true })], 'acme.com'],
    [
      'is the nearest of two that reach below',
      [override('acme.com', { below: true }), override('shop.acme.com', { below: true })],
      'shop.acme.com',
    ],
    [
      'is the one of the name before one that reaches below',
      [override('acme.com', { below: true }), override('x.shop.acme.com')],
      'x.shop.acme.com',
    ],
    [
      'stands until the instant before it ends',
      [override('x.shop.acme.com', { expiresAt: NOW + 1 })],
      'x.shop.acme.com',
    ],
    ['has ended at that instant', [override('x.shop.acme.com', { expiresAt: NOW })], undefined],
    [
      'has ended, and a parent decides',
      [override('x.shop.acme.com', { expiresAt: NOW - 1 }), override('acme.com', { below: true })],
      'acme.com',
    ],
  ])('%s', (_, overrides, decides) => {
    const all = new Map(overrides.map(one => [one.domain, one]));
    expect(findOverride(all, LINEAGE, NOW)?.domain).toBe(decides);
  });
});
