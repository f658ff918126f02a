/** Counts calls in the embedded store by group commits: many calls, one transaction, one fsync. */

import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable, type Ticks } from '../../core/ports.ts';
import { monthOfDay } from '../../core/quota.ts';
import type { SpendGroup, SpendResult } from '../spend-group.ts';
import { codeOf, SQLITE } from './codes.ts';
import { takeLock } from './lock.ts';
import { isFull } from './open.ts';

const SYNCHRONOUS_FULL = 2;

export interface Spender {
  spend(groups: readonly SpendGroup[]): SpendResult[];
  /** Writes durably, as a count would, and leaves everything as it was. */
  prove(): void;
}

export function createSpender(
  db: DatabaseSync,
  ticks: Ticks = () => performance.now(),
  hasRoom = () => !isFull(dirname(db.location()!), LEAST_ROOM),
): Spender {
  db.exec('PRAGMA busy_timeout = 0');
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const readRevision = db.prepare('SELECT value FROM revision');
  const grant = granter(db);
  const changes = changesOn(db);
  let durable = false;
  const doubt = doubting({ relieve: relieving(db, ticks), ticks, hasRoom });

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
      doubt.note(error);
      throw error;
    }
  }

  return {
    spend: groups =>
      transaction(() => {
        const revision = Number(readRevision.get()?.value);
        return groups.map(group => grant(group, revision));
      }),
    prove() {
      doubt.ask();
      // There and back: SQLite writes nothing for a row that is set to what it is already.
      transaction(() => {
        for (const by of [1, -1]) for (const change of changes) change.run(by);
      });
      doubt.end();
    },
  };
}

/** As many calls of a key as its quota has left. */
function granter(db: DatabaseSync) {
  const readUsed = db.prepare('SELECT used FROM usage WHERE key_id = ? AND month = ?');
  const count = db.prepare(`
    INSERT INTO usage (key_id, month, used, last_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (key_id, month) DO UPDATE SET used = used + excluded.used, last_at = excluded.last_at`);
  const countDay = db.prepare(`
    INSERT INTO usage_day (key_id, day, used) VALUES (?, ?, ?)
    ON CONFLICT (key_id, day) DO UPDATE SET used = used + excluded.used`);

  return function grant(group: SpendGroup, revision: number): SpendResult {
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
  };
}

/** Of one row of each table that a count writes to: what is proved is that there is room for as many pages. */
function changesOn(db: DatabaseSync) {
  return [
    'UPDATE revision SET value = value + ?',
    'UPDATE usage SET used = used + ? WHERE (key_id, month) IN (SELECT key_id, month FROM usage LIMIT 1)',
    'UPDATE usage_day SET used = used + ? WHERE (key_id, day) IN (SELECT key_id, day FROM usage_day LIMIT 1)',
  ].map(sql => db.prepare(sql));
}

const RELIEF_MS = 1_000;
const DOUBT_MS = 2_000;
/** A quarter of what the journal takes before it is emptied: with less it fills the disk again at once. */
const LEAST_ROOM = 2 ** 20;

const isOfDisk = (error: unknown) => [SQLITE.full, SQLITE.ioerr].some(code => code === codeOf(error));

/**
 * Behind a count that the disk did not take. The journal that is emptied then makes room for a few more, and a proof fits
 * where nearly all calls fail: so nothing is proved for a while, nor for as long as there is no room to go on with.
 */
function doubting(parts: { relieve(): void; readonly ticks: Ticks; hasRoom(): boolean }) {
  const { relieve, ticks, hasRoom } = parts;
  let why: { readonly error: unknown; readonly at: number } | undefined;
  return {
    note(error: unknown): void {
      if (!isOfDisk(error)) return;
      why = { error, at: ticks() };
      relieve();
    },
    /** Throws for as long as there is any. Where no calls come, nobody else makes room. */
    ask(): void {
      if (!why) return;
      relieve();
      if (ticks() - why.at < DOUBT_MS || !hasRoom()) throw why.error;
    },
    end(): void {
      why = undefined;
    },
  };
}

/**
 * SQLite empties the journal (a checkpoint of the WAL) behind a commit that succeeds. One that grew beside a long reader until
 * the disk was full, or its limit reached, would stay as it is for ever: so it is tried behind one that fails too.
 */
function relieving(db: DatabaseSync, ticks: Ticks): () => void {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = ticks();
    if (now - last < RELIEF_MS) return;
    last = now;
    try {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // The error before says why.
    }
  };
}
