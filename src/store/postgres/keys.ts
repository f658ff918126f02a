/** API keys in the shared store. */

import type { ClientBase } from 'pg';
import type { Act } from '../../core/audit.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { Connections } from './connect.ts';
import type { Revisions } from './revision.ts';

const KEY_COLUMNS =
  'id, name, digest, prefix, last4, previous_digest, previous_until, quota, rate, origins, networks, created_at, expires_at, revoked_at';
const KEY_VALUES = '$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14';
const KEY_VALUES_BEFORE = '$15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28';

/** As the core names them, so that a row is a record. */
const KEY = `
  key.id, name, digest, prefix, last4, previous_digest AS "previousDigest", previous_until AS "previousUntil", quota, rate,
  origins, networks, created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt"`;

export function createKeys({ run }: Connections, { change }: Revisions) {
  const hasKeys = async (client: ClientBase) =>
    (await client.query('SELECT 1 FROM key LIMIT 1')).rows.length > 0;
  async function insertKey(client: ClientBase, key: KeyRecord): Promise<boolean> {
    await client.query(`INSERT INTO key (${KEY_COLUMNS}) VALUES (${KEY_VALUES})`, keyValues(key));
    return true;
  }

  return {
    /** One statement sees one state of the database: the record and the revision belong together. */
    keyByDigest: (digest: string) =>
      run(async client => {
        const { rows } = await client.query({
          name: 'key-by-digest',
          text: `SELECT revision.value AS revision, ${KEY}
            FROM revision LEFT JOIN key ON digest = $1 OR previous_digest = $1`,
          values: [digest],
        });
        const { revision, ...key } = rows[0];
        return { key: key.id === null ? undefined : (key as KeyRecord), revision: Number(revision) };
      }),
    createKey: async (key: KeyRecord, act: Act) => {
      await change(act, client => insertKey(client, key));
    },
    createFirstKey: async (key: KeyRecord, act: Act) =>
      !(await run(hasKeys)) &&
      change(act, async client => !(await hasKeys(client)) && (await insertKey(client, key))),
    updateKey: (key: KeyRecord, was: KeyRecord, act: Act) =>
      change(act, async client => {
        const { rowCount } = await client.query(
          `UPDATE key SET (${KEY_COLUMNS}) = (${KEY_VALUES})
          WHERE (${KEY_COLUMNS}) IS NOT DISTINCT FROM (${KEY_VALUES_BEFORE}) AND revoked_at IS NULL`,
          [...keyValues(key), ...keyValues(was)],
        );
        return rowCount === 1;
      }),
    listKeys: () =>
      run(async client => {
        const { rows } = await client.query<KeyRecord>(`SELECT ${KEY} FROM key ORDER BY created_at, key.id`);
        return rows;
      }),
  };
}

function keyValues(k: KeyRecord): unknown[] {
  return [
    ...[k.id, k.name, k.digest, k.prefix, k.last4, k.previousDigest, k.previousUntil, k.quota, k.rate],
    ...[k.origins, k.networks, k.createdAt, k.expiresAt, k.revokedAt],
  ];
}
