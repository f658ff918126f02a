/** API keys: the record that is kept, and the secret that only the caller holds. */

import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { toSecond } from './quota.ts';

export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  /** The operator's own words about it, one line. */
  readonly note: string | null;
  /** SHA-256 of the secret, in hex. The secret itself is never stored. */
  readonly digest: string;
  /** What may be shown to tell keys apart: the first and the last characters of the secret. */
  readonly prefix: string;
  readonly last4: string;
  /** After a rotation with overlap, the digest of the old secret and the moment it stops to be valid. */
  readonly previousDigest: string | null;
  readonly previousUntil: number | null;
  /** Digests of all its secrets that were rotated away, the oldest first; null where none was since this is noted. */
  readonly former: readonly string[] | null;
  /** Calls per calendar month in UTC; null is unlimited, 0 is none. */
  readonly quota: number | null;
  /** Calls per second; null is no limit. */
  readonly rate: number | null;
  readonly origins: readonly string[];
  readonly networks: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** What an operator decides about a key. */
export type Limits = Pick<
  KeyRecord,
  'name' | 'note' | 'quota' | 'rate' | 'origins' | 'networks' | 'expiresAt'
>;

/** Of a key about which nothing was decided but its name. */
export const NO_LIMITS: Omit<Limits, 'name'> = {
  note: null,
  quota: null,
  rate: null,
  origins: [],
  networks: [],
  expiresAt: null,
};

export function limitsOf({ name, note, quota, rate, origins, networks, expiresAt }: Limits): Limits {
  return { name, note, quota, rate, origins, networks, expiresAt };
}

/** Those that were given: what is undefined stays as it is. The compiler asks whoever reads limits for every one. */
export function givenOf(limits: { readonly [L in keyof Limits]: Limits[L] | undefined }): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** Of keys with names that are alike, those that have this very one, or else all. */
export function namedOf(keys: readonly KeyRecord[], name: string): readonly KeyRecord[] {
  const exact = keys.filter(key => key.name === name);
  return exact.length > 0 ? exact : keys;
}

/**
 * Of so many in use a server remembers all: one that must be read first takes twice as long. 0.9 kB each, and nobody makes
 * any but an operator (2026-11-18).
 */
export const MOST_REMEMBERED = 100_000;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Every secret begins with it. */
export const SECRET_PREFIX = 'drk_';
const RANDOM_LENGTH = 43; // 62^43 > 2^256
const CHECK_LENGTH = 6; // 62^6 > 2^32
const SECRET_LENGTH = SECRET_PREFIX.length + RANDOM_LENGTH + CHECK_LENGTH;

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECK_LENGTH);
}

/** Makes a secret from 32 random bytes. */
export function secretFrom(random: Uint8Array): string {
  if (random.length !== 32) throw new RangeError('a secret needs exactly 32 random bytes');
  const body = SECRET_PREFIX + base62(BigInt(`0x${Buffer.from(random).toString('hex')}`), RANDOM_LENGTH);
  return body + checksum(body);
}

/** False for what cannot be a secret of ours: found out without asking the store. */
export function isWellFormedSecret(text: string): boolean {
  if (text.length !== SECRET_LENGTH || !text.startsWith(SECRET_PREFIX)) return false;
  const body = text.slice(0, -CHECK_LENGTH);
  return checksum(body) === text.slice(-CHECK_LENGTH);
}

export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

export function shownParts(secret: string): { prefix: string; last4: string } {
  return { prefix: secret.slice(0, SECRET_PREFIX.length + 4), last4: secret.slice(-4) };
}

/**
 * Whether the secret with this digest opens the door now. Plain comparison: a caller cannot steer the digest of a secret
 * that he does not have, so how long it takes tells him nothing (no timing attack).
 */
export function isLive(key: KeyRecord, digest: string, now: number): boolean {
  if (key.revokedAt !== null && key.revokedAt <= now) return false;
  if (key.expiresAt !== null && key.expiresAt <= now) return false;
  if (key.digest === digest) return true;
  return key.previousDigest === digest && key.previousUntil !== null && now < key.previousUntil;
}

const SCHEME = /^bearer $/i;
const SCHEME_LENGTH = 'Bearer '.length;

/** What stands behind the scheme of an `Authorization` value, which is in any case, and exactly one space (RFC 6750). */
export function bearerOf(authorization: string): string | undefined {
  const isBearer = SCHEME.test(authorization.slice(0, SCHEME_LENGTH));
  return isBearer ? authorization.slice(SCHEME_LENGTH) : undefined;
}

/** That, where it may be a secret of ours. */
export function bearerSecret(authorization: string): string | undefined {
  if (authorization.length !== SCHEME_LENGTH + SECRET_LENGTH) return undefined;
  return authorization.startsWith(SECRET_PREFIX, SCHEME_LENGTH) ? bearerOf(authorization) : undefined;
}

/** By the words that the audit has for them: the compiler asks for a limit that would change unseen. */
type Words = Readonly<Record<Exclude<keyof Limits, 'expiresAt'> | 'expires', string>>;

function inWords(limits: Limits): Words {
  return {
    name: JSON.stringify(limits.name),
    note: limits.note === null ? 'none' : JSON.stringify(limits.note),
    quota: String(limits.quota ?? 'unlimited'),
    rate: String(limits.rate ?? 'unlimited'),
    origins: limits.origins.join(' ') || 'any',
    networks: limits.networks.join(' ') || 'any',
    expires: limits.expiresAt === null ? 'never' : toSecond(limits.expiresAt),
  };
}

/** What differs, for the audit. */
export function changesIn(before: Limits, after: Limits): string {
  const [was, is] = [inWords(before), inWords(after)];
  const changed = (Object.keys(is) as (keyof Words)[]).filter(name => is[name] !== was[name]);
  return changed.map(name => `${name} ${was[name]} → ${is[name]}`).join(', ');
}

/** The limits that are set, for the audit. */
export function limitsIn(limits: Limits): string {
  const [is, none] = [inWords(limits), inWords({ ...NO_LIMITS, name: '' })];
  const set = (Object.keys(is) as (keyof Words)[]).filter(name => is[name] !== none[name]);
  return set.map(name => `${name} ${is[name]}`).join(', ');
}
