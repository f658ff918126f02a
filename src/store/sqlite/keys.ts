/** API keys in the embedded store. */

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { Revisions } from './revision.ts';

const COLUMNS =
  'id, name, digest, prefix, last4, previous_digest, previous_until, quota, rate, origins, networks, created_at, expires_at, revoked_at';
const PLACES = COLUMNS.replaceAll(/\w+/g, '?');

export type Keys = ReturnType<typeof createKeys>;

export function createKeys(db: DatabaseSync, { revision, change, together }: Revisions) {
  const selectByDigest = db.prepare('SELECT * FROM key WHERE digest = ?1 OR previous_digest = ?1');
  const selectAnyKey = db.prepare('SELECT 1 FROM key LIMIT 1');
  const hasKeys = () => selectAnyKey.get() !== undefined;
  const insertKey = db.prepare(`INSERT INTO key (${COLUMNS}) VALUES (${PLACES})`);
  const replaceKey = db.prepare(
    `UPDATE key SET (${COLUMNS}) = (${PLACES}) WHERE (${COLUMNS}) IS (${PLACES}) AND revoked_at IS NULL`,
  );

  return {
    keyByDigest: (digest: string) =>
      together(() => {
        const row = selectByDigest.get(digest);
        return { key: row && keyFrom(row), revision: revision() };
      }),
    createKey: (key: KeyRecord, act: Act) =>
      void change(act, () => insertKey.run(...keyValues(key)).changes === 1),
    // Asked at every start: where there is a key it must not need the lock that another process may hold.
    createFirstKey: (key: KeyRecord, act: Act) =>
      !hasKeys() && change(act, () => !hasKeys() && insertKey.run(...keyValues(key)).changes === 1),
    updateKey: (key: KeyRecord, was: KeyRecord, act: Act) =>
      change(act, () => replaceKey.run(...keyValues(key), ...keyValues(was)).changes === 1),
    listKeys: () => db.prepare('SELECT * FROM key ORDER BY created_at, id').all().map(keyFrom),
  };
}

/**
 * Keys that came after the backup are kept only for their counts, revoked. Of keys that are there the limits go back;
 * their secrets stay, and so does a revocation: what an operator took away since must not come back to life.
 */
export const RESTORE_KEYS = `
  UPDATE key SET revoked_at = coalesce(revoked_at, unixepoch() * 1000)
    WHERE id NOT IN (SELECT id FROM backup.key);
  INSERT INTO key (${COLUMNS}) SELECT ${COLUMNS} FROM backup.key WHERE true
    ON CONFLICT (id) DO UPDATE SET
      name = excluded.name, quota = excluded.quota, rate = excluded.rate, origins = excluded.origins,
      networks = excluded.networks, created_at = excluded.created_at, expires_at = excluded.expires_at,
      revoked_at = coalesce(key.revoked_at, excluded.revoked_at);`;

const orNull = (value: SQLOutputValue | undefined) =>
  value === null || value === undefined ? null : Number(value);

function keyFrom(row: Record<string, SQLOutputValue>): KeyRecord {
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
