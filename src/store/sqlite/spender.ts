/** Counts calls in the embedded store by group commits: many calls, one transaction, one fsync. */

import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../../core/ports.ts';
import { monthOfDay } from '../../core/quota.ts';
import type { SpendGroup, SpendResult } from '../batch.ts';
import { codeOf, SQLITE } from './codes.ts';
import { takeLock } from './lock.ts';

const SYNCHRONOUS_FULL = 2;

export interface Spender {
  spend(groups: readonly SpendGroup[]): SpendResult[];
  /** Writes durably, as a count would, and leaves everything as it was. */
  prove(): void;
}

export function createSpender(db: DatabaseSync): Spender {
  db.exec('PRAGMA busy_timeout = 0');
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const readRevision = db.prepare('SELECT value FROM revision');
  const change = db.prepare('UPDATE revision SET value = value + ?');
  const readUsed = db.prepare('SELECT used FROM usage WHERE key_id = ? AND month = ?');
  const count = db.prepare(`
    INSERT INTO usage (key_id, month, used, last_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (key_id, month) DO UPDATE SET used = used + excluded.used, last_at = excluded.last_at`);
  const countDay = db.prepare(`
    INSERT INTO usage_day (key_id, day, used) VALUES (?, ?, ?)
    ON CONFLICT (key_id, day) DO UPDATE SET used = used + excluded.used`);
  let durable = false;
  const relief = relieving(db);

  function grant(group: SpendGroup, revision: number): SpendResult {
    if (group.revision !== revision) return 'changed';
    const month = monthOfDay(group.day);
    const used = Number(readUsed.get(group.keyId, month)?.used ?? 0);
    const left = group.quota === null ? Number.POSITIVE_INFINITY : Math.max(0, group.quota - used);
    const { whole = 0 } = group;
    const first = whole <= left ? whole : 0;
    const granted = first + Math.min(group.calls, left - first);
    if (granted > 0) {
      count.run(group.keyId, month, granted, Date.now());
      countDay.run(group.keyId, group.day, granted);
    }
    return { granted, used: used + granted };
  }

  function transaction<T>(work: () => T): T {
    takeLock(() => void begin.run());
    try {
      const result = work();
      commit.run();
      // The pragma can be lost silently (a build default, a later statement), so it is read back once.
      durable ||= Number(db.prepare('PRAGMA synchronous').get()?.synchronous) === SYNCHRONOUS_FULL;
      if (!durable) throw new StoreUnavailable('the store is not durable: PRAGMA synchronous is not FULL');
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      relief(error);
      throw error;
    }
  }

  return {
    spend: groups =>
      transaction(() => {
        const revision = Number(readRevision.get()?.value);
        return groups.map(group => grant(group, revision));
      }),
    // There and back: SQLite writes nothing for a row that is set to what it is already.
    prove: () =>
      transaction(() => {
        change.run(1);
        change.run(-1);
      }),
  };
}

const RELIEF_MS = 1_000;

/**
 * SQLite empties the journal (a checkpoint of the WAL) behind a commit that succeeds. One that grew beside a long reader until
 * the disk was full, or its limit reached, would stay as it is for ever: so it is tried behind one that fails too.
 */
function relieving(db: DatabaseSync): (error: unknown) => void {
  let last = Number.NEGATIVE_INFINITY;
  return error => {
    const code = codeOf(error);
    const now = performance.now();
    if ((code !== SQLITE.full && code !== SQLITE.ioerr) || now - last < RELIEF_MS) return;
    last = now;
    try {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // The error before says why.
    }
  };
}
