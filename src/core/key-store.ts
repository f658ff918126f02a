/** What of a store belongs to keys: their records, found by whatever operators call them. */

import type { Act } from './audit.ts';
import type { KeyRecord } from './key.ts';

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
  /** All there are, which may be many. */
  listKeys(): Promise<KeyRecord[]>;
}
