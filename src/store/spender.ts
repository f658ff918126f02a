/** Counts calls in the embedded store: many calls, one transaction, one fsync. */

import type { DatabaseSync } from 'node:sqlite';
import { LOCK_WAIT_MS } from './open.ts';

/** Calls of one key in one month that are counted together. */
export interface SpendGroup {
  readonly keyId: string;
  readonly month: string;
  readonly quota: number | null;
  readonly revision: number;
  readonly calls: number;
}

/** How many of the group's calls were granted, and the count after them; or that the revision has moved on. */
export type SpendResult = { readonly granted: number; readonly used: number } | 'changed';

const SQLITE_BUSY = 5;
const SYNCHRONOUS_FULL = 2;

export function createSpender(db: DatabaseSync): (groups: readonly SpendGroup[]) => SpendResult[] {
  // SQLite's own busy handler sleeps up to 100 ms between tries and starves beside a busy neighbour; ours
  // tries every millisecond or so. The whole wait is the same.
  db.exec('PRAGMA busy_timeout = 0');
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const readRevision = db.prepare('SELECT value FROM revision');
  const readUsed = db.prepare('SELECT used FROM usage WHERE key_id = ? AND month = ?');
  const count = db.prepare(`
    INSERT INTO usage (key_id, month, used) VALUES (?, ?, ?)
    ON CONFLICT (key_id, month) DO UPDATE SET used = used + excluded.used`);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let durable = false;

  function lock(): void {
    const deadline = performance.now() + LOCK_WAIT_MS;
    for (;;) {
      try {
        begin.run();
        return;
      } catch (error) {
        const busy = (Number((error as { errcode?: number }).errcode) & 0xff) === SQLITE_BUSY;
        if (!busy || performance.now() > deadline) throw error;
        Atomics.wait(pause, 0, 0, 0.5 + Math.random());
      }
    }
  }

  function grant(group: SpendGroup, revision: number): SpendResult {
    if (group.revision !== revision) return 'changed';
    const used = Number(readUsed.get(group.keyId, group.month)?.used ?? 0);
    const granted =
      group.quota === null ? group.calls : Math.min(group.calls, Math.max(0, group.quota - used));
    if (granted > 0) count.run(group.keyId, group.month, granted);
    return { granted, used: used + granted };
  }

  return groups => {
    lock();
    try {
      const revision = Number(readRevision.get()?.value);
      const results = groups.map(group => grant(group, revision));
      commit.run();
      // The pragma can be lost silently (a build default, a later statement), so it is read back once.
      durable ||= Number(db.prepare('PRAGMA synchronous').get()?.synchronous) === SYNCHRONOUS_FULL;
      if (!durable) throw new Error('the store is not durable: PRAGMA synchronous is not FULL');
      return results;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
}
