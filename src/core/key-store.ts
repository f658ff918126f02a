/** What of a store belongs to keys: their records, found by whatever operators call them. */

import type { Act } from './audit.ts';
import type { KeyRecord } from './key.ts';

/** What became of a key. */
export interface KeyUses {
  readonly key: KeyRecord;
  /** In the month that was asked for. */
  readonly used: number;
  /** Null where it never was, or not since this is noted. */
  readonly lastUsedAt: number | null;
  /** By day; one without a call is not there. */
  readonly days: Readonly<Record<string, number>>;
}

/** Where a page of keys ends. */
export type KeyMark = Pick<KeyRecord, 'createdAt' | 'id'>;
export const BEFORE_ALL_KEYS: KeyMark = { createdAt: Number.MIN_SAFE_INTEGER, id: '' };

export interface KeysQuery {
  readonly month: string;
  /** Of days before it nothing is told. */
  readonly sinceDay: string;
  readonly after: KeyMark;
  /** `KEYS_AT_ONCE` at the most. */
  readonly most: number;
}

/** What comes of so many, with 30 days each, takes the event loop a millisecond (2026-11-19). */
export const KEYS_AT_ONCE = 100;

export interface KeyStore {
  /** False where one that is not revoked has its name, or one that people take for it, and no other may have it. */
  createKey(key: KeyRecord, act: Act, isNameUnique?: boolean): Promise<boolean>;
  /** Only into a store that has no key at all; false when there is one. */
  createFirstKey(key: KeyRecord, act: Act): Promise<boolean>;
  /**
   * Compare and swap: replaces the record `was`; false when it is not, or no longer, what is stored, when it is revoked:
   * that stays as it is, and when another that is not has its new name, or one that people take for it. So of two
   * operators at once none undoes what the other did.
   */
  updateKey(key: KeyRecord, was: KeyRecord, act: Act): Promise<boolean>;
  keyById(id: string): Promise<KeyRecord | undefined>;
  /** Live ones of that name, or of one that people take for it. */
  keysNamed(name: string): Promise<KeyRecord[]>;
  /** Of the one with this id, or where none has it of all with exactly this name, revoked ones too. */
  keyIdsOf(idOrName: string): Promise<string[]>;
  /** Those that are there, by id. */
  keyNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The oldest first. Each is made when it is asked for. */
  readKeys(query: KeysQuery): Promise<Iterable<KeyUses>>;
  /** All there are, which may be many: not for a server. */
  listKeys(): Promise<KeyRecord[]>;
}
