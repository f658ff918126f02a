/** API keys in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import { ENDING_AT_ONCE, type EndingKey, type EndingQuery } from '../../core/event.ts';
import type { KeyRecord } from '../../core/key.ts';
import { KEY } from '../columns.ts';
import { createIdsNamed } from './key-names.ts';
import type { Revisions } from './revision.ts';

const { names, sqlite } = KEY;

export type Keys = ReturnType<typeof createKeys>;

export function createKeys(db: DatabaseSync, { revision, change, together }: Revisions) {
  const selectByDigest = db.prepare(`SELECT ${names} FROM key WHERE digest = ?1 OR previous_digest = ?1`);
  const selectAnyKey = db.prepare('SELECT 1 FROM key LIMIT 1');
  const selectById = db.prepare(`SELECT ${names} FROM key WHERE id = ?`);
  const idsNamed = createIdsNamed(db);
  const hasKeys = () => selectAnyKey.get() !== undefined;
  const insertKey = db.prepare(`INSERT INTO key (${names}) VALUES (${sqlite.places})`);
  const replaceKey = db.prepare(
    `UPDATE key SET (${names}) = (${sqlite.places}) WHERE (${names}) IS (${sqlite.places}) AND revoked_at IS NULL`,
  );

  const isTaken = ({ id, name }: KeyRecord) => idsNamed(name).some(other => other !== id);
  const keyById = (id: string): KeyRecord | undefined => {
    const row = selectById.get(id);
    return row && sqlite.record(row);
  };

  return {
    keysByDigest: (digests: readonly string[]) =>
      together(() => {
        const rows = digests.map(digest => selectByDigest.get(digest));
        return { keys: rows.map(row => row && sqlite.record(row)), revision: revision() };
      }),
    createKey: (key: KeyRecord, act: Act, isNameUnique: boolean): boolean =>
      change(
        act,
        () => !(isNameUnique && isTaken(key)) && insertKey.run(...sqlite.values(key)).changes === 1,
      ),
    // Asked at every start: where there is a key it must not need the lock that another process may hold.
    createFirstKey: (key: KeyRecord, act: Act) =>
      !hasKeys() && change(act, () => !hasKeys() && insertKey.run(...sqlite.values(key)).changes === 1),
    updateKey: (key: KeyRecord, was: KeyRecord, act: Act) =>
      change(act, () => {
        if (key.name !== was.name && isTaken(key)) return false;
        return replaceKey.run(...sqlite.values(key), ...sqlite.values(was)).changes === 1;
      }),
    endingKeys: ({ month, share, expiresBy, after }: EndingQuery): EndingKey[] =>
      db
        .prepare(
          `SELECT ${names}, (SELECT used FROM usage WHERE key_id = id AND month = ?1) AS used FROM key
          WHERE id > ?4 AND revoked_at IS NULL
            AND (expires_at <= ?3
              OR quota * ?2 <= (SELECT used FROM usage WHERE key_id = id AND month = ?1))
          ORDER BY id LIMIT ${ENDING_AT_ONCE}`,
        )
        .all(month, share, expiresBy, after)
        .map(row => ({ key: sqlite.record(row), used: Number(row.used) })),
    keyById,
    keysNamed: (name: string) => together(() => idsNamed(name).map(id => keyById(id)!)),
    listKeys: () => db.prepare(`SELECT ${names} FROM key ORDER BY created_at, id`).all().map(sqlite.record),
  };
}
