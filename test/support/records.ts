/** Nouns of the core as tests need them: everything as plain as can be, but for what a test is about. */

import type { KeyRecord } from '../../src/core/key.ts';
import type { Override } from '../../src/core/override.ts';

export function keyRecord(facts: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: 'k1',
    name: 'Shop',
    note: null,
    digest: 'digest',
    prefix: 'drk_0000',
    last4: '0000',
    previousDigest: null,
    previousUntil: null,
    former: null,
    quota: null,
    rate: null,
    origins: [],
    networks: [],
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
    ...facts,
  };
}

export function overrideOf(domain: string, facts: Partial<Override> = {}): Override {
  return {
    domain,
    action: 'deny',
    below: false,
    note: null,
    author: null,
    createdAt: 0,
    expiresAt: null,
    ...facts,
  };
}
