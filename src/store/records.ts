/** Keys, overrides and flags in the embedded store: everything but the count of calls. */

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Act } from '../core/audit.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Override, OverrideAction } from '../core/override.ts';
import type { DayUsage } from '../core/ports.ts';
import type { Flag, FlagReason } from '../core/ranking.ts';
import { RESTORE_AUDIT, readActs, writeAct } from './audit.ts';
import { RESTORE_HOSTS } from './hosts.ts';
import { toLines } from './lines.ts';
import { RESTORE_SNAPSHOTS } from './snapshots.ts';
import { inChunk, inTransaction } from './transaction.ts';

/** The table of flags stays below this; the least counted names go first. */
const MOST_FLAGS = 100_000;
/** Rows written or removed in one transaction, so that counting never waits long for the lock. */
const CHUNK = 500;

type Row = Record<string, SQLOutputValue>;

export type Records = ReturnType<typeof createRecords>;

export function createRecords(db: DatabaseSync) {
  const transaction = <T>(work: () => T): T => inTransaction(db, work);

  const readRevision = db.prepare('SELECT value FROM revision');
  const revision = () => Number(readRevision.get()?.value);

  /** A change that running servers must see before they answer their next call; false when there was nothing to do. */
  function change(act: Act, work: () => boolean): boolean {
    return transaction(() => {
      if (!work()) return false;
      writeAct(db, act);
      db.exec('UPDATE revision SET value = value + 1');
      return true;
    });
  }

  /** Two reads that belong together see one state of the database. */
  function snapshot<T>(work: () => T): T {
    db.exec('BEGIN');
    try {
      return work();
    } finally {
      db.exec('COMMIT');
    }
  }

  const selectByDigest = db.prepare('SELECT * FROM key WHERE digest = ?1 OR previous_digest = ?1');
  const selectAnyKey = db.prepare('SELECT 1 FROM key LIMIT 1');
  const hasKeys = () => selectAnyKey.get() !== undefined;
  const selectUsed = db.prepare('SELECT used FROM usage WHERE key_id = ? AND month = ?');
  const columns =
    'id, name, digest, prefix, last4, previous_digest, previous_until, quota, rate, origins, networks, created_at, expires_at, revoked_at';
  const places = columns.replaceAll(/\w+/g, '?');
  const insertKey = db.prepare(`INSERT INTO key (${columns}) VALUES (${places})`);
  const replaceKey = db.prepare(
    `UPDATE key SET (${columns}) = (${places}) WHERE (${columns}) IS (${places}) AND revoked_at IS NULL`,
  );
  const insertFlag = db.prepare(`
    INSERT INTO flag (day, domain, key_id, listed, reason, score) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET listed = excluded.listed, reason = excluded.reason, score = excluded.score`);

  function prune(sinceDay: string): void {
    const forget = db.prepare(
      'DELETE FROM flag WHERE (domain, day, key_id) IN (SELECT domain, day, key_id FROM flag WHERE day < ? LIMIT ?)',
    );
    while (inChunk(db, () => Number(forget.run(sinceDay, CHUNK).changes)) === CHUNK);
    const forgetDays = db.prepare(
      'DELETE FROM usage_day WHERE (key_id, day) IN (SELECT key_id, day FROM usage_day WHERE day < ? LIMIT ?)',
    );
    while (inChunk(db, () => Number(forgetDays.run(sinceDay, CHUNK).changes)) === CHUNK);
    const excess = Number(db.prepare('SELECT count(*) AS n FROM flag').get()?.n) - MOST_FLAGS;
    if (excess > 0) removeLeastCounted(excess + MOST_FLAGS / 20);
  }

  /** More rows than must go, so that a flood of names does not pay for this scan with every flush. */
  function removeLeastCounted(rows: number): void {
    const least = db
      .prepare(
        'SELECT domain FROM flag GROUP BY domain ORDER BY max(listed), count(*), max(day), domain LIMIT ?',
      )
      .all(rows);
    const remove = db.prepare(
      'DELETE FROM flag WHERE (domain, day, key_id) IN (SELECT domain, day, key_id FROM flag WHERE domain = ? ORDER BY day LIMIT ?)',
    );
    let removed = 0;
    for (let i = 0; removed < rows && i < least.length; ) {
      inChunk(db, () => {
        const until = Math.min(rows, removed + CHUNK);
        while (removed < until && i < least.length) {
          const changes = Number(remove.run(String(least[i]!.domain), until - removed).changes);
          removed += changes;
          if (removed < until) i++;
        }
      });
    }
  }

  /**
   * Keys that came after the backup are kept only for their counts, revoked. Of keys that are there the limits go back;
   * their secrets stay, and so does a revocation: what an operator took away since must not come back to life.
   */
  function restore(path: string, act: Act): void {
    db.prepare('ATTACH ? AS backup').run(path);
    try {
      change(act, () => {
        db.exec(`
          UPDATE key SET revoked_at = coalesce(revoked_at, unixepoch() * 1000)
            WHERE id NOT IN (SELECT id FROM backup.key);
          INSERT INTO key (${columns}) SELECT ${columns} FROM backup.key WHERE true
            ON CONFLICT (id) DO UPDATE SET
              name = excluded.name, quota = excluded.quota, rate = excluded.rate, origins = excluded.origins,
              networks = excluded.networks, created_at = excluded.created_at, expires_at = excluded.expires_at,
              revoked_at = coalesce(key.revoked_at, excluded.revoked_at);
          INSERT INTO usage (key_id, month, used) SELECT key_id, month, used FROM backup.usage WHERE true
            ON CONFLICT DO UPDATE SET used = max(used, excluded.used);
          INSERT INTO usage_day (key_id, day, used) SELECT key_id, day, used FROM backup.usage_day WHERE true
            ON CONFLICT DO UPDATE SET used = max(used, excluded.used);
          DELETE FROM override;
          INSERT INTO override SELECT * FROM backup.override;
          DELETE FROM flag;
          INSERT INTO flag SELECT * FROM backup.flag;
          ${RESTORE_HOSTS}
          ${RESTORE_SNAPSHOTS}
          ${RESTORE_AUDIT}`);
        return true;
      });
    } finally {
      db.exec('DETACH backup');
    }
  }

  return {
    revision,
    restore,
    keyByDigest: (digest: string) =>
      snapshot(() => {
        const row = selectByDigest.get(digest);
        return { key: row && keyFrom(row), revision: revision() };
      }),
    used: (keyId: string, month: string) => Number(selectUsed.get(keyId, month)?.used ?? 0),
    usedInMonth: (month: string): ReadonlyMap<string, number> =>
      new Map(
        db
          .prepare('SELECT key_id, used FROM usage WHERE month = ?')
          .all(month)
          .map(row => [String(row.key_id), Number(row.used)]),
      ),
    usageDays: (sinceDay: string, keyId: string | undefined): DayUsage[] =>
      db
        .prepare(
          `SELECT key_id, day, used FROM usage_day WHERE day >= ?1 ${keyId === undefined ? '' : 'AND key_id = ?2'}
          ORDER BY key_id, day`,
        )
        .all(...(keyId === undefined ? [sinceDay] : [sinceDay, keyId]))
        .map(row => ({ keyId: String(row.key_id), day: String(row.day), used: Number(row.used) })),
    createKey: (key: KeyRecord, act: Act) =>
      void change(act, () => insertKey.run(...keyValues(key)).changes === 1),
    // Asked at every start: where there is a key it must not need the lock that another process may hold.
    createFirstKey: (key: KeyRecord, act: Act) =>
      !hasKeys() && change(act, () => !hasKeys() && insertKey.run(...keyValues(key)).changes === 1),
    updateKey: (key: KeyRecord, was: KeyRecord, act: Act) =>
      change(act, () => replaceKey.run(...keyValues(key), ...keyValues(was)).changes === 1),
    listKeys: () => db.prepare('SELECT * FROM key ORDER BY created_at, id').all().map(keyFrom),

    setOverride: (o: Override, act: Act) =>
      void change(act, () => {
        db.prepare(
          'INSERT OR REPLACE INTO override (domain, action, below, note, author, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
        ).run(o.domain, o.action, Number(o.below), o.note, o.author, o.createdAt, o.expiresAt);
        return true;
      }),
    removeOverride: (domain: string, act: Act) =>
      change(act, () => db.prepare('DELETE FROM override WHERE domain = ?').run(domain).changes === 1),
    audit: (most: number) => readActs(db, most),
    listOverrides: () =>
      snapshot(() => ({
        overrides: db.prepare('SELECT * FROM override ORDER BY domain').all().map(overrideFrom),
        revision: revision(),
      })),

    flag(flags: readonly Flag[], sinceDay: string): void {
      for (let i = 0; i < flags.length; i += CHUNK) {
        inChunk(db, () => {
          for (const f of flags.slice(i, i + CHUNK)) {
            insertFlag.run(f.day, f.domain, f.keyId, Number(f.listed), f.reason, f.score);
          }
        });
      }
      prune(sinceDay);
    },
    // With a single max(), SQLite takes the other columns from that row: the latest day's verdict.
    ranking: (sinceDay: string, most: number, reason: string | undefined): string => {
      const rows = db
        .prepare(`
          SELECT domain, count(*) AS times, sum(listed) > 0 AS listed, reason, score, max(day) FROM flag WHERE day >= ?1
          GROUP BY domain
          HAVING (sum(listed) > 0 OR count(DISTINCT key_id) > 1) AND (?3 IS NULL OR reason = ?3)
          ORDER BY times DESC, score DESC, domain LIMIT ?2`)
        .all(sinceDay, most, reason ?? null);
      return toLines(
        rows.map(row => ({
          domain: String(row.domain),
          times: Number(row.times),
          listed: row.listed === 1,
          reason: row.reason as FlagReason,
          score: Number(row.score),
        })),
      );
    },
  };
}

const orNull = (value: SQLOutputValue | undefined) =>
  value === null || value === undefined ? null : Number(value);

function keyFrom(row: Row): KeyRecord {
  return {
    id: String(row.id),
    name: String(row.name),
    digest: String(row.digest),
    prefix: String(row.prefix),
    last4: String(row.last4),
    previousDigest: row.previous_digest === null ? null : String(row.previous_digest),
    previousUntil: orNull(row.previous_until),
    quota: orNull(row.quota),
    rate: orNull(row.rate),
    origins: JSON.parse(String(row.origins)),
    networks: JSON.parse(String(row.networks)),
    createdAt: Number(row.created_at),
    expiresAt: orNull(row.expires_at),
    revokedAt: orNull(row.revoked_at),
  };
}

function keyValues(k: KeyRecord) {
  return [
    ...[k.id, k.name, k.digest, k.prefix, k.last4, k.previousDigest, k.previousUntil, k.quota, k.rate],
    ...[JSON.stringify(k.origins), JSON.stringify(k.networks), k.createdAt, k.expiresAt, k.revokedAt],
  ];
}

function overrideFrom(row: Row): Override {
  return {
    domain: String(row.domain),
    action: row.action as OverrideAction,
    below: row.below === 1,
    note: row.note === null ? null : String(row.note),
    author: row.author === null ? null : String(row.author),
    createdAt: Number(row.created_at),
    expiresAt: orNull(row.expires_at),
  };
}
